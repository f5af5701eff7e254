/* SPDX-License-Identifier: MIT */
/* dftmerge compare: two runs side by side. The command: paths, options, exit code. */
#include "compare/compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mpi/comm.h"

#include "base/write_wrapped.h"
#include "base/pattern.h"
#include "object/source_notes.h"
#include "base/names.h"
#include "command/sides.h"
#include "compare/compare_ask.h"
#include "compare/compare_data.h"
#include "compare/compare_items.h"
#include "compare/compare_match.h"
#include "compare/compare_ranks.h"
#include "compare/compare_runs.h"
#include "compare/compare_text.h"
#include "compare/comparison.h"

#define EXIT_UNTOLD 3 /* it could not be compared */

/* What the options of compare alone say; [2]: of A, of B. */
struct asked {
    const char *fail_over, *metric, *jobs[2], *runs[2];
    int parts;
};

/* --- options ---------------------------------------------------------------------------------- */

static const char *measure_word(size_t i)
{
    return i < DFT_MEASURES ? dft_measure_word((enum dft_measure)i) : NULL;
}

/* `text` NULL: time. */
static int parse_measure(enum dft_measure *measure, const char *option, const char *text)
{
    const char *words[DFT_MEASURES];

    *measure = DFT_MEASURE_TIME;
    if (!text)
        return 0;
    for (int m = 0; m < DFT_MEASURES; m++)
        if (!strcasecmp(text, dft_measure_word((enum dft_measure)m)) ||
            !strcasecmp(text, dft_measure_name((enum dft_measure)m))) {
            *measure = (enum dft_measure)m;
            return 0;
        }
    for (int m = 0; m < DFT_MEASURES; m++)
        words[m] = dft_measure_word((enum dft_measure)m);
    fprintf(stderr, "dftmerge compare: --%s %s: no such measure.", option, text);
    dft_say_words(text, "There are", words, DFT_MEASURES);
    return -EINVAL;
}

static int parse_failing(struct dft_comparison *comparison, const struct asked *asked, const char *sort)
{
    char *end = NULL;

    comparison->fail_over = -1;
    if (parse_measure(&comparison->metric, "metric", asked->metric) || parse_measure(&comparison->sort, "sort", sort))
        return -EINVAL;
    if (!asked->fail_over)
        return 0;
    if (*asked->fail_over >= '0' && *asked->fail_over <= '9')
        comparison->fail_over = strtod(asked->fail_over, &end);
    if (!end || strcmp(end + (*end == '%'), "") || !(comparison->fail_over <= 1e9)) {
        fprintf(stderr, "dftmerge compare: --fail-over %s: not a number of per cent, as in 10%%\n", asked->fail_over);
        return -EINVAL;
    }
    return 0;
}

/* How many paths are A's; -1: it is not known. */
static int paths_of_a(const struct dft_options *options)
{
    int n = dft_sides_divide(options);

    if (n >= 0)
        return n && n + 1 < options->source.npaths ? n : -1;
    return options->source.npaths == 2 ? 1 : -1;
}

