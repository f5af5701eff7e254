/* SPDX-License-Identifier: MIT */
/* Overlap of computing and I/O, from true unions of intervals.
 *
 * A process COMPUTES while a region is open that the patterns name. Where no process has such a
 * region, it computes while it lives and is neither in I/O, nor in a call that waits, nor in a
 * region that waits for data (has_compute 0). It is IN I/O while a call of the classes read, write,
 * sync, meta or startup goes on, in any of its threads.
 *
 * A TEAM is the processes of one rank; a process without a rank belongs to that of its parent.
 * Where nobody has a rank, a team is a process that computes, and those that it started; or a
 * process that nobody started, and those below it. A team computes, or is in I/O, while any of its
 * processes is. Its TRAINER is the process that computes longest, else the first one. Others are
 * its workers.
 *
 * For each: HIDDEN is I/O while it computes, EXPOSED is I/O while it does not, IDLE is neither. A region of a trainer
 * that the patterns name as an epoch or a step is examined on its own (a scope).
 *
 * From events all numbers are exact. From rows they are estimates (is_exact 0): which 64ths of an
 * interval are covered is known, and how much of them all together. */
#ifndef DFT_OVERLAP_H
#define DFT_OVERLAP_H

#include "job/region_kinds.h"
#include "query/query.h"
#include "views/filter.h"

#define DFT_OVERLAP_SCOPES 65536u /* at most; the first ones */
#define DFT_OVERLAP_PARTS  20u    /* of the job's time, to see how something lies in it; behind them stands 0 */

struct dft_overlap_times {
    uint64_t wall_ns, compute_ns, io_ns, hidden_ns, exposed_ns, idle_ns;
};

struct dft_overlap_process {
    struct dft_overlap_times times;
    uint32_t process; /* number in the source, of the image that stands for all of the process */
    uint32_t team;
    uint64_t data_ns;        /* in regions that wait for data */
    uint64_t items, item_ns; /* regions that load an item, and how long one is open at least */
    uint64_t item_io_ns;     /* of these in I/O */
};

struct dft_overlap_team {
    struct dft_overlap_times times;
    int64_t rank;     /* -1: none */
    uint32_t trainer; /* number in the source; dft_overlap_is_trainer tells whether it is one */
    uint32_t processes;
    uint8_t launches;                    /* it has started teams, as mpirun does, and has no trainer */
    uint64_t start_ns, end_ns;           /* Unix */
    uint64_t data_ns;                    /* its trainer waits for data */
    uint64_t data_io_ns;                 /* ... and the team is in I/O meanwhile */
    uint64_t items, item_ns, item_io_ns; /* sums over its workers */
    uint64_t alone_ns;                   /* it computes or is in I/O, and no other team that lives does */
    uint64_t data_parts[DFT_OVERLAP_PARTS + 1], exposed_parts[DFT_OVERLAP_PARTS + 1]; /* of data_ns, of exposed_ns */
};

struct dft_overlap_scope {
    struct dft_overlap_times times;
    enum dft_region_kind kind; /* EPOCH or STEP */
    uint32_t team;
    uint64_t call;         /* name id of the region */
    int64_t epoch, number; /* as its arguments or its name say, else counted from 0; epoch -1: not known */
    uint64_t start_ns;
    uint64_t data_ns; /* its trainer waits for data */
};

struct dft_overlap_span {
    uint64_t from_ns, to_ns; /* Unix; 0, 0: there is none */
    uint32_t team;
};

/* What lies in one bin of a strip, summed over teams, in ns. alive: of their lives. */
struct dft_overlap_bin {
    uint64_t compute_ns, io_ns, hidden_ns, alive_ns;
};

/* Bins of time for which the caller wants that: bin i is [base + i * width, base + (i + 1) * width).
 * The caller has the memory of `bins`, all 0 at first. They are known only where the overlap is
 * exact. */
struct dft_overlap_strip {
    uint64_t base_ns, width_ns;
    struct dft_overlap_bin *bins;
    uint32_t count;
};

struct dft_overlap {
    struct dft_overlap_process *processes; /* by team, trainer first, then by number */
    struct dft_overlap_team *teams;        /* by rank, those without by trainer */
    struct dft_overlap_scope *scopes;      /* by kind, team, start */
    uint32_t nprocesses, nteams, nscopes;
    uint32_t nlaunching;                        /* of the teams */
    uint64_t more_scopes;                       /* that were left out */
    struct dft_overlap_times all;               /* sums over teams */
    uint64_t none_parts[DFT_OVERLAP_PARTS + 1]; /* of none_ns */
    uint64_t none_ns;                           /* of the job: nobody computes or is in I/O */
    struct dft_overlap_span gap, alone;         /* the longest such time, and the longest of alone_ns */
    uint64_t start_ns, wall_ns;                 /* of the job */
    int is_exact, has_compute, has_data, has_items;
    struct dft_overlap_strip *strip; /* the caller's, or NULL */
};

enum dft_overlap_from { DFT_OVERLAP_BEST, DFT_OVERLAP_EVENTS, DFT_OVERLAP_ROWS };

struct dft_overlap_request {
    struct dft_source *source;
    const struct dft_filter *filter; /* --cat, --name and --file choose I/O, not regions */
    struct dft_region_patterns patterns;
    unsigned classes;                /* what is I/O: 1 << enum dft_io; 0: DFT_CLASSES_IO */
    enum dft_overlap_from from;      /* BEST: events where all are kept, else rows */
    struct dft_overlap_strip *strip; /* to be filled in; NULL: none */
};

/* Returns 0 or -ENOMEM. Collective; the answer is on rank 0. */
int dft_overlap_make(const struct dft_overlap_request *request, struct dft_overlap *overlap);
/* Do any of these regions compute, or wait for data? An answer by cat and name. */
int dft_overlap_applies(const struct dft_answer *regions, const struct dft_region_patterns *patterns);
void dft_overlap_fini(struct dft_overlap *overlap);

/* Is waiting for data not what regions say, but the time in which a trainer does nothing and a
 * worker of it loads an item? */
static inline int dft_overlap_guesses(const struct dft_overlap *overlap)
{
    return overlap->has_compute && overlap->has_items && !overlap->has_data;
}

/* Teams that do the work, without those that have started others. */
static inline uint32_t dft_overlap_working(const struct dft_overlap *overlap)
{
    return overlap->nteams - overlap->nlaunching;
}

static inline int dft_overlap_is_trainer(const struct dft_overlap *overlap, const struct dft_overlap_process *process)
{
    const struct dft_overlap_team *team = &overlap->teams[process->team];

    return team->trainer == process->process && !team->launches;
}

/* The part of the job's time in which a time (Unix) lies. */
static inline unsigned dft_overlap_part(const struct dft_overlap *overlap, uint64_t time)
{
    uint64_t at =
        time > overlap->start_ns ? (time - overlap->start_ns) / (overlap->wall_ns / DFT_OVERLAP_PARTS + 1) : 0;

    return at < DFT_OVERLAP_PARTS ? (unsigned)at : DFT_OVERLAP_PARTS - 1;
}

#endif
