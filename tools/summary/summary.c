/* SPDX-License-Identifier: MIT */
/* dftmerge summary: where the I/O time goes. The command; its output is in page.c, summary_tree.c
 * and summary_data.c. */
#include "mpi/comm.h"
#include "base/write_wrapped.h"
#include "base/pattern.h"
#include "job/job_state.h"
#include "summary/histograms_output.h"
#include "summary/instances.h"
#include "summary/summary.h"
#include "judge/source_ending.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What the options of summary alone say. */
struct asked {
    const char *by, *width, *rules;
    int events, tree, no_risk;
};

static const char *key_word(size_t i)
{
    return i < DFT_BY_COUNT        ? dft_by_word((enum dft_by)i)
           : i == DFT_BY_COUNT     ? "call"
           : i == DFT_BY_COUNT + 1 ? "instance"
                                   : NULL;
}

static void deny_key(const char *wrong)
{
    const char *words[DFT_BY_COUNT + 3] = {"call", "dir:N", "instance"};

    if (strcspn(wrong, ",") == 8 && !memcmp(wrong, "instance", 8)) {
        fputs("dftmerge summary: --by instance goes by itself, without other keys\n", stderr);
        return;
    }
    for (unsigned by = 0; by < DFT_BY_COUNT; by++)
        words[by + 3] = dft_by_word((enum dft_by)by);
    fprintf(stderr, "dftmerge summary: --by %s: no such key.", *wrong ? wrong : "(empty)");
    dft_say_words(wrong, "There are", words, DFT_BY_COUNT + 3);
}

static int parse_keys(struct dft_summary *summary, const struct asked *asked)
{
    const char *wrong;
    int64_t width;

    summary->by = asked->by != NULL;
    summary->query.events = asked->events;
    if (dft_query_parse(&summary->query, asked->by ? asked->by : "call", &wrong)) {
        deny_key(wrong);
        return -EINVAL;
    }
    if (dft_query_files(&summary->query) > 1) {
        fprintf(stderr,
                "dftmerge summary --by %s: file, dir, pattern, ext and mount are each a way to put files together: one "
                "of them at a time\n",
                asked->by);
        return -EINVAL;
    }
    if (!asked->width)
        return 0;
    if (dft_filter_seconds(&width, asked->width) || width <= 0 || (uint64_t)width > DFT_INTERVAL_NS_MAX) {
        fprintf(stderr, "dftmerge summary: --width %s: not a number of seconds, as in 0.5\n", asked->width);
        return -EINVAL;
    }
    summary->query.width_ns = (uint64_t)width;
    return 0;
}

static int sorts_by_key(const struct dft_summary *summary)
{
    const struct dft_answer empty = {.query = summary->query};
    struct dft_sorting sorting;

    return !dft_order_find(&empty, summary->options->sort, &sorting) && sorting.column < 0;
}

static int check_tree(const struct dft_summary *summary, const struct asked *asked)
{
    enum dft_by by = summary->query.by[0];
    const char *why = summary->hist ? "the tree goes without --hist"
                      : summary->query.nby != 1 || (by != DFT_BY_DIR && by != DFT_BY_STACK)
                          ? "the tree is of directories or call stacks: leave out --by, or give dir, dir:N or stack"
                      : summary->options->json || summary->options->csv
                          ? "the tree is for people: for programs, --by alone has the same numbers without sums"
                      : sorts_by_key(summary) ? "siblings are in order of a number: --sort time, calls, bytes ..."
                                              : NULL;

    if (!asked->tree || !why)
        return 0;
    fprintf(stderr, "dftmerge summary: --tree: %s\n", why);
    return -EINVAL;
}

/* Wrong columns are found before the work, not after it. */
static int check_sort(const struct dft_summary *summary)
{
    const struct dft_order order = {.column = summary->options->sort};
    const char *words[DFT_ORDER_WORDS], *nearest;
    size_t count;

    if (!dft_order_check(&order, &summary->query))
        return 0;
    count = dft_order_words(&summary->query, order.column, &nearest, words);
    fprintf(stderr, "dftmerge summary: --sort %s: no such column, or several begin so.", summary->options->sort);
    if (nearest)
        fprintf(stderr, " Did you mean %s?", nearest);
    dft_say_words(NULL, "There are, beside the names of JSON,", words, count);
    return -EINVAL;
}