/* Which paths are A's and which B's. The lists of the filter belong to `options` alone. */
static int divide(struct dft_options sides[2], const struct asked *asked, const struct dft_options *options)
{
    int n = paths_of_a(options), gap = dft_sides_divide(options) >= 0;

    if (n < 0) {
        fprintf(stderr, "dftmerge compare: two sides are needed: A B, or A1 A2 A3 -- B1 B2 B3 with repetitions\n"
                        "dftmerge compare: see `dftmerge compare --help`\n");
        return -EINVAL;
    }
    for (int side = 0; side < 2; side++) {
        sides[side] = *options;
        if (asked->jobs[side])
            sides[side].source.jobs = asked->jobs[side];
        if (asked->runs[side])
            sides[side].source.runs = asked->runs[side];
    }
    sides[0].source.npaths = n;
    sides[1].source.paths += n + gap;
    sides[1].source.npaths -= n + gap;
    for (int side = 0; side < 2; side++)
        if (sides[side].source.npaths > (int)DFT_REPETITIONS_MAX && !asked->parts) {
            fprintf(stderr,
                    "dftmerge compare: %c has %d paths; %u repetitions at most. Where they are parts of one run, say "
                    "--parts\n",
                    side ? 'B' : 'A', sides[side].source.npaths, DFT_REPETITIONS_MAX);
            return -EINVAL;
        }
    return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int answer(struct dft_comparison *comparison)
{
    int rc = dft_compare_match(comparison);

    if (!rc)
        rc = dft_compare_ranks(comparison);
    if (!rc)
        rc = dft_compare_items(comparison);
    if (!rc)
        rc = dft_compare_fail(comparison);
    if (rc)
        return rc;
    if (comparison->runs[0].options.json)
        return dft_compare_json(comparison);
    return comparison->runs[0].options.csv ? dft_compare_csv(comparison) : dft_compare_print(comparison);
}

/* All ranks of dftmerge-mpi ask; the answers are on rank 0. */
static int compare(struct dft_comparison *comparison)
{
    int rc = dft_compared_order(comparison);

    if (rc)
        return rc;
    dft_runs_prepare(comparison->runs, comparison->nruns);
    for (uint32_t i = 0; i < comparison->nruns && !rc; i++) {
        struct dft_compared_run *run = &comparison->runs[i];

        rc = dft_comm_agree(dft_job_collect(&run->job, run->source));
        if (!rc)
            rc = dft_run_ask(run, i < 2);
    }
    if (!rc)
        rc = dft_runs_ask_files(comparison->runs, comparison->nruns);
    if (!rc && !dft_comm_rank())
        rc = answer(comparison);
    dft_comm_broadcast(&comparison->nfailures, sizeof comparison->nfailures);
    return dft_comm_agree(rc);
}

static void items_fini(struct dft_compared_items *items, uint32_t nruns)
{
    for (uint32_t run = 0; items->cells && run < nruns; run++)
        free(items->cells[run]);
    dft_group_map_fini(&items->map);
    free(items->items);
    free(items->order);
    free(items->cells);
    free(items->ncells);
    free(items->measured);
}

static void comparison_fini(struct dft_comparison *comparison)
{
    for (int t = 0; t < DFT_COMPARED_COUNT; t++)
        items_fini(&comparison->tables[t], comparison->nruns);
    for (uint32_t i = 0; i < comparison->nrank_groups; i++)
        free(comparison->rank_groups[i].label);
    dft_group_map_fini(&comparison->labels);
    free(comparison->directories);
    free(comparison->cut_of_label);
    free(comparison->rank_groups);
    free(comparison->group_of_rank);
    free(comparison->failures);
}

/* Closes all runs, and says what is to be said of each. Returns the exit code. All share the
 * lists of the filter, which `options` has. */
static int close_runs(struct dft_comparison *comparison, struct dft_options *options, int code)
{
    int bad = 0;

    for (uint32_t i = 0; i < comparison->nruns; i++) {
        struct dft_compared_run *run = &comparison->runs[i];

        dft_run_fini(run);
        if (i + 1 == comparison->nruns) {
            code = dft_command_end(options, run->source, code);
        } else {
            dft_source_report(run->source);
            bad |= dft_source_status(run->source);
            dft_source_close(run->source);
        }
    }
    if (!comparison->nruns)
        dft_options_fini(options);
    free(comparison->runs);
    return code ? code : bad ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

static int run_all(struct dft_comparison *comparison, struct dft_options *options, const struct dft_options sides[2],
                   int parts)
{
    int rc = dft_compared_open(comparison, sides, parts), code, worse;

    if (!rc)
        rc = compare(comparison);
    if (rc < 0)
        fprintf(stderr, "dftmerge compare: %s\n", strerror(-rc));
    code = rc || comparison->nfailures ? DFT_EXIT_BAD : DFT_EXIT_OK;
    worse = comparison->nfailures != 0;
    comparison_fini(comparison);
    code = close_runs(comparison, options, code);
    return code == DFT_EXIT_BAD && !worse ? EXIT_UNTOLD : code; /* who asks in CI must not take this for worse */
}

static int run(int argc, char **argv)
{
    struct dft_comparison comparison = {.fail_over = -1};
    struct asked asked = {0};
    const struct dft_option own[] = {
        {"fail-over", 0, "PERCENT", &asked.fail_over, NULL,
         "Exit with 1 when B is worse by more, beyond the spread, e.g. 10%; 3: it is not known"},
        {"metric", 0, "NAME", &asked.metric, NULL, "... in this: time (default), bytes, count, p50, p95 or p99",
         .word = measure_word},
        {"job-a", 0, "LIST", &asked.jobs[0], NULL, "Only these jobs of A, where several are together"},
        {"job-b", 0, "LIST", &asked.jobs[1], NULL,
         "Only these jobs of B; both may lie in one directory: A and B the same"},
        {"run-a", 0, "LIST", &asked.runs[0], NULL, "Only these runs of A, likewise"},
        {"run-b", 0, "LIST", &asked.runs[1], NULL, "Only these runs of B"},
        {"parts", 0, NULL, NULL, &asked.parts, "All paths of a side are parts of one run, not repetitions"},
        {0},
    };
    struct dft_options options, sides[2];
    int code;

    dft_sides_mark(argc, argv);
    if (dft_options_parse(&options, &dft_command_compare, own, argc, argv, &code))
        return code;
    if (parse_failing(&comparison, &asked, options.sort) || divide(sides, &asked, &options)) {
        dft_options_fini(&options);
        return DFT_EXIT_USAGE;
    }
    return run_all(&comparison, &options, sides, asked.parts);
}

const struct dft_command dft_command_compare = {
    .name = "compare",
    .arguments = "A B  |  A1 A2 A3 -- B1 B2 B3",
    .brief = "Two runs side by side: what changed, and is it chance",
    .details =
        "Compares calls, regions, patterns of files, and groups of ranks. In patterns " DFT_PATTERN_RULE
        ". Of patterns that are in one run only, directories are taken for each other when most names below them "
        "are the same (\"...\"). Ranks stand together that do about as much (within a factor of two from one to "
        "the next), and whose cost of a call changed about alike (within a factor of two of the median change).\n"
        "\n"
        "The spread: a change of time is beyond it when chance would do it less than once in a thousand times "
        "(rank-sum test). The test compares the times of a call in B's processes with those in A's. Where fewer "
        "than eight processes make the call, it compares the processes in 24 slices of time. With fewer than "
        "eight of them on a side it is not known (\"?\"). A change is beyond the spread, too, when the number "
        "of calls alone makes half of it. Each process is also looked at alone: when its calls cost more than "
        "twice what they cost anywhere in the other run, in eight slices more than in any slice there, the change "
        "is beyond the spread (with fewer slices: \"?\"). A change of time by less than 0.5 % is always within "
        "it. Counts and bytes are exact: every change is one. What a whole run has in common, such as a busy file "
        "system, looks like a change of the program.\n"
        "\n"
        "With several runs a side (repetitions, before and behind --) numbers are medians, and the repetitions "
        "are the yardstick: a change is beyond the spread where chance alone does as much in 5 % of cases at most "
        "(rank-sum test of Wilcoxon, Mann and Whitney, exact; lines are corrected for their number by Holm). "
        "Counts are exact only where all runs of each side have the same. With fewer than five runs on a side all "
        "I/O alone is tested. \"How sure\" has the interval of the difference. An outlier is named. Paths whose "
        "processes are of one run and lived at the same time are parts of it, not repetitions. Options may stand "
        "anywhere.\n"
        "\n"
        "Of processes that kept no events it is not known which calls were made on which files, nor when. Then "
        "neither run is asked for that, and \"?\" stands for what one of them does not know.\n"
        "\n"
        "--fail-over looks at all I/O, and at every line that is at least 1 % of all I/O. The exit code is 1 only "
        "where B is worse. 2 is wrong usage. 3 is what could not be read or compared; and all I/O grew by more than "
        "--fail-over allows, but whether by chance is not known.",
    .example = "dftmerge compare --fail-over 10% --metric time traces/base traces/new",
    .takes = DFT_TAKES_JSON | DFT_TAKES_CSV | DFT_TAKES_FILTER | DFT_TAKES_TOP | DFT_TAKES_SORT | DFT_TAKES_RANKS,
    .sort_word = measure_word,
    .run = run,
};
