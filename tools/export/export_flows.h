/* SPDX-License-Identifier: MIT */
/* Which process a call started: arrows from the call to the process. */
#ifndef DFT_EXPORT_FLOWS_H
#define DFT_EXPORT_FLOWS_H

#include "command/event_text.h"
#include "views/ps_tree.h"

struct dft_flows {
    const struct dft_filter *filter;
    struct dft_ps_tree tree;
    uint32_t *children; /* numbers of processes that another one started, by parent and start */
    uint32_t count;
};

/* Returns 0 or -ENOMEM; the caller frees the flows in either case. */
int dft_flows_make(struct dft_flows *flows, const struct dft_source *source, const struct dft_filter *filter);
void dft_flows_free(struct dft_flows *flows);
/* The first image of the process that a call started: the one with the pid that the call returned,
 * else the first that began while the call went on (system, popen). NULL: the call starts none, or
 * its process is not among those that pass the filter. */
const struct dft_source_process *dft_flows_child(const struct dft_flows *flows, const struct dft_event_at *at);

#endif
