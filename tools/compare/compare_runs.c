/* SPDX-License-Identifier: MIT */
/* The runs of both sides: which paths are repetitions and which are parts of one run; opening
 * them; the repetition in the middle of each side.
 *
 * Each path of a side is a repetition. But paths are parts of one run where they hold processes
 * of the same run (the same identity, or none) that lived at the same time: such as the
 * directories of several nodes, or single files. */

#include "compare/compare_runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "object/source_notes.h"

/* The paths of a side, while it is found out which are one run. */
struct side {
    struct dft_options options[DFT_REPETITIONS_MAX];
    struct dft_source *sources[DFT_REPETITIONS_MAX];
    uint32_t run_of[DFT_REPETITIONS_MAX]; /* the first path of the same run */
    uint32_t count;
};

static int runs_overlap(const struct dft_source *a, const struct dft_source *b)
{
    uint32_t n, m;
    const struct dft_source_job *x = dft_source_runs(a, &n, NULL), *y = dft_source_runs(b, &m, NULL);

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < m; k++)
            if (x[i].id_hash == y[k].id_hash && !x[i].left_out && !y[k].left_out && x[i].start_ns && y[k].start_ns &&
                x[i].start_ns <= y[k].end_ns && y[k].start_ns <= x[i].end_ns)
                return 1;
    return 0;
}

static void find_parts(struct side *side)
{
    for (uint32_t i = 0; i < side->count; i++) {
        side->run_of[i] = i;
        for (uint32_t k = 0; k < i; k++) {
            uint32_t from = side->run_of[i], to = side->run_of[k];

            if (from == to || !runs_overlap(side->sources[i], side->sources[k]))
                continue;
            for (uint32_t p = 0; p <= i; p++)
                if (side->run_of[p] == from || side->run_of[p] == to)
                    side->run_of[p] = from < to ? from : to;
        }
    }
    dft_comm_broadcast(side->run_of, sizeof side->run_of);
}

static int add_run(struct dft_comparison *comparison, int side, const struct dft_options *options,
                   struct dft_source *source)
{
    struct dft_compared_run run = {.options = *options, .source = source, .side = (uint8_t)side};

    run.number = ++comparison->counts[side];
    return DFT_ARRAY_PUSH(comparison->runs, comparison->capacity, comparison->nruns, run);
}

/* Opens a source; where that fails, says which side's it is. Nothing is freed that sides share. */
static int open_source(struct dft_options *options, int side, struct dft_source **source)
{
    struct dft_options own = *options;
    int code;

    own.filter = (struct dft_filter){0};
    own.given = (struct dft_path_list){0};
    own.only_queries = 1;
    if (dft_command_begin(&own, source, &code)) {
        fprintf(stderr, "dftmerge compare: that is of side %c: %s%s\n", side ? 'B' : 'A', options->source.paths[0],
                options->source.npaths > 1 ? " ..." : "");
        return 1;
    }
    dft_filter_fini(&own.filter);
    options->only_queries = 1;
    if (!dft_filter_begin(&options->filter, *source))
        return 0;
    dft_source_close(*source);
    return -ENOMEM;
}

/* What a run has of a filter for itself. */
static void close_source(struct dft_options *options, struct dft_source *source)
{
    dft_filter_end(&options->filter);
    dft_source_close(source);
}

/* One run in several places: the paths of the same run, together. */
static int open_parts(struct dft_comparison *comparison, int number, struct side *side, uint32_t first,
                      char *const *paths)
{
    struct dft_options options;
    char **own = malloc(side->count * sizeof *own);
    struct dft_source *source;
    int n = 0;

    if (!own)
        return -ENOMEM;
    for (uint32_t i = first; i < side->count; i++)
        if (side->run_of[i] == first) {
            close_source(&side->options[i], side->sources[i]);
            side->sources[i] = NULL;
            own[n++] = paths[i];
        }
    options = side->options[first];
    options.source.paths = own;
    options.source.npaths = n;
    if (open_source(&options, number, &source)) {
        free(own);
        return 1;
    }
    if (add_run(comparison, number, &options, source)) {
        close_source(&options, source);
        free(own);
        return -ENOMEM;
    }
    comparison->runs[comparison->nruns - 1].own_paths = own;
    return 0;
}

static int has_parts(const struct side *side, uint32_t first)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < side->count; i++)
        n += side->run_of[i] == first;
    return n > 1;
}

