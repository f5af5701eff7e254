/* SPDX-License-Identifier: MIT */
/* Options of dftmerge's commands, the common ones and a command's own. One table serves getopt_long
 * and --help. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/aggregate.h"
#include "base/settings.h"
#include "mpi/comm.h"
#include "command/command.h"

enum option_id {
    OPT_JSON = 256,
    OPT_CSV,
    OPT_THREADS,
    OPT_FROM,
    OPT_TO,
    OPT_RANK,
    OPT_PID,
    OPT_CAT,
    OPT_NAME,
    OPT_FILE,
    OPT_TOP,
    OPT_SORT,
    OPT_ALIGN,
    OPT_DEDUPE,
    OPT_NO_INDEX,
    OPT_PERIOD,
    OPT_PERIOD_ENDS,
    OPT_FILES_FROM,
    OPT_JOB,
    OPT_RUN,
    OPT_QUIET,
    OPT_HELP,
    OPT_OWN /* + position in the command's own table */
};

#define OF_TRACES UINT32_MAX /* every command that reads traces */

struct common {
    int id;
    char letter;
    const char *name;
    const char *argument;
    unsigned takes; /* 0: every command; else DFT_TAKES_, or OF_TRACES */
    const char *help;
};

static const struct common common_options[] = {
    {OPT_JSON, 0, "json", NULL, DFT_TAKES_JSON, "for programs: JSON"},
    {OPT_CSV, 0, "csv", NULL, DFT_TAKES_CSV, "for programs: comma-separated values"},
    {OPT_TOP, 0, "top", "N", DFT_TAKES_TOP, "only the first N lines of each table"},
    {OPT_SORT, 0, "sort", "KEY", DFT_TAKES_SORT, "order by this column (numbers: largest first)"},
    {OPT_FROM, 0, "from", "SECONDS", DFT_TAKES_FILTER, "only events that start at or after this time"},
    {OPT_TO, 0, "to", "SECONDS", DFT_TAKES_FILTER, "... and before this one (from the start of the first process)"},
    {OPT_RANK, 0, "rank", "LIST", DFT_TAKES_FILTER, "only these ranks, e.g. 0,4-7"},
    {OPT_PID, 0, "pid", "LIST", DFT_TAKES_FILTER, "only these process ids"},
    {OPT_CAT, 0, "cat", "LIST", DFT_TAKES_FILTER, "only these categories, e.g. POSIX,STDIO; patterns work"},
    {OPT_NAME, 0, "name", "LIST", DFT_TAKES_FILTER, "only calls and regions with these names, e.g. 'read,p*'"},
    {OPT_FILE, 0, "file", "GLOB", DFT_TAKES_FILTER, "only events on files whose absolute path fits; may be repeated"},
    {OPT_ALIGN, 0, "align", "HOW", DFT_TAKES_ALIGN,
     "correct times: clocks (CLOCK records), or an event that ends in all ranks at once"},
    {OPT_JOB, 0, "job", "LIST", OF_TRACES, "only these jobs, if there are several (see dftmerge ps)"},
    {OPT_RUN, 0, "run", "LIST", OF_TRACES, "only these runs, if there are several (see dftmerge ps); all: all of them"},
    {OPT_DEDUPE, 0, "dedupe", NULL, OF_TRACES, "DFTracer's traces: leave out lines that stand in a file again"},
    {OPT_FILES_FROM, 0, "files-from", "FILE", OF_TRACES,
     "further PATHs, one a line or before each NUL (-: standard input)"},
    {OPT_NO_INDEX, 0, "no-index", NULL, OF_TRACES,
     "DFTracer's traces: convert them anew, and keep nothing for the next time"},
    {OPT_PERIOD, 0, "profile-granularity", "SECONDS", OF_TRACES,
     "DFTracer's profiles: the period of a record (default: as the trace says, else 5)"},
    {OPT_PERIOD_ENDS, 0, "profile-end", NULL, OF_TRACES, "DFTracer's profiles: ts is the end of the period"},
    {OPT_THREADS, 0, "threads", "N", OF_TRACES, "threads that read (default: one a CPU, at most 16)"},
    {OPT_QUIET, 'q', "quiet", NULL, 0, "no progress and no notes on standard error"},
    {OPT_HELP, 'h', "help", NULL, 0, "this text"},
};
#define COMMON_COUNT (sizeof common_options / sizeof *common_options)
#define OWN_MAX      32

/* Does the command take a common option? A command's own option of that name comes first. --help
 * does not show an alias. */
static int taken(const struct dft_command *command, const struct dft_option *own, const struct common *option,
                 int for_help)
{
    for (; own && own->name; own++)
        if (!strcmp(own->name, option->name) && (own->help || !for_help))
            return 0;
    if (option->takes == OF_TRACES)
        return !(command->takes & DFT_TAKES_NONE);
    return !option->takes || (command->takes & option->takes);
}

