/* SPDX-License-Identifier: MIT */
/* What is known of a job without looking at events: processes, ranks, wall time, what was lost. */
#ifndef DFT_JOB_H
#define DFT_JOB_H

#include <stdio.h>

#include "base/write_json.h"
#include "format/end.h"
#include "format/kept.h"
#include "job/fates.h"
#include "job/flights.h"
#include "views/filter.h"
#include "object/object.h"

#define DFT_MISSING_MAX 65536u

/* What is known of the job without looking at events; of all inputs, whatever the filter. */
struct dft_job {
    uint32_t processes, pids, ranks, hosts;
    uint32_t ranks_with_events; /* those of whose calls events were kept, if only for a while */
    uint32_t world_size;        /* the largest that a process says, or the highest rank + 1; 0: no ranks */
    uint32_t *missing_ranks;    /* ascending, the first DFT_MISSING_MAX of them */
    uint32_t nmissing;
    uint32_t killed; /* processes that a signal ended, or that left by a raw exit_group */
    uint32_t running;
    uint32_t ioless;            /* processes that recorded annotations alone */
    uint32_t rewritten;         /* processes whose traces were removed while they ran, and written again whole */
    uint32_t unseen;            /* processes that may still run, or may have been killed */
    uint64_t recovered;         /* events from the live files of processes that have ended */
    uint32_t endless;           /* processes without END or live file: nothing says what they lost */
    uint64_t start_ns, wall_ns; /* from the start of the first process to the end of the last */
    uint64_t threads;           /* that events are of; at least one a process */
    uint64_t *threads_of;       /* the same by number of process */
    uint64_t threads_ns;        /* the sum over these of the time from start to end of their processes */
    uint64_t dropped[DFT_DROP_LAST + 1];
    uint64_t args_cut; /* arguments that were cut or left out */
    uint64_t overhead_ns;
    uint64_t kept_ns[DFT_KEEP_COUNT + 1];   /* lifetimes of processes by what was kept: kept.h */
    uint64_t controlled, paused;            /* pauses by `dftmerge control`, and by the programs */
    uint32_t endless_pauses;                /* processes that were paused when they were killed */
    int paused_longer;                      /* pauses may have been longer than kept_ns says: of killed processes */
    uint64_t damaged;                       /* blocks */
    uint64_t missing;                       /* events that were written and are not here: at least so many */
    uint64_t noted;                         /* notes that say of these */
    const struct dft_source_process *first; /* the first one that started, for its names */
    struct dft_flights flights;             /* what is in flight, or was when processes were killed */
    struct dft_fates fates;                 /* how all processes ended */
    struct dft_text cwd;                    /* in which all processes began; empty: they differ, or it is not known */
};

/* Which calls are in flight, or were when their processes were killed; but for waits for children, which are no
 * trouble of their own. */
struct dft_job_flying {
    const struct dft_flight *longest; /* NULL: there is none */
    uint64_t calls, time_ns;          /* time_ns: that they take so far; 0 where that is not known */
};

/* How many notes say of something else that it could not be read. */
uint64_t dft_job_unread(const struct dft_job *job, struct dft_source *source);
/* The path, or the part of it behind the job's cwd; "." for all that is in there. */
const char *dft_job_short_path(const struct dft_job *job, const char *path);
/* Returns 0 or -ENOMEM. Collective. */
int dft_job_collect(struct dft_job *job, struct dft_source *source);
void dft_job_fini(struct dft_job *job);

#endif
