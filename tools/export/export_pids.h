/* SPDX-License-Identifier: MIT */
/* Process ids for viewers that know only a number: each process of each host has one. Also the
 * names of processes. */
#ifndef DFT_EXPORT_PIDS_H
#define DFT_EXPORT_PIDS_H

#include "views/filter.h"

/* The images of one process (exec) share a number. The number is the pid of the process. Another
 * host may have a process with that pid. The number then is the next free number above all pids. */
struct dft_pids {
    const struct dft_source *source;
    const struct dft_filter *filter;
    const struct dft_source_process *processes;
    uint32_t count;
    uint32_t *shown; /* by number of the process image */
    uint32_t *order; /* images, by shown number and start */
};

/* A process with a number, or a thread of such a process. `name`: its programs, its rank, its
 * role, and its host when there are several hosts. */
struct dft_shown {
    int first; /* the first one of the visit */
    int is_thread;
    uint32_t pid, tid;
    int32_t rank;
    const char *name;
};

/* Both return 0 or -ENOMEM; the caller frees `pids` in either case. */
int dft_pids_make(struct dft_pids *pids, const struct dft_source *source, const struct dft_filter *filter);
void dft_pids_free(struct dft_pids *pids);

/* Gives every process that passes the filter, in order of its number. The threads of a process
 * follow the process. */
int dft_pids_visit(const struct dft_pids *pids, void (*emit)(void *context, const struct dft_shown *shown),
                   void *context);

#endif
