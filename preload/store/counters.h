/* SPDX-License-Identifier: MIT */
/* Samples of the process's own counters: processor time, memory, faults, /proc/self/io. */
#ifndef DFT_STORE_COUNTERS_H
#define DFT_STORE_COUNTERS_H

#include <stdint.h>

/* The first sample. The constructor reads it, and it becomes part of the trace when the process has
 * a trace. In a forked child all counters begin at 0. */
void dft_counters_load(void);
void dft_counters_forked(void);
/* The process has its files. dft_process_lock held. */
void dft_counters_start(void);

/* A descriptor was met whose link this is (its length, or -errno): the last sample tells whether it was a ring of
 * io_uring. Any thread, also in signal handlers. */
void dft_counters_meet(const char *link, long length);

/* Takes a sample when the last one is of an earlier interval of the aggregates. For drains and
 * flushes, after they have released their context. Signals blocked. */
void dft_counters_drained(void);

/* Takes a sample now. Writes the samples when they fill their room. Signals blocked. */
void dft_counters_sample(void);

/* The samples that wait, with a last one, as one block: the encode function of a
 * struct dft_staging_block, whose `what` is NULL. Returns 0 where there are none. The second function says
 * that the block is in the file. */
struct dft_encoder;
long dft_counters_encode(struct dft_encoder *encoder, const void *what, const void **block);
void dft_counters_written(void);

#endif
