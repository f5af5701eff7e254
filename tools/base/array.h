/* SPDX-License-Identifier: MIT */
/* Arrays that grow: any pointer from malloc with a capacity beside it. */
#ifndef DFT_ARRAY_H
#define DFT_ARRAY_H

#include <errno.h>
#include <stddef.h>

/* Makes an array at least twice as large. Returns its new capacity; 0: no memory, and the array is
 * unchanged. */
size_t dft_array_grow(void *array, size_t capacity, size_t count, size_t size);

/* Makes room for `count` elements in `array` (a pointer, NULL at first). Returns 0 or -ENOMEM. */
#define DFT_ARRAY_RESERVE(array, capacity, count)                                                                      \
    ((size_t)(count) <= (capacity) ? 0 : __extension__({                                                               \
        size_t dft_grown = dft_array_grow(&(array), (capacity), (count), sizeof *(array));                             \
                                                                                                                       \
        if (dft_grown)                                                                                                 \
            (capacity) = (__typeof__(capacity))dft_grown;                                                              \
        dft_grown ? 0 : -ENOMEM;                                                                                       \
    }))

/* Appends one element, the last argument, which may be a compound literal. Returns 0 or -ENOMEM. */
#define DFT_ARRAY_PUSH(array, capacity, count, ...)                                                                    \
    (DFT_ARRAY_RESERVE(array, capacity, (size_t)(count) + 1) ? -ENOMEM : ((array)[(count)++] = (__VA_ARGS__), 0))

#endif