/* Opens each path alone first; then those that are one run together. */
static int open_each(struct dft_comparison *comparison, int number, const struct dft_options *options)
{
    struct side *side = calloc(1, sizeof *side);
    int rc = side ? 0 : -ENOMEM;

    for (int i = 0; !rc && i < options->source.npaths; i++) {
        side->options[i] = *options;
        side->options[i].source.paths += i;
        side->options[i].source.npaths = 1;
        rc = open_source(&side->options[i], number, &side->sources[i]);
        side->count += !rc;
    }
    if (!rc)
        find_parts(side);
    for (uint32_t i = 0; !rc && i < side->count; i++) {
        if (side->run_of[i] != i)
            continue;
        if (has_parts(side, i)) {
            rc = open_parts(comparison, number, side, i, options->source.paths);
        } else {
            rc = add_run(comparison, number, &side->options[i], side->sources[i]);
            side->sources[i] = rc ? side->sources[i] : NULL;
        }
    }
    for (uint32_t i = 0; side && i < side->count; i++)
        if (side->sources[i])
            close_source(&side->options[i], side->sources[i]);
    free(side);
    return rc;
}

/* A path on both sides says nothing, but where each side takes another run or job of it. */
static void note_same(struct dft_comparison *comparison, const struct dft_options sides[2])
{
    if (sides[0].source.jobs != sides[1].source.jobs || sides[0].source.runs != sides[1].source.runs)
        return;
    for (int i = 0; i < sides[0].source.npaths; i++)
        for (int k = 0; k < sides[1].source.npaths; k++)
            if (!strcmp(sides[0].source.paths[i], sides[1].source.paths[k])) {
                dft_source_note(comparison->runs->source, 0, "%s is on both sides: it is compared with itself",
                                sides[0].source.paths[i]);
                return;
            }
}

int dft_compared_open(struct dft_comparison *comparison, const struct dft_options sides[2], int parts)
{
    int rc = 0;

    for (int side = 0; !rc && side < 2; side++) {
        struct dft_options options = sides[side];
        struct dft_source *source;

        if (options.source.npaths > 1 && !parts) {
            rc = open_each(comparison, side, &options);
            continue;
        }
        rc = open_source(&options, side, &source);
        if (!rc && add_run(comparison, side, &options, source)) {
            close_source(&options, source);
            rc = -ENOMEM;
        }
    }
    if (!rc)
        note_same(comparison, sides);
    return rc;
}

/* --- the one in the middle -------------------------------------------------------------------- */

static void swap(struct dft_comparison *comparison, uint32_t a, uint32_t b)
{
    struct dft_compared_run run = comparison->runs[a];

    comparison->runs[a] = comparison->runs[b];
    comparison->runs[b] = run;
}

/* All time in I/O of a run. Collective. */
static int ask_io(struct dft_compared_run *run)
{
    struct dft_query query = {.by = {DFT_BY_CLASS}, .nby = 1};
    struct dft_answer answer;
    int rc = dft_query_run(run->source, &run->options.filter, &query, &answer);

    run->io_ns = 0;
    for (uint32_t i = 0; !rc && i < answer.count; i++)
        if (dft_is_io(answer.groups[i].key.class))
            run->io_ns += answer.groups[i].metrics.dur_sum;
    if (!rc)
        dft_answer_fini(&answer);
    dft_comm_broadcast(&run->io_ns, sizeof run->io_ns);
    return rc;
}

/* The run of a side with the median time (of an even number the lower one). */
static uint32_t middle_of(const struct dft_comparison *comparison, int side)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < comparison->nruns; i++) {
        const struct dft_compared_run *run = &comparison->runs[i];
        uint32_t before = 0;

        if (run->side != side)
            continue;
        for (uint32_t k = 0; k < comparison->nruns; k++) {
            const struct dft_compared_run *other = &comparison->runs[k];

            before += other->side == side &&
                      (other->io_ns < run->io_ns || (other->io_ns == run->io_ns && other->number < run->number));
        }
        if (before == (comparison->counts[side] - 1) / 2)
            best = i;
    }
    return best;
}

int dft_compared_order(struct dft_comparison *comparison)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && comparison->nruns > 2 && i < comparison->nruns; i++)
        rc = ask_io(&comparison->runs[i]);
    if (rc)
        return rc;
    swap(comparison, 0, middle_of(comparison, 0));
    swap(comparison, 1, middle_of(comparison, 1));
    return 0;
}

const struct dft_compared_run *dft_compared_run_of(const struct dft_comparison *comparison, int side, uint32_t number)
{
    for (uint32_t i = 0; i < comparison->nruns; i++)
        if (comparison->runs[i].side == side && comparison->runs[i].number == number)
            return &comparison->runs[i];
    return NULL;
}
