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
#include "source/filter.h"
#include "source/source_object.h"

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

/* Was anything lost? */
int dft_job_is_lossy(const struct dft_job *job, struct dft_source *source);
/* Prints how many events were lost and why: "12 events (ring full)"; true where any was. */
int dft_job_dropped(FILE *out, const struct dft_job *job);
void dft_job_json_dropped(struct dft_json *json, const struct dft_job *job); /* the same as the member dropped */
/* Prints what was: "12 events (the disk was full), 3 arguments (cut or left out)". */
void dft_job_losses(FILE *out, const struct dft_job *job, struct dft_source *source);
/* "not recorded: 61 % of the time (paused 3 times by the program)", behind a prefix; nothing at all, and 0, where there
 * was no pause. */
int dft_job_unrecorded(FILE *out, const char *prefix, const struct dft_job *job);
/* That, and behind it what was lost: to be freed, "" where neither was. Returns 0 or -ENOMEM. */
int dft_job_incomplete(char **text, const struct dft_job *job, struct dft_source *source);
/* The sentence of dft_job_unrecorded, to be freed; NULL where there was no pause. */
char *dft_job_unrecorded_text(const char *prefix, const struct dft_job *job);
/* The same as a note. */
void dft_job_note_unrecorded(const struct dft_job *job, struct dft_source *source);
/* That, and what is in flight now, as notes, for commands that look at nothing else of the job. Returns 0 or
 * -ENOMEM. Collective. */
int dft_job_note_state(struct dft_source *source);
/* What is in flight now as a note: what a command says of such a process is not the whole of it. Returns 0 or
 * -ENOMEM. */
int dft_job_note_in_flight(const struct dft_job *job, struct dft_source *source);
void dft_job_json_pauses(struct dft_json *json, const struct dft_job *job); /* the same as the member pauses */
/* The sum of kept_ns. */
uint64_t dft_job_lived_ns(const struct dft_job *job);

/* Which calls are in flight, or were when their processes were killed; but for waits for children, which are no
 * trouble of their own. */
struct dft_job_flying {
    const struct dft_flight *longest; /* NULL: there is none */
    uint64_t calls, time_ns;          /* time_ns: that they take so far; 0 where that is not known */
};
/* running: now, or of processes that do not run any more. */
struct dft_job_flying dft_job_flying(const struct dft_job *job, const struct dft_source *source, int running);
/* Is it in flight now: does its process still run? */
int dft_job_flies(const struct dft_flight *flight, const struct dft_source *source);
/* How long a call is in flight: until its process's last sign of life. */
uint64_t dft_job_flown_ns(const struct dft_flight *flight, const struct dft_source *source);
/* "in flight now: open of q/fifo for 3.0 s, in process 123"; nothing, and 0, where no call is. */
int dft_job_in_flight(FILE *out, const struct dft_job *job, const struct dft_source *source);
/* The same as a line on standard output, for the first line of what a command says. */
void dft_job_print_in_flight(const struct dft_job *job, const struct dft_source *source);
/* Leaves out what is in flight and does not pass. A filter of calls leaves nothing. */
void dft_job_filter_flights(struct dft_job *job, const struct dft_source *source, const struct dft_filter *filter);
void dft_job_json_in_flight(struct dft_json *json, const struct dft_job *job, const struct dft_source *source);

/* How many notes say of something else that it could not be read. */
uint64_t dft_job_unread(const struct dft_job *job, struct dft_source *source);
/* The path, or the part of it behind the job's cwd; "." for all that is in there. */
const char *dft_job_short_path(const struct dft_job *job, const char *path);
/* Returns 0 or -ENOMEM. Collective. */
int dft_job_collect(struct dft_job *job, struct dft_source *source);
void dft_job_fini(struct dft_job *job);

#endif
