/* SPDX-License-Identifier: MIT */
/* Events in batches of columns, which dftrace.open() of Python reads. */
#ifndef DFT_DUMP_BATCHES_H
#define DFT_DUMP_BATCHES_H

#include "dump/dump_event.h"
#include "tables/columns.h"

struct dft_filter;
struct dft_source;

/* Positions in the table of events. */
struct dft_dump_columns {
    unsigned count, list[DFT_EVENTS_COLUMNS];
};

/* The columns of these names of lines, with commas. Returns 0, or -EINVAL: stderr says which name is wrong. */
int dft_dump_columns(struct dft_dump_columns *columns, const char *names);

/* Writes all events that pass, in order of time, and counts them in dump->events. Returns 0 or -errno. */
int dft_dump_batches(struct dft_dump *dump, struct dft_source *source, const struct dft_filter *filter,
                     const struct dft_dump_columns *columns);

#endif