static int has_key(const struct dft_query *query, enum dft_by by)
{
    return memchr(query->by, by, query->nby) != NULL;
}

/* Groups of processes alone, of which people want the I/O, as on the page; programs get all, and
 * choose. */
static int is_of_processes(const struct dft_summary *summary)
{
    static const uint8_t keys[] = {DFT_BY_RANK,    DFT_BY_PID,  DFT_BY_HOST, DFT_BY_PROCESS,
                                   DFT_BY_PROGRAM, DFT_BY_ROLE, DFT_BY_RUN,  DFT_BY_JOB};
    const struct dft_filter *filter = &summary->options->filter;
    int is = !summary->options->json && !summary->options->csv;

    for (unsigned i = 0; i < summary->query.nby; i++)
        is &= memchr(keys, summary->query.by[i], sizeof keys) != NULL;
    return is && !dft_filter_has_names(filter) && !dft_filter_has(filter, DFT_FILTER_OP) &&
           !dft_filter_has(filter, DFT_FILTER_CLASS);
}

/* Profiles have periods, which can be shared out evenly, or put together, and no other way. Returns
 * whether that is said. */
static int cuts_periods(const struct dft_summary *summary, const struct asked *asked)
{
    uint64_t width = summary->query.width_ns, period;

    if (!asked->width || !has_key(&summary->query, DFT_BY_TIME) || dft_query_period(summary->source, &period) ||
        !period || !(period % width) || !(width % period))
        return 0;
    fprintf(stderr,
            "dftmerge summary: --width %s: the traces have profiles with periods of %g s, which this neither divides "
            "nor is a multiple of\n",
            asked->width, (double)period / 1e9);
    return 1;
}

/* What is about the whole page. */
static int check_page(struct dft_summary *summary, const struct asked *asked)
{
    if (summary->all && (!summary->options->json || summary->by)) {
        fprintf(stderr, "dftmerge summary: --all is for the whole page as JSON: --all --json, without --by\n");
        return -EINVAL;
    }
    return dft_limits_choose(&summary->limits, "summary", asked->rules, asked->no_risk);
}

/* By stack alone people get the tree. */
static int is_tree(const struct dft_summary *summary, const struct asked *asked)
{
    return asked->tree || (summary->query.nby == 1 && summary->query.by[0] == DFT_BY_STACK && !summary->hist &&
                           !summary->options->json && !summary->options->csv && !sorts_by_key(summary));
}

static int write_summary(struct dft_summary *summary, const struct asked *asked)
{
    if (is_tree(summary, asked))
        return dft_summary_tree(summary);
    if (summary->options->json)
        return dft_summary_json(stdout, summary);
    return summary->options->csv ? dft_summary_csv(summary) : dft_summary_text(summary);
}

/* What is in memory of one rank alone. */
static int run_instances(struct dft_summary *summary, struct dft_options *options, const struct asked *asked)
{
    int unwanted = asked->tree || asked->width || summary->hist;
    int code = DFT_EXIT_USAGE, rc = unwanted ? -EINVAL : dft_summary_instances_check(summary);

    if (unwanted)
        fputs("dftmerge summary: --by instance goes without --tree, --width and --hist\n", stderr);
    if (rc || !dft_comm_alone("summary --by instance", options->source.quiet)) {
        dft_options_fini(options);
        return rc ? code : DFT_EXIT_OK;
    }
    if (dft_command_begin(options, &summary->source, &code))
        return code;
    code = DFT_EXIT_BAD;
    if (!dft_command_aggregates(summary->source, "summary --by instance")) {
        rc = dft_summary_instances(summary);
        code = rc ? DFT_EXIT_BAD : DFT_EXIT_OK;
        if (rc)
            fprintf(stderr, "dftmerge summary: %s\n", strerror(-rc));
    }
    return dft_command_end(options, summary->source, code);
}

