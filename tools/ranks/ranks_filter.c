/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: which events are requested (all filters but those of processes).
 * Times are aligned ones, also the start that --from counts from. Whether a call or a file passes
 * is remembered by each worker. */
#include "ranks/ranks_filter.h"

#include <errno.h>
#include <stdlib.h>

#include "mpi/comm.h"
#include "views/filter_event.h"
#include "intake/source_names.h"
#include "object/source_notes.h"

#define MEMO 1024u /* a power of two */

enum kind { CALL, A_FILE, REGION };

struct dft_ranks_asked {
    uint64_t from_ns, to_ns;
    int some_calls, some_files, some_regions;
    /* rows were cut by --from or --to; do not tell what files their calls were on; pass
     * --slower-than in part */
    int rounded, untold, undecided;
    struct memo {
        uint64_t id; /* of a call, a file, or a region; 0: nothing */
        uint8_t kind, passes;
    } memo[]; /* MEMO a worker */
};

static int has_times(const struct dft_ranks_job *job)
{
    return dft_filter_has_times(job->filter);
}

/* Names of calls and files are needed to tell; the filter itself fetches them for files. */
int dft_ranks_filter_begin(struct dft_ranks_job *job)
{
    size_t slots = (size_t)MEMO * dft_source_threads(job->source);
    struct dft_ranks_asked *asked = calloc(1, sizeof *asked + slots * sizeof *asked->memo);

    if (!asked)
        return -ENOMEM;
    asked->some_calls = dft_filter_has_calls(job->filter);
    asked->some_files = dft_filter_has_files(job->filter);
    asked->some_regions = dft_filter_has(job->filter, DFT_FILTER_REGION);
    dft_filter_window(job->filter, job->zero_ns, job->last_ns, &asked->from_ns, &asked->to_ns);
    job->asked = asked;
    return dft_filter_has_names(job->filter) ? dft_source_names(job->source, NULL, 0) : 0;
}

void dft_ranks_filter_fini(struct dft_ranks_job *job)
{
    free(job->asked);
    job->asked = NULL;
}

static int passes(const struct dft_ranks_job *job, unsigned worker, uint64_t id, enum kind kind)
{
    struct memo *memo = &job->asked->memo[worker * MEMO + ((id ^ id >> 32) & (MEMO - 1))];

    if (!id)
        return 0;
    if (memo->id != id || memo->kind != kind)
        *memo = (struct memo){id, (uint8_t)kind,
                              (uint8_t)(kind == A_FILE   ? dft_filter_file(job->filter, id)
                                        : kind == REGION ? dft_filter_region(job->filter, id)
                                                         : dft_filter_names(job->filter, id))};
    return memo->passes;
}

static int in_time(const struct dft_ranks_asked *asked, uint64_t time)
{
    return time >= asked->from_ns && (time < asked->to_ns || asked->to_ns == UINT64_MAX);
}

int dft_ranks_passes_event(struct dft_ranks_job *job, unsigned worker, const struct dft_event *event,
                           const struct dft_call *call, int64_t shift)
{
    const struct dft_ranks_asked *asked = job->asked;

    return in_time(asked, event->start_ns + (uint64_t)shift) && dft_filter_looks(job->filter, event, call->op) &&
           dft_filter_kind(job->filter, call->op, call->io) &&
           (!asked->some_calls || passes(job, worker, call->id, CALL)) &&
           (!asked->some_regions || passes(job, worker, event->region, REGION)) &&
           (!asked->some_files || passes(job, worker, event->file, A_FILE) ||
            passes(job, worker, event->file2, A_FILE));
}

/* Does a row pass by what is the same in all its calls? Rows of files know no operations and
 * facets. */
static int kind_of_row_passes(const struct dft_ranks_job *job, unsigned worker, const struct dft_row *row)
{
    const struct dft_filter *filter = job->filter;

    if (job->asked->some_regions && !passes(job, worker, row->region, REGION))
        return 0;
    if (row->kind == DFT_ROW_FILE)
        return dft_filter_class(filter, row->io) && !dft_filter_has(filter, DFT_FILTER_OP) &&
               !dft_filter_has_facets(filter);
    return dft_filter_kind(filter, row->op, row->io) && dft_filter_facets(filter, dft_all_row_facets(row));
}

/* Rows of calls know no files, and those of files no calls. */
int dft_ranks_passes_row(struct dft_ranks_job *job, unsigned worker, const struct dft_row *row, uint64_t interval_ns,
                         int64_t shift)
{
    struct dft_ranks_asked *asked = job->asked;
    uint64_t start = row->interval * interval_ns + (uint64_t)shift, last = start + interval_ns - 1;
    enum dft_filter_decision decision;

    if (row->kind == DFT_ROW_CALL && asked->some_files) {
        __atomic_store_n(&asked->untold, 1, __ATOMIC_RELAXED);
        return 0;
    }
    if (!kind_of_row_passes(job, worker, row))
        return 0;
    if (row->kind == DFT_ROW_CALL
            ? asked->some_calls && !passes(job, worker, row->subject, CALL)
            : asked->some_calls || (asked->some_files && !passes(job, worker, row->subject, A_FILE)))
        return 0;
    if (last < asked->from_ns || (start >= asked->to_ns && asked->to_ns != UINT64_MAX))
        return 0;
    decision = dft_filter_durations(job->filter, &row->metrics);
    if (decision == DFT_PASSES_SOME)
        __atomic_store_n(&asked->undecided, 1, __ATOMIC_RELAXED);
    if (decision != DFT_PASSES)
        return 0;
    if (!in_time(asked, start) || !in_time(asked, last))
        __atomic_store_n(&asked->rounded, 1, __ATOMIC_RELAXED);
    return 1;
}

/* Rows are taken whole, whatever blocks they lie in. */
int dft_ranks_passes_block(const struct dft_ranks_job *job, const struct dft_block *block)
{
    uint64_t start, end;

    if (block->type != DFT_BLOCK_EVENTS || !has_times(job))
        return 1;
    start = block->start + (uint64_t)dft_clocks_shift(&job->clocks, block->process, block->start);
    end = block->end + (uint64_t)dft_clocks_shift(&job->clocks, block->process, block->end);
    return end >= job->asked->from_ns && (start < job->asked->to_ns || job->asked->to_ns == UINT64_MAX);
}

void dft_ranks_filter_note(const struct dft_ranks_job *job)
{
    int rounded = dft_comm_agree(job->asked->rounded), untold = dft_comm_agree(job->asked->untold);

    if (rounded)
        dft_source_note(
            job->source, 0,
            "some calls were kept only as aggregates of whole intervals: for them --from and --to are rounded "
            "outward");
    if (dft_comm_agree(job->asked->undecided))
        dft_source_note(job->source, dft_source_kept(job->source) == DFT_KEPT_NONE,
                        "some calls were kept only as aggregates, which know the shortest and the longest of several: "
                        "where --slower-than lies between, it leaves them out");
    if (untold)
        dft_source_note(
            job->source, dft_source_kept(job->source) == DFT_KEPT_NONE,
            "some calls were kept only as aggregates, which do not name the files of calls: --file leaves them "
            "out");
}
