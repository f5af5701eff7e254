/* SPDX-License-Identifier: MIT */
/* Work for N threads: a range of numbers, cut into pieces that the threads take in turn. */
#ifndef DFT_WORK_H
#define DFT_WORK_H

#include <stddef.h>

/* Does the numbers [from, to); returns 0, or what ends all work. */
typedef int dft_work_fn(void *context, unsigned worker, size_t from, size_t to);

/* Runs fn over [0, count) in pieces of `piece` (not 0) in up to `threads` threads (the caller's is one of them; workers are
 * numbered from 0). The first error (of the lowest piece that failed) ends it and is returned. Threads are registered
 * for names. When threads cannot be had, fewer do it all. */
int dft_work_run(unsigned threads, size_t count, size_t piece, dft_work_fn *fn, void *context);

#endif
