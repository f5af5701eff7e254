/* SPDX-License-Identifier: MIT */
/* dftmerge compare: two runs side by side. The command: paths, options, exit code. */
#include "compare/compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"

#include "base/pattern.h"
#include "source/source_notes.h"
#include "base/names.h"

/* What the options of compare alone say; [2]: of A, of B. */
struct asked {
    const char *fail_over, *metric, *jobs[2], *runs[2];
};

/* --- options ---------------------------------------------------------------------------------- */

/* `text` NULL: time. */
static int parse_measure(enum dft_measure *measure, const char *option, const char *text)
{
    *measure = DFT_MEASURE_TIME;
    if (!text)
        return 0;
    for (int m = 0; m < DFT_MEASURES; m++)
        if (!strcmp(text, dft_measure_word((enum dft_measure)m)) ||
            !strcmp(text, dft_measure_name((enum dft_measure)m))) {
            *measure = (enum dft_measure)m;
            return 0;
        }
    fprintf(stderr, "dftmerge compare: --%s %s: there are time, bytes, count, p50, p95 and p99\n", option, text);
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

/* Position of the "--" between the paths of A and B, or argc. */
static int find_divider(int argc, char **argv)
{
    int at = 1;

    while (at < argc && strcmp(argv[at], "--"))
        at++;
    return at;
}

/* Which paths are A's and which B's. The lists of the filter belong to `options` alone. */
static int divide(struct dft_comparison *comparison, const struct asked *asked, const struct dft_options *options,
                  int argc, char **argv, int at)
{
    struct dft_compared_run *runs = comparison->runs;

    runs[0].options = runs[1].options = *options;
    for (int side = 0; side < 2; side++) {
        if (asked->jobs[side])
            runs[side].options.source.jobs = asked->jobs[side];
        if (asked->runs[side])
            runs[side].options.source.runs = asked->runs[side];
    }
    if (at < argc) {
        runs[1].options.source.paths = argv + at + 1;
        runs[1].options.source.npaths = argc - at - 1;
    } else if (options->source.npaths == 2) {
        runs[0].options.source.npaths = runs[1].options.source.npaths = 1;
        runs[1].options.source.paths++;
    }
    if (runs[0].options.source.npaths && runs[1].options.source.npaths && (at < argc || options->source.npaths == 2))
        return 0;
    fprintf(stderr, "dftmerge compare: two runs are needed: A B, or A... -- B... where a run lies in several places\n"
                    "dftmerge compare: see `dftmerge compare --help`\n");
    return -EINVAL;
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
    int rc = 0;

    dft_runs_prepare(comparison->runs);
    for (int side = 0; side < 2 && !rc; side++) {
        struct dft_compared_run *run = &comparison->runs[side];

        rc = dft_comm_agree(dft_job_collect(&run->job, run->source));
        if (!rc)
            rc = dft_run_ask(run);
    }
    if (!rc)
        rc = dft_runs_ask_files(comparison->runs);
    if (!rc && !dft_comm_rank())
        rc = answer(comparison);
    dft_comm_broadcast(&comparison->nfailures, sizeof comparison->nfailures);
    return dft_comm_agree(rc);
}

static void comparison_fini(struct dft_comparison *comparison)
{
    for (int t = 0; t < DFT_COMPARED_COUNT; t++) {
        struct dft_compared_items *items = &comparison->tables[t];

        dft_group_map_fini(&items->map);
        free(items->items);
        free(items->order);
        free(items->cells[0]);
        free(items->cells[1]);
    }
    for (uint32_t i = 0; i < comparison->nrank_groups; i++)
        free(comparison->rank_groups[i].label);
    dft_run_fini(&comparison->runs[0]);
    dft_run_fini(&comparison->runs[1]);
    dft_group_map_fini(&comparison->moved);
    dft_group_map_fini(&comparison->labels);
    free(comparison->directories);
    free(comparison->of_moved);
    free(comparison->cut_of_label);
    free(comparison->rank_groups);
    free(comparison->group_of_rank);
    free(comparison->failures);
}

/* Both runs share the lists of the filter: the second one's end frees them, so the first is closed
 * by hand. */
static int run_both(struct dft_comparison *comparison)
{
    struct dft_compared_run *runs = comparison->runs;
    int code, rc, status;

    runs[0].options.only_queries = runs[1].options.only_queries = 1;
    if (dft_command_begin(&runs[0].options, &runs[0].source, &code))
        return code;
    if (dft_command_begin(&runs[1].options, &runs[1].source, &code)) {
        dft_source_report(runs[0].source);
        dft_source_close(runs[0].source);
        return code;
    }
    rc = compare(comparison);
    if (rc)
        fprintf(stderr, "dftmerge compare: %s\n", strerror(-rc));
    code = rc || comparison->nfailures ? DFT_EXIT_BAD : DFT_EXIT_OK;
    dft_source_report(runs[0].source);
    status = dft_source_status(runs[0].source);
    comparison_fini(comparison);
    dft_source_close(runs[0].source);
    code = dft_command_end(&runs[1].options, runs[1].source, code);
    return code ? code : status ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct dft_comparison comparison = {.fail_over = -1};
    struct asked asked = {0};
    const struct dft_option own[] = {
        {"fail-over", 0, "PERCENT", &asked.fail_over, NULL,
         "exit with 1 when B is worse by more, beyond the spread, e.g. 10%"},
        {"metric", 0, "NAME", &asked.metric, NULL, "... in this: time (default), bytes, count, p50, p95 or p99"},
        {"job-a", 0, "LIST", &asked.jobs[0], NULL, "only these jobs of A, where several are together"},
        {"job-b", 0, "LIST", &asked.jobs[1], NULL,
         "only these jobs of B; both may lie in one directory: A and B the same"},
        {"run-a", 0, "LIST", &asked.runs[0], NULL, "only these runs of A, likewise"},
        {"run-b", 0, "LIST", &asked.runs[1], NULL, "only these runs of B"},
        {0},
    };
    struct dft_options options;
    int code, at = find_divider(argc, argv);

    if (dft_options_parse(&options, &dft_command_compare, own, at, argv, &code))
        return code;
    if (parse_failing(&comparison, &asked, options.sort) || divide(&comparison, &asked, &options, argc, argv, at)) {
        dft_options_fini(&options);
        return DFT_EXIT_USAGE;
    }
    return run_both(&comparison);
}

const struct dft_command dft_command_compare = {
    .name = "compare",
    .arguments = "A B  |  [OPTION...] A... -- B...",
    .brief = "two runs side by side: what changed, by how much, and is it more than chance",
    .details =
        "Compares calls, regions, patterns of files, and groups of ranks. In patterns\n"
        "" DFT_PATTERN_RULE ".\n"
        "Of patterns that are in one run only, directories are taken for each other when most names below them are the\n"
        "same (\"...\"). Ranks stand together that do about as much (within a factor of two from one to the next), and\n"
        "whose cost of a call changed about alike (within a factor of two of the median change).\n"
        "\n"
        "The spread: a change of time is beyond it when chance would do it less than once in a thousand times (rank-sum\n"
        "test). The test compares the times of a call in B's processes with those in A's. Where fewer than eight\n"
        "processes make the call, it compares the processes in 24 slices of time. With fewer than eight of them on a\n"
        "side it cannot be told (\"?\"). A change is beyond the spread, too, when the number of calls alone makes half of\n"
        "it. Each process is also looked at alone: when its calls cost more than twice what they cost anywhere in the\n"
        "other run, in eight slices more than in any slice there, the change is beyond the spread (with fewer slices:\n"
        "\"?\"). A change of time by less than 0.5 % is always within it. Counts and bytes are exact: every change is one.\n"
        "What a whole run has in common, such as a busy file system, looks like a change of the program.\n"
        "\n"
        "Of processes that kept no events it is not known which calls were made on which files, nor when. Then neither\n"
        "run is asked for that, and \"?\" stands for what one of them does not know.\n"
        "\n"
        "--fail-over looks at all I/O, and at every line that is at least 1 % of all I/O. Exit codes: 0 not worse,\n"
        "1 worse (or something was unreadable), 2 usage.",
    .example = "dftmerge compare --fail-over 10% --metric time traces/base traces/new",
    .takes = DFT_TAKES_JSON | DFT_TAKES_CSV | DFT_TAKES_FILTER | DFT_TAKES_TOP | DFT_TAKES_SORT | DFT_TAKES_RANKS,
    .run = run,
};
