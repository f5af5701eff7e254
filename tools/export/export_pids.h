/* SPDX-License-Identifier: MIT */
/* Process ids for viewers that know nothing but a number: one for each process of each host, and their names. */
#ifndef DFT_EXPORT_PIDS_H
#define DFT_EXPORT_PIDS_H

#include "source/filter.h"

/* The images of one process (exec) share a number: its pid, or, where another host has a process with that pid, the
 * next free number above all pids. */
struct dft_pids {
    const struct dft_source *source;
    const struct dft_filter *filter;
    const struct dft_source_process *processes;
    uint32_t count;
    uint32_t *shown; /* by number of the process image */
    uint32_t *order; /* images, by shown number and start */
};

/* A process, or a thread of it, that has a number. `name`: its programs, its rank, and its host when there are
 * several. */
struct dft_shown {
    int first; /* of the visit */
    int is_thread;
    uint32_t pid, tid;
    int32_t rank;
    const char *name;
};

/* Return 0 or -ENOMEM; free in either case. */
int dft_pids_make(struct dft_pids *pids, const struct dft_source *source, const struct dft_filter *filter);
void dft_pids_free(struct dft_pids *pids);

/* Every process that passes the filter, in order of its number, and behind each its threads. */
int dft_pids_visit(const struct dft_pids *pids, void (*give)(void *context, const struct dft_shown *shown),
                   void *context);

#endif
