/* SPDX-License-Identifier: MIT */
/* What a watch knows so far: processes, their streams, names, and notes. */
#ifndef DFT_TOP_KNOWN_H
#define DFT_TOP_KNOWN_H

#include "top/watch.h"

/* How many processes run. */
uint32_t dft_top_watch_running(const struct dft_top_watch *watch);
int dft_top_process_runs(const struct dft_top_process *process);

/* A note is kept once. bad: something could not be read. */
void dft_top_watch_note(struct dft_top_watch *watch, int bad, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The process with that key, made when there is none. NULL: no memory. */
struct dft_top_process *dft_top_process_of(struct dft_top_watch *watch, uint64_t key);
struct dft_top_stream *dft_top_stream_of(struct dft_top_process *process, uint32_t stream);
int dft_top_covers(const struct dft_top_ranges *ranges, uint64_t number);
void dft_top_cover(struct dft_top_ranges *ranges, uint64_t first, uint64_t last);
int dft_top_names(struct dft_top_watch *watch, const struct dft_name *names, uint32_t count,
                  const struct dft_call *calls, uint32_t ncalls);

#endif
