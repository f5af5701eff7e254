/* SPDX-License-Identifier: MIT */
/* Ends that wait for their time: the first of them is at hand. */
#ifndef DFT_SWEEP_ENDS_H
#define DFT_SWEEP_ENDS_H

#include <stddef.h>
#include <stdint.h>

struct dft_sweep_end {
    uint64_t time;
    size_t what; /* the caller's */
};

/* A heap: list[0] is the first, where there is one. All zero at first; the caller frees the list. */
struct dft_sweep_ends {
    struct dft_sweep_end *list;
    size_t count, capacity;
};

/* Returns 0 or -ENOMEM. */
int dft_ends_push(struct dft_sweep_ends *ends, struct dft_sweep_end end);
/* Puts another one, no earlier, in the place of the first. */
void dft_ends_replace(struct dft_sweep_ends *ends, struct dft_sweep_end end);
/* Takes the first away. */
void dft_ends_pop(struct dft_sweep_ends *ends);

#endif
