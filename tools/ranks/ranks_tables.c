/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: the tables of the answer as text. */
#include "ranks/ranks_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "base/names.h"

const struct dft_source_process *dft_ranks_process(const struct dft_ranks_job *job, uint32_t rank)
{
    uint32_t count;

    return &dft_source_processes(job->source, &count)[job->ranks[rank].process];
}

/* Seconds since the start of the job, whether that rank was queried or not; its first bucket
 * may begin before it. */
const char *dft_ranks_since(char *text, const struct dft_ranks_job *job, uint64_t time)
{
    snprintf(text, DFT_TEXT_ROOM, "%+.*f s", job->bucket_ns < 1000000000 ? 3 : 1,
             time > job->zero_ns ? (double)(time - job->zero_ns) / 1e9 : 0.0);
    return text;
}

static int lag_cell(struct dft_grid *grid, const struct dft_ranks_job *job, const struct dft_lag *lag)
{
    char text[3 * DFT_TEXT_ROOM], from[DFT_TEXT_ROOM], to[DFT_TEXT_ROOM];

    if (lag->from == DFT_NO_BUCKET)
        return dft_grid_cell(grid, "the start");
    dft_ranks_since(from, job, job->origin_ns + lag->from * job->bucket_ns);
    if (lag->to >= job->nbuckets)
        return dft_grid_cell(grid, from);
    snprintf(text, sizeof text, "%s to %s", from, dft_ranks_since(to, job, job->origin_ns + lag->to * job->bucket_ns));
    return dft_grid_cell(grid, text);
}

static int text_cell(struct dft_grid *grid, struct dft_text text)
{
    char *escaped = dft_text_escaped(text.bytes ? text.bytes : "", text.length);
    int rc = escaped ? dft_grid_cell(grid, escaped) : -ENOMEM;

    free(escaped);
    return rc;
}

static int rank_cell(struct dft_grid *grid, const struct dft_ranks_job *job, uint32_t rank)
{
    char text[DFT_TEXT_ROOM];

    snprintf(text, sizeof text, "%" PRId64,
             job->by_rank ? (int64_t)job->ranks[rank].rank : (int64_t)dft_ranks_process(job, rank)->process.pid);
    return dft_grid_cell(grid, text);
}

static int times_cell(struct dft_grid *grid, double times)
{
    char text[DFT_TEXT_ROOM];

    return dft_grid_cell(grid, dft_text_ratio(text, times));
}

uint64_t dft_ranks_dominant_call(const struct dft_rank *rank)
{
    uint64_t call = 0, most = 0;

    for (uint32_t i = 0; i < rank->ncalls; i++)
        if (rank->calls[i].io_ns > most) {
            most = rank->calls[i].io_ns;
            call = rank->calls[i].call;
        }
    return call;
}

static int slow_line(struct dft_grid *grid, const struct dft_ranks_job *job, uint32_t r)
{
    const struct dft_rank *rank = &job->ranks[r];
    struct dft_text category, name;
    char text[DFT_TEXT_ROOM];
    int rc = rank_cell(grid, job, r);

    rc = rc ? rc : text_cell(grid, dft_ranks_process(job, r)->process.host);
    rc = rc ? rc : dft_grid_cell(grid, dft_text_ns(text, rank->io_ns));
    rc = rc ? rc : times_cell(grid, job->median_io_ns ? (double)rank->io_ns / (double)job->median_io_ns : 0);
    rc = rc ? rc : lag_cell(grid, job, &rank->lag);
    dft_names_call(dft_source_names_table(job->source), dft_ranks_dominant_call(rank), &category, &name, text);
    return rc ? rc : text_cell(grid, name);
}

int dft_ranks_text_slow(const struct dft_ranks_job *job, uint64_t top)
{
    const struct dft_grid_column columns[] = {{job->by_rank ? "rank" : "pid"}, {"host", 1, 1, 1},  {"I/O time"},
                                              {"of median", 0, 0, 3},          {"since", 1, 0, 2}, {"most in", 1}};
    struct dft_grid *grid;
    char text[DFT_TEXT_ROOM];
    int rc = 0;

    if (!job->nslow)
        return 0;
    grid = dft_grid_create(columns, sizeof columns / sizeof *columns);
    for (uint32_t i = 0; grid && !rc && i < job->nslow && i < top; i++)
        rc = slow_line(grid, job, job->slow[i]);
    if (grid && !rc) {
        putchar('\n');
        dft_print_wrapped("Slow: %" PRIu32 " of %" PRIu32 ", against a median of %s in I/O", job->nslow, job->nranks,
                          dft_text_ns(text, job->median_io_ns));
        dft_grid_print(grid, stdout);
    }
    rc = grid ? rc : -ENOMEM;
    dft_grid_destroy(grid);
    return rc;
}

static int call_line(struct dft_grid *grid, const struct dft_ranks_job *job, uint32_t c)
{
    const struct dft_job_call *call = &job->calls[c];
    double mean = (double)call->ns / job->nranks;
    struct dft_text category, name;
    char text[DFT_TEXT_ROOM];
    int rc;

    dft_names_call(dft_source_names_table(job->source), call->call, &category, &name, text);
    rc = text_cell(grid, category);
    rc = rc ? rc : text_cell(grid, name);
    rc = rc ? rc : dft_grid_cell(grid, dft_text_ns(text, (uint64_t)mean));
    rc = rc ? rc : dft_grid_cell(grid, dft_text_ns(text, call->slowest_ns[0]));
    rc = rc ? rc : times_cell(grid, mean > 0 ? (double)call->slowest_ns[0] / mean : 0);
    rc = rc ? rc : rank_cell(grid, job, call->slowest[0]);
    if (rc)
        return rc;
    if (!call->lags[0].lags)
        return dft_grid_cell(grid, "-");
    return lag_cell(grid, job, &call->lags[0]);
}

int dft_ranks_text_calls(const struct dft_ranks_job *job, uint64_t top)
{
    const struct dft_grid_column columns[] = {{"cat", 1, 0, 4},       {"call", 1, 1},
                                              {"mean", 0, 0, 3},      {"slowest"},
                                              {"of mean", 0, 0, 2},   {job->by_rank ? "rank" : "pid"},
                                              {"lags since", 1, 0, 1}};
    struct dft_grid *grid = dft_grid_create(columns, sizeof columns / sizeof *columns);
    uint32_t n = job->ncalls < DFT_RANKS_CALLS ? job->ncalls : DFT_RANKS_CALLS;
    int rc = 0;

    for (uint32_t c = 0; grid && !rc && c < n && c < top; c++)
        rc = call_line(grid, job, c);
    if (grid && !rc && n) {
        putchar('\n');
        dft_print_wrapped("Imbalance: time in calls, mean of all %s and the slowest",
                          job->by_rank ? "ranks" : "processes");
        dft_grid_print(grid, stdout);
    }
    rc = grid ? rc : -ENOMEM;
    dft_grid_destroy(grid);
    return rc;
}
