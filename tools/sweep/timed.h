/* SPDX-License-Identifier: MIT */
/* Sorts what has a time by that time. */
#ifndef DFT_TIMED_H
#define DFT_TIMED_H

#include <stddef.h>
#include <stdint.h>

struct dft_timed {
    uint64_t time;
    uint32_t group, item; /* the caller's */
};

/* Sorts by time, all of which lie in [from, from + width]; stable. `other` has as much room as
 * `list`. Returns where the sorted ones are: `list` or `other`. */
struct dft_timed *dft_timed_sort(struct dft_timed *list, struct dft_timed *other, size_t count, uint64_t from,
                                 uint64_t width);

#endif