static void help_line(char letter, const char *name, const char *argument, const char *text)
{
    char left[64];
    int n = letter ? snprintf(left, sizeof left, "-%c, ", letter) : snprintf(left, sizeof left, "    ");

    snprintf(left + n, sizeof left - (size_t)n, "--%s%s%s", name, argument ? " " : "", argument ? argument : "");
    printf("  %-26s %s\n", left, text);
}

static void help(const struct dft_command *command, const struct dft_option *own)
{
    printf("Usage: dftmerge %s [OPTION...] %s\n\n%s.\n", command->name, command->arguments, command->brief);
    if (command->details)
        printf("\n%s\n", command->details);
    printf("\nOptions:\n");
    for (const struct dft_option *option = own; option && option->name; option++)
        if (option->help)
            help_line(option->letter, option->name, option->argument, option->help);
    for (size_t i = 0; i < COMMON_COUNT; i++) {
        const struct common *option = &common_options[i];

        if (taken(command, own, option, 1))
            help_line(option->letter, option->name, option->argument, option->help);
    }
    if (!(command->takes & DFT_TAKES_NONE))
        printf("\nPATH is a trace (.dft, or .pfw and .pfw.gz of DFTracer), what a running or killed process left\n"
               "(.dft.live), a directory (searched), or a pattern in quotes.\n");
    if (command->example)
        printf("\nExample:\n  %s\n", command->example);
}

/* May paths be missing? */
static int needs_paths(const struct dft_command *command, const struct dft_option *own)
{
    for (; own && own->name; own++)
        if (own->alone && *own->flag)
            return 0;
    return !(command->takes & DFT_TAKES_NONE);
}

/* Makes the tables for getopt_long. Returns the number of the command's own options. */
static int make_table(const struct dft_command *command, const struct dft_option *own, struct option *table,
                      char *letters)
{
    int n = 0, count = 0;

    *letters++ = ':';
    for (; own && own[count].name && count < OWN_MAX; count++) {
        const struct dft_option *option = &own[count];

        table[n++] =
            (struct option){option->name, option->argument ? required_argument : no_argument, NULL, OPT_OWN + count};
        if (option->letter) {
            *letters++ = option->letter;
            if (option->argument)
                *letters++ = ':';
        }
    }
    for (size_t i = 0; i < COMMON_COUNT; i++) {
        const struct common *option = &common_options[i];

        if (!taken(command, own, option, 0))
            continue;
        table[n++] =
            (struct option){option->name, option->argument ? required_argument : no_argument, NULL, option->id};
        if (option->letter)
            *letters++ = option->letter;
    }
    *letters = 0;
    table[n] = (struct option){0};
    return count;
}

static int parse_count(uint64_t *value, const char *text, uint64_t max)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno || *end || *text < '0' || *text > '9' || !*value || *value > max ? -EINVAL : 0;
}

static int parse_period(uint64_t *period_ns, const char *text)
{
    int64_t ns;

    if (dft_filter_seconds(&ns, text) || ns <= 0 || (uint64_t)ns > DFT_INTERVAL_NS_MAX)
        return -EINVAL;
    *period_ns = (uint64_t)ns;
    return 0;
}

static int set_common(struct dft_options *options, int id, char *value)
{
    struct dft_filter *filter = &options->filter;
    uint64_t n = 0;
    int rc = 0;

    switch (id) {
    case OPT_JSON:
        options->json = 1;
        break;
    case OPT_CSV:
        options->csv = 1;
        break;
    case OPT_QUIET:
        options->source.quiet = 1;
        break;
    case OPT_DEDUPE:
        options->source.dedupe = 1;
        break;
    case OPT_JOB:
        options->source.jobs = value;
        break;
    case OPT_RUN:
        options->source.runs = strcmp(value, "all") ? value : NULL;
        options->all_runs = !options->source.runs;
        break;
    case OPT_FILES_FROM:
        options->files_from = value;
        break;
    case OPT_NO_INDEX:
        options->source.no_index = 1;
        break;
    case OPT_PERIOD:
        rc = parse_period(&options->source.period_ns, value);
        break;
    case OPT_PERIOD_ENDS:
        options->source.period_ends = 1;
        break;
    case OPT_SORT:
        options->sort = value;
        break;
    case OPT_ALIGN:
        options->align = value;
        break;
    case OPT_TOP:
        rc = parse_count(&options->top, value, UINT32_MAX);
        break;
    case OPT_THREADS:
        rc = parse_count(&n, value, 1024);
        options->source.threads = (unsigned)n;
        break;
    case OPT_FROM:
        filter->has_from = 1;
        rc = dft_filter_seconds(&filter->from_rel_ns, value);
        break;
    case OPT_TO:
        filter->has_to = 1;
        rc = dft_filter_seconds(&filter->to_rel_ns, value);
        break;
    case OPT_RANK:
        rc = dft_filter_add_ranges(&filter->ranks, &filter->nranks, value);
        break;
    case OPT_PID:
        rc = dft_filter_add_ranges(&filter->pids, &filter->npids, value);
        break;
    case OPT_CAT:
        rc = dft_filter_add_patterns(&filter->cats, &filter->ncats, value);
        break;
    case OPT_NAME:
        rc = dft_filter_add_patterns(&filter->names, &filter->nnames, value);
        break;
    case OPT_FILE:
        rc = dft_filter_add_patterns(&filter->files, &filter->nfiles, value);
        break;
    }
    return rc;
}

