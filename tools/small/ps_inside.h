/* SPDX-License-Identifier: MIT */
/* What `dftmerge ps` shows, as text (ps.c) and as JSON (ps_json.c). */
#ifndef DFT_PS_INSIDE_H
#define DFT_PS_INSIDE_H

#include "job/fates.h"
#include "job/flights.h"
#include "job/lock_holder.h"
#include "stacks/ps_stacks.h"
#include "views/filter.h"
#include "views/ps_tree.h"
#include "judge/source.h"

/* I/O of a process that passes the filter. */
struct ps_io {
    uint64_t time_ns, read, written;
};

struct ps {
    struct dft_source *source;
    struct dft_ps_tree tree;
    struct dft_flights flights;
    struct dft_locks locks;
    struct dft_fates fates; /* of the processes that pass the filter */
    struct dft_ps_stacks stacks;
    struct ps_io *io; /* by number of the process; on rank 0 */
    const struct dft_filter *filter;
    int with_stacks, with_all; /* --stacks, --all */
};

void dft_ps_json(const struct ps *ps);
/* Returns 0 or -ENOMEM. */
int dft_ps_text(const struct ps *ps);
/* Counts the I/O of all processes. Returns 0 or -ENOMEM. Collective. */
int dft_ps_io_count(struct ps *ps, const struct dft_filter *filter);

#endif
