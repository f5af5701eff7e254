/* SPDX-License-Identifier: MIT */
/* What a comparison asks each run: calls, patterns of files and ranks; of the runs in the middle
 * of each side by process and slice of time. */
#include "compare/compare_ask.h"
#include "mpi/comm.h"
#include "object/source_notes.h"

#include <errno.h>
#include <stdlib.h>

#define SLICES         24u
#define CELLS_MAX      4096u /* processes times slices */
#define PROCESSES_CALL 1024u /* more are not distinguished, so that memory is bounded: spread is then over time alone */
#define PROCESSES_FILE 64u
#define FILES_BYTES    (UINT64_C(144) << 20)
#define ROWS_NS        (UINT64_C(64) * 1000000000) /* the usual interval of histograms: from there on rows answer */

/* Are all processes known by their events? */
static int keeps_events(const struct dft_compared_run *run)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(run->source, &count);

    for (uint32_t i = 0; i < count; i++)
        if (processes[i].rows_only && !processes[i].events)
            return 0;
    return 1;
}

void dft_runs_prepare(struct dft_compared_run *runs, uint32_t nruns)
{
    uint32_t counts[2];
    int split = 1;

    dft_source_processes(runs[0].source, &counts[0]);
    dft_source_processes(runs[1].source, &counts[1]);
    for (uint32_t i = 0; i < nruns; i++) {
        runs[i].aggregated = !keeps_events(&runs[i]);
        split &= !runs[i].aggregated;
    }
    for (uint32_t i = 0; i < nruns; i++) {
        runs[i].most_processes = counts[counts[1] > counts[0]];
        runs[i].split = split;
    }
}

/* Width of a slice of time, or 0: do not slice. */
static uint64_t slice_of(const struct dft_compared_run *run, uint32_t processes)
{
    uint64_t start, end, slices = processes ? CELLS_MAX / processes : SLICES, width;

    dft_source_span(run->source, &start, &end);
    if (slices > SLICES)
        slices = SLICES;
    if (slices < 2 || end <= start || !run->split || !dft_source_used(run->source, DFT_BLOCK_EVENTS))
        return 0; /* aggregates cannot be cut where one likes */
    width = (end - start) / slices + 1;
    return width < ROWS_NS ? width : (width + ROWS_NS - 1) / ROWS_NS * ROWS_NS;
}

static void add_key(struct dft_query *query, enum dft_by by)
{
    query->by[query->nby++] = (uint8_t)by;
}

static void add_units(const struct dft_compared_run *run, struct dft_query *query, uint32_t processes_max,
                      enum dft_by who)
{
    uint32_t count = run->most_processes;

    if (count <= processes_max)
        add_key(query, who);
    else
        count = 0;
    query->width_ns = slice_of(run, count);
    if (query->width_ns)
        add_key(query, DFT_BY_TIME);
    query->percentiles = query->bins = 1;
}

static int ask(struct dft_compared_run *run, const struct dft_query *query, struct dft_answer *answer)
{
    int rc = dft_query_run(run->source, &run->options.filter, query, answer);

    for (uint32_t i = 0; !rc && i < answer->count; i++)
        if (answer->groups[i].p50 == DFT_PERCENTILE_UNKNOWN)
            answer->groups[i].nbins = 0;
    return rc;
}

/* What of files is distinguished: the finest that fits, and what to say if it is not the first. */
static const struct {
    enum dft_by by;
    int units;
    const char *note;
} finenesses[] = {
    {DFT_BY_PATTERN, 1, NULL},
    {DFT_BY_PATTERN, 0,
     "files have so many patterns that of each only the whole run is compared: their spread is not known"},
    {DFT_BY_DIR, 1, "files have so many patterns that they are put together by directory"},
    {DFT_BY_DIR, 0,
     "files are put together by directory, and so many are these that only the whole run is compared: their spread is "
     "not "
     "known"},
};

static int ask_files(struct dft_compared_run *run, unsigned fineness, int split, int units)
{
    const uint8_t by = (uint8_t)finenesses[fineness].by;
    struct dft_query query = {.by = {by, DFT_BY_CAT, DFT_BY_NAME, DFT_BY_CLASS}, .nby = 4, .bounded = 1};

    if (!split) /* what is known as aggregates alone is not known by file and call */
        query = (struct dft_query){.by = {by, DFT_BY_CLASS}, .nby = 2, .bounded = 1};
    else if (units && finenesses[fineness].units)
        add_units(run, &query, PROCESSES_FILE, DFT_BY_PROCESS);
    query.percentiles = query.bins = 1;
    return ask(run, &query, &run->files);
}

