/* SPDX-License-Identifier: MIT */
/* What dftmerge ranks knows of a job from its traces: per rank totals, per call totals, and per
 * rank and bucket of time how long calls took against how long they usually take.
 *
 * RANKS. All processes that say the same rank are one. Where no process says any, each process is a rank of its own.
 *
 * USUAL. Calls are distinguished by name and, where they move bytes, by the power of two of their
 * size: that of each event, or the mean in a rank and bucket, where rows answer. What a kind
 * usually takes is the 25th percentile, over all ranks and buckets, of its mean duration in a rank
 * and bucket, weighted by the number of calls: the quieter part of the job is the measure. Means
 * are those of sums over all that the rank did in the bucket (ranks_sums.c), never of single rows:
 * how a rank's events are cut into rows, blocks and files is chance, and must not show.
 *
 * BUCKETS are whole multiples of the rows' interval, all of one width, no more than fit into
 * memory. Time is that spent within the bucket (a call that takes a minute is busy in all buckets
 * of that minute), what is usual and bytes belong to the bucket in which calls start.
 *
 * Memory: 64 bytes a rank and bucket, at most 1.5 million of these; 80 bytes a rank and call; 32
 * bytes a rank, bucket and kind for as many ranks at a time as make 3 million of these. */
#ifndef DFT_RANKS_JOB_H
#define DFT_RANKS_JOB_H

#include <pthread.h>
#include <stdio.h>

#include "format/io.h"
#include "format/ops.h"
#include "job/job.h"
#include "intake/clocks.h"
#include "views/filter.h"
#include "telemetry/first_cause.h"
#include "ranks/ranks_usual.h"

struct dft_batch;

#define DFT_RANKS_CELLS   1500000u
#define DFT_RANKS_SUMS    3000000u
#define DFT_RANKS_BUCKETS 600u
#define DFT_RANKS_LOCKS   64u
#define DFT_RANKS_CALLS   24u /* calls whose imbalance is followed over time */
#define DFT_RANKS_SLOWEST 3u  /* ranks of each of them */
#define DFT_NO_BUCKET     UINT32_MAX

enum { DFT_LOST_META, DFT_LOST_DATA, DFT_LOST };

/* One call in one rank. */
struct dft_rank_call {
    uint64_t call; /* name id */
    uint64_t count, errors, ns, max_ns, bytes;
    uint64_t io_ns; /* of ns */
    uint64_t sizes; /* a bit for each kind of it (dft_piece_size) */
    uint32_t kinds; /* of the calls before it in the list */
    uint8_t op;
};

/* All calls of a kind that a rank began in a bucket. */
struct dft_sum {
    uint64_t samples, ns, bytes, data;
};

struct dft_rank_cell {
    int64_t part_ns[DFT_LOST], slope[DFT_LOST]; /* while counting; then part_ns is the time in calls */
    uint64_t usual_ns[DFT_LOST];
    uint64_t bytes;
};

/* When something began, and ended, to be slow. */
struct dft_lag {
    uint32_t from, to;     /* buckets [from, to); from DFT_NO_BUCKET: it was so all the time */
    double before, within; /* mean per bucket, beyond the others' */
    int lags;              /* it is enough to be reported */
};

struct dft_rank {
    int32_t rank;                           /* -1: it says none */
    uint32_t process;                       /* the first of its processes */
    uint32_t processes;                     /* how many */
    uint64_t start_ns, end_ns;              /* of the processes; aligned, as all times here */
    uint64_t first_event_ns, last_event_ns; /* UINT64_MAX, 0: none */
    struct dft_rank_call *calls;            /* by call, once they are counted */
    uint32_t ncalls, calls_capacity, nkinds;
    struct dft_map numbers; /* while counting: call -> position in calls + 1 */
    size_t sums_at;         /* while counting: of its sums, by kind, then bucket */
    uint64_t io_ns, meta_ns, read_ns, write_ns, bytes, errors;
    struct dft_lag lag; /* of slow ranks */
};

