/* SPDX-License-Identifier: MIT */
/* Comparing by several numbers, one after the other. */
#ifndef DFT_ORDER_H
#define DFT_ORDER_H

/* In a function that compares: returns which of two numbers is the smaller one, and goes on where they are the same. */
#define DFT_ORDER(a, b)                                                                                                \
    do {                                                                                                               \
        if ((a) != (b))                                                                                                \
            return (a) < (b) ? -1 : 1;                                                                                 \
    } while (0)

#endif