static int usage(const struct dft_command *command)
{
    fprintf(stderr, "dftmerge %s: see `dftmerge %s --help`\n", command->name, command->name);
    return DFT_EXIT_USAGE;
}

static const char *name_of(const struct option *table, int id)
{
    for (; table->name; table++)
        if (table->val == id)
            return table->name;
    return "";
}

/* Takes one option from getopt_long. Returns 0: go on, 1: done with *code. */
static int take_option(struct dft_options *options, const struct dft_command *command, const struct dft_option *own,
                       const struct option *table, int id, char **argv, int *code)
{
    int rc;

    if (id == OPT_HELP || id == 'h') {
        help(command, own);
        *code = fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
        return 1;
    }
    if (id == '?' || id == ':') {
        fprintf(stderr, "dftmerge %s: %s: %s\n", command->name, argv[optind - 1],
                id == ':' ? "its argument is missing" : "no such option");
        *code = usage(command);
        return 1;
    }
    if (id < 256 && id != 'q')
        for (int i = 0; own && own[i].name; i++)
            if (own[i].letter == id)
                id = OPT_OWN + i;
    if (id >= OPT_OWN) {
        const struct dft_option *option = &own[id - OPT_OWN];

        if (option->flag)
            *option->flag = 1;
        else
            *option->text = optarg;
        return 0;
    }
    rc = set_common(options, id == 'q' ? OPT_QUIET : id, optarg);
    if (!rc)
        return 0;
    fprintf(stderr, "dftmerge %s: --%s %s: %s\n", command->name, name_of(table, id), optarg,
            rc == -ENOMEM ? "no memory" : "this cannot be understood");
    *code = usage(command);
    return 1;
}

int dft_options_parse(struct dft_options *options, const struct dft_command *command, const struct dft_option *own,
                      int argc, char **argv, int *code)
{
    struct option table[OWN_MAX + COMMON_COUNT + 1];
    char letters[2 * OWN_MAX + 16];
    int id;

    /* a file beyond the size limit becomes an error with a message, and its begun file is
     * removed */
    signal(SIGXFSZ, SIG_IGN);
    memset(options, 0, sizeof *options);
    dft_filter_init(&options->filter);
    make_table(command, own, table, letters);
    optind = 0; /* GNU: start anew */
    opterr = 0;
    while ((id = getopt_long(argc, argv, letters, table, NULL)) != -1)
        if (take_option(options, command, own, table, id, argv, code))
            goto done;
    options->source.paths = argv + optind;
    options->source.npaths = argc - optind;
    if (options->files_from) {
        /* Only rank 0 of many ranks has standard input, and only rank 0 looks for the files. */
        int rc = dft_comm_rank()
                     ? 0
                     : dft_path_list_read(&options->given, options->files_from, argv + optind, argc - optind);

        dft_comm_broadcast(&rc, sizeof rc);
        if (rc) {
            fprintf(stderr, "dftmerge %s: %s: %s\n", command->name, options->files_from, strerror(-rc));
            *code = DFT_EXIT_USAGE;
            goto done;
        }
        options->source.paths = options->given.paths;
        options->source.npaths = options->given.count;
        dft_comm_broadcast(&options->source.npaths, sizeof options->source.npaths);
    }
    if (options->filter.has_from && options->filter.has_to && options->filter.to_rel_ns < options->filter.from_rel_ns) {
        fprintf(stderr, "dftmerge %s: --to lies before --from: both are seconds from the start of the first process\n",
                command->name);
        *code = usage(command);
        goto done;
    }
    if (options->json && options->csv) {
        fprintf(stderr, "dftmerge %s: --json and --csv exclude each other\n", command->name);
        *code = usage(command);
        goto done;
    }
    if (!options->source.npaths && needs_paths(command, own)) {
        fprintf(stderr, "dftmerge %s: which traces? Name files (.dft) or the directory they are in\n", command->name);
        *code = usage(command);
        goto done;
    }
    if (dft_settings_check()) {
        *code = DFT_EXIT_USAGE;
        goto done;
    }
    if ((command->takes & DFT_TAKES_RANKS) || dft_comm_alone(command->name, options->source.quiet))
        return 0;
    *code = DFT_EXIT_OK;
done:
    dft_options_fini(options);
    return 1;
}

void dft_options_fini(struct dft_options *options)
{
    dft_clocks_fini(&options->clocks);
    dft_filter_fini(&options->filter);
    dft_path_list_fini(&options->given);
}
