/* SPDX-License-Identifier: MIT */
/* Work for N threads: a range of numbers, cut into pieces that the threads take in turn. */
#ifndef DFT_WORK_H
#define DFT_WORK_H

#include <stddef.h>

/* Does the numbers [from, to). Returns 0, or an error that ends all work. */
typedef int dft_work_fn(void *context, unsigned worker, size_t from, size_t to);

/* Runs fn over [0, count) in pieces of `piece` (not 0) in up to `threads` threads. The caller's
 * thread is one of them, and workers are numbered from 0. The first error, that of the lowest piece
 * that failed, ends the work and is returned. The threads are registered for names. When threads
 * cannot be had, fewer threads do all the work. */
int dft_work_run(unsigned threads, size_t count, size_t piece, dft_work_fn *fn, void *context);

#endif