static int run(int argc, char **argv)
{
    struct dft_options options;
    struct dft_summary summary = {.options = &options};
    struct asked asked = {0};
    const struct dft_option own[] = {
        {"by", 'b', "KEYS", &asked.by, NULL, "Group by these, separated by commas (default: call)", .word = key_word},
        {"width", 0, "SECONDS", &asked.width, NULL, "Width of time groups (default: the traces' interval)"},
        {"events", 0, NULL, NULL, &asked.events,
         "Count events, even where sums answer: slower; adds busy_union_ns and in_flight_max"},
        {"tree", 0, NULL, NULL, &asked.tree,
         "Directories as a tree (call stacks: --by stack), each with all that is below it"},
        {"all", 0, NULL, NULL, &summary.all,
         "With --json: the whole page in one object: findings, classes, files, ranks ..."},
        {"hist", 0, NULL, NULL, &summary.hist,
         "Histograms of durations and of sizes, of all I/O or of each group of --by"},
        {"rules", 0, "FILE", &asked.rules, NULL, "Take limits of findings from FILE (see dftmerge findings)"},
        {"no-risk", 0, NULL, NULL, &asked.no_risk, "Leave out the risks among the findings"},
        {0},
    };
    int code, rc;

    if (dft_options_parse(&options, &dft_command_summary, own, argc, argv, &code))
        return code;
    if (asked.tree && !asked.by)
        asked.by = "dir";
    if (asked.by && !strcmp(asked.by, "instance"))
        return run_instances(&summary, &options, &asked);
    if (parse_keys(&summary, &asked) || check_tree(&summary, &asked) || check_sort(&summary) ||
        check_page(&summary, &asked) || dft_histograms_check(&summary)) {
        dft_options_fini(&options);
        return DFT_EXIT_USAGE;
    }
    if (!options.sort && has_key(&summary.query, DFT_BY_TIME))
        options.sort = "t_ns"; /* time goes on from line to line */
    if (is_of_processes(&summary))
        summary.query.classes = DFT_CLASSES_IO;
    options.only_queries = 1;
    options.all_runs |= has_key(&summary.query, DFT_BY_RUN) || has_key(&summary.query, DFT_BY_JOB);
    dft_command_take_newest(&options);
    if (dft_command_begin(&options, &summary.source, &code))
        return code;
    if (cuts_periods(&summary, &asked))
        return dft_command_end(&options, summary.source, DFT_EXIT_USAGE);
    dft_source_note_outside(summary.source);
    rc = dft_job_collect(&summary.job, summary.source);
    if (!rc) {
        dft_job_filter_flights(&summary.job, summary.source, &options.filter);
        rc = write_summary(&summary, &asked);
    }
    if (rc == -E2BIG)
        fputs("dftmerge summary: --hist: too many groups for histograms in memory: fewer keys, or a filter\n", stderr);
    else if (rc)
        fprintf(stderr, "dftmerge summary: %s\n", strerror(-rc));
    dft_job_fini(&summary.job);
    return dft_command_end(&options, summary.source, rc ? DFT_EXIT_BAD : DFT_EXIT_OK);
}

const struct dft_command dft_command_summary = {
    .name = "summary",
    .arguments = "PATH...",
    .brief = "Where the I/O time goes: by call, file and rank",
    .details =
        "Keys: call (category and name), cat, name, region, file, dir, dir:N (the first N parts), pattern, ext "
        "(of the file's name), mount (point), rank, pid, host, tid, process, program, role, time, op, class, size "
        "(of what was asked for), access (pattern), errno, run, job, and with DFTRACER_STACK stack and line (of "
        "code).\n"
        "By itself instance: each time that a region (--region) was open, with the I/O meanwhile.\n"
        "- Times are sums over calls. Self time is without what is directly inside a region.\n"
        "- Percentiles are of durations, within 1.6 %.\n"
        "- Groups by file, dir, pattern, ext or mount leave out calls without a file.\n"
        "- Groups by rank, pid, host, process, program, role, run or job are of I/O alone on the screen: role,class "
        "has all. In I/O is what reads, writes, syncs, metadata and start-up take; waiting is not.\n"
        "- In patterns " DFT_PATTERN_RULE ".\n"
        "- By time a call counts where it starts. Busy is the part of all calls that lies in the interval. In "
        "flight is how many calls were under way on average (in_flight_max in JSON: at most).",
    .example = "dftmerge summary --by file,rank --name 'read,pread*' --top 20 traces/",
    .takes = DFT_TAKES_JSON | DFT_TAKES_CSV | DFT_TAKES_FILTER | DFT_TAKES_TOP | DFT_TAKES_SORT | DFT_TAKES_CLASSES |
             DFT_TAKES_RANKS,
    .sort_word = dft_order_title,
    .run = run,
};