/* One call over all ranks. */
struct dft_job_call {
    uint64_t call;
    uint8_t op;
    uint32_t ranks; /* that made it */
    uint64_t ns, count, max_ns;
    uint32_t slowest[DFT_RANKS_SLOWEST]; /* positions of ranks, slowest first */
    uint64_t slowest_ns[DFT_RANKS_SLOWEST];
    struct dft_lag lags[DFT_RANKS_SLOWEST];
    uint32_t nslowest;
};

enum dft_ranks_measure { DFT_RANKS_LATENCY, DFT_RANKS_METADATA, DFT_RANKS_BYTES, DFT_RANKS_MEASURES };

#define DFT_RANKS_LAST_BUCKETS 2u /* of a job or rank: they are seldom full */

/* Who lost more than its equals do by chance (ranks_equals.h). */
struct dft_blamed {
    uint32_t rank, from, to; /* buckets [from, to) */
    uint64_t lost;           /* beyond the others at the same time */
    double times;            /* what it took through what one of the others would have */
};

/* A time in which all ranks were slow. */
struct dft_all_slow {
    uint32_t from, to;    /* buckets [from, to); 0, 0: there is none */
    uint64_t until_ns;    /* 0: to the end */
    uint64_t least, most; /* that a rank lost then */
};

/* The first cause by one measure. */
struct dft_measured {
    struct dft_first_cause cause;
    int64_t floor;
    double beyond;             /* how many times the usual counts as usual still */
    uint64_t lost;             /* by those blamed, beyond the others */
    struct dft_blamed *blamed; /* in order of time */
    uint32_t nblamed;
    struct dft_all_slow all; /* where nobody is blamed */
    int over_before;         /* it was as usual again when the second one began */
    char *reason;            /* of the first suspect's confidence, in words; NULL: there is none */
    /* Where the first suspect lost it; call 0: not known. */
    uint64_t call, calls;       /* from its spike on */
    uint64_t call_ns, usual_ns; /* what these took, and usually take */
    double times;               /* the one through the other; 0: not known */
    char *directory;            /* NULL: none stands out */
    double share;               /* of the time of the call that is below it */
};

/* The same over samples of counters. */
enum dft_ranks_sampled_measure { DFT_SAMPLED_MEMORY, DFT_SAMPLED_GPU_MEMORY, DFT_SAMPLED_CPU, DFT_SAMPLED };
struct dft_ranks_sampled {
    struct dft_first_cause cause;
    int64_t floor;   /* bytes, or thousandths of a processor */
    uint32_t nranks; /* that have samples */
};

/* The spike of a suspect, and the innermost region that it was in; 0: none. */
struct dft_ranks_moment {
    uint32_t rank;    /* position */
    uint64_t time_ns; /* aligned */
    uint64_t region, start_ns;
};

/* The last call of the process that died first. call 0: none is known. */
struct dft_last_call {
    uint64_t call, file;
    uint64_t at_ns;   /* of its own clock: its end, or its start when it goes on */
    uint64_t goes_on; /* it was in flight */
};

struct dft_ranks_died {
    struct dft_fates fates;
    struct dft_last_call last;
};

