/* SPDX-License-Identifier: MIT */
/* Compares by several numbers, one after the other. */
#ifndef DFT_ORDER_H
#define DFT_ORDER_H

/* For functions that compare: returns -1 or 1 when two numbers differ, and goes on when they are
 * equal. */
#define DFT_ORDER(a, b)                                                                                                \
    do {                                                                                                               \
        if ((a) != (b))                                                                                                \
            return (a) < (b) ? -1 : 1;                                                                                 \
    } while (0)

#endif