/* The answers of all runs stay in memory: together they have as much as those of two may. */
static int ask_files_of_each(struct dft_compared_run *runs, uint32_t nruns, unsigned fineness, int split)
{
    uint64_t bytes = 0;
    int rc = 0;

    for (uint32_t i = 0; !rc && i < nruns; i++) {
        rc = ask_files(&runs[i], fineness, split, i < 2);
        if (rc)
            break;
        bytes += runs[i].files.count * sizeof *runs[i].files.groups + runs[i].files.nbins * sizeof *runs[i].files.bins;
        rc = nruns > 2 && bytes > FILES_BYTES ? -E2BIG : 0;
        dft_comm_broadcast(&rc, sizeof rc);
    }
    return rc;
}

static void forget_files(struct dft_compared_run *runs, uint32_t nruns)
{
    for (uint32_t i = 0; i < nruns; i++)
        dft_answer_fini(&runs[i].files);
}

/* All runs answer the same query: what one of them cannot distinguish is not compared. */
static int ask_files_alike(struct dft_compared_run *runs, uint32_t nruns, unsigned fineness)
{
    int split = runs[0].split, rc = ask_files_of_each(runs, nruns, fineness, split);
    uint64_t unsplit = 0;

    for (uint32_t i = 0; i < nruns; i++)
        unsplit |= runs[i].files.unsplit;
    if (rc || !split || !unsplit)
        return rc;
    for (uint32_t i = 0; i < nruns; i++)
        runs[i].aggregated |= runs[i].files.unsplit != 0;
    forget_files(runs, nruns);
    return ask_files_of_each(runs, nruns, fineness, 0);
}

int dft_runs_ask_files(struct dft_compared_run *runs, uint32_t nruns)
{
    const unsigned most = sizeof finenesses / sizeof *finenesses;

    for (unsigned fineness = 0; fineness < most; fineness++) {
        int rc = ask_files_alike(runs, nruns, fineness);

        if (!rc && finenesses[fineness].note)
            dft_source_note(runs[0].source, 0, "%s", finenesses[fineness].note);
        if (rc != -E2BIG)
            return rc;
        forget_files(runs, nruns);
    }
    dft_source_note(runs[0].source, 0, "files are not compared: they are in too many directories");
    return 0;
}

int dft_run_ask(struct dft_compared_run *run, int units)
{
    struct dft_query calls = {.by = {DFT_BY_CAT, DFT_BY_NAME, DFT_BY_CLASS}, .nby = 3, .percentiles = 1, .bins = 1};
    struct dft_query classes = {.by = {DFT_BY_CLASS}, .nby = 1, .percentiles = 1, .bins = 1};
    struct dft_query ranks = {.by = {DFT_BY_CLASS}, .nby = 1, .percentiles = 1, .bins = 1};
    int rc;

    for (unsigned reason = 0; reason <= DFT_DROP_LAST; reason++)
        run->lossy |= run->job.dropped[reason] != 0;
    run->lossy |= run->job.damaged || run->job.missing || run->job.endless || dft_job_unread(&run->job, run->source);
    if (units)
        add_units(run, &calls, PROCESSES_CALL, DFT_BY_PROCESS);
    if (!run->split && dft_filter_has_files(&run->options.filter)) /* of files alone, a run does not know the calls */
        calls = classes;
    rc = ask(run, &calls, &run->calls);
    if (rc || !run->job.ranks)
        return rc;
    if (units)
        add_units(run, &ranks, UINT32_MAX, DFT_BY_RANK);
    else
        add_key(&ranks, DFT_BY_RANK);
    run->has_ranks = 1;
    return ask(run, &ranks, &run->ranks);
}

void dft_run_fini(struct dft_compared_run *run)
{
    dft_answer_fini(&run->calls);
    dft_answer_fini(&run->files);
    dft_answer_fini(&run->ranks);
    dft_job_fini(&run->job);
    dft_filter_end(&run->options.filter);
    dft_group_map_fini(&run->moved);
    free(run->of_moved);
    free(run->own_paths);
}