struct dft_ranks_job {
    struct dft_source *source;
    const struct dft_filter *filter;
    struct dft_ranks_asked *asked; /* what it comes to; ranks_filter.c */
    uint64_t zero_ns;              /* where --from and all times in text count from: the start of the first process */
    uint64_t last_ns;              /* the end of the last process, where negative times count from */
    struct dft_clocks clocks;
    int by_rank, from_rows;
    uint32_t *rank_of;      /* by process: position + 1, 0: it has no rank where others have */
    uint32_t unranked;      /* processes without a rank among others that have one */
    const char *job;        /* of several jobs the one that is looked at; NULL: there is one */
    uint32_t njobs, others; /* how many, processes of the others */
    struct dft_rank *ranks; /* by rank; those without by process number */
    uint32_t nranks;
    uint32_t world_size, *missing, nmissing;
    uint64_t origin_ns, bucket_ns, wall_ns;
    uint32_t nbuckets;
    struct dft_rank_cell *cells; /* by rank, then bucket */
    struct dft_usual usual;
    struct dft_sum *sums; /* while counting: of ranks [sums_from, sums_to) */
    size_t nsums;
    uint32_t sums_from, sums_to;
    struct dft_job_call *calls; /* by what could be saved: (slowest - mean) */
    uint32_t ncalls;
    uint64_t *call_ns; /* by followed call, then bucket: all ranks */
    uint64_t *slow_ns; /* by followed call, then slowest, then bucket */
    uint32_t *slow;    /* positions of slow ranks, the slowest first */
    uint32_t nslow;
    int slow_stands; /* the slowest of them stands out among its equals */
    uint64_t median_io_ns, median_end_ns, median_start_ns;
    uint32_t *stragglers; /* positions of those that ended long behind the others, the last first */
    uint32_t nstragglers;
    struct dft_measured measured[DFT_RANKS_MEASURES];
    int headline; /* enum dft_ranks_measure, -1: none */
    struct dft_ranks_sampled sampled[DFT_SAMPLED];
    struct dft_ranks_moment *moments;
    uint32_t nmoments;
    struct dft_ranks_died died;
    struct dft_job state; /* what passes the filter is in flight there */
    pthread_mutex_t locks[DFT_RANKS_LOCKS];
};

/* Each returns 0, -ENOMEM, or another -errno after it was said on stderr. In this order. */
int dft_ranks_gather(struct dft_ranks_job *job); /* ranks.c has set source, filter and clocks: processes into ranks */
int dft_ranks_filter_begin(struct dft_ranks_job *job);
int dft_ranks_count(struct dft_ranks_job *job);   /* all but what follows */
int dft_ranks_judge(struct dft_ranks_job *job);   /* lag, slow, stragglers */
int dft_ranks_first(struct dft_ranks_job *job);   /* measured, headline */
int dft_ranks_where(struct dft_ranks_job *job);   /* call and directory of first suspects */
int dft_ranks_sampled(struct dft_ranks_job *job); /* sampled */
int dft_ranks_regions(struct dft_ranks_job *job); /* moments, of all suspects */
int dft_ranks_died(struct dft_ranks_job *job);    /* died */

/* A time of a process (by number), aligned. */
static inline uint64_t dft_ranks_aligned(const struct dft_ranks_job *job, uint32_t process, uint64_t time)
{
    return time + (uint64_t)dft_clocks_shift(&job->clocks, process, time);
}

static inline struct dft_rank_cell *dft_rank_cells(const struct dft_ranks_job *job, uint32_t rank)
{
    return &job->cells[(size_t)rank * job->nbuckets];
}

struct dft_json;

/* --- for counting and where ------------------------------------------------------------------- */

/* What one row or event adds. */
struct dft_piece {
    uint64_t call;
    uint64_t start_ns, middle_ns; /* of the interval; of an event both are its start. Aligned */
    uint64_t samples, count, errors, ns, max_ns, bytes, data;
    uint64_t first_ns, last_ns;
    uint64_t edge_ns;
    int64_t step;
    uint64_t end_ns; /* of an event; 0: a row, with edge and step */
    uint8_t op, io;
};

static inline uint32_t dft_rank_bucket(const struct dft_ranks_job *job, uint64_t time)
{
    uint64_t n = time > job->origin_ns ? (time - job->origin_ns) / job->bucket_ns : 0;

    return n < job->nbuckets ? (uint32_t)n : job->nbuckets - 1;
}

/* The kind of what usual times are known of; -1: it is no I/O. */
static inline int dft_lost_of(uint8_t op)
{
    enum dft_class class = dft_op_class(op);

    return class == DFT_CLASS_META                               ? DFT_LOST_META
           : class == DFT_CLASS_READ || class == DFT_CLASS_WRITE ? DFT_LOST_DATA
                                                                 : -1;
}

/* Its size among kinds of its call. */
static inline uint32_t dft_piece_size(const struct dft_piece *piece)
{
    return dft_lost_of(piece->op) == DFT_LOST_META ? DFT_USUAL_META : dft_usual_size(piece->bytes, piece->data);
}

#endif
