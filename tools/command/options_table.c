/* SPDX-License-Identifier: MIT */
/* The table of the options that commands have in common: names, arguments, help, and who takes
 * them. */
#include "command/options_table.h"

#include <stdio.h>
#include <string.h>

#define FILTER(option, name, argument, takes, help)                                                                    \
    {                                                                                                                  \
        OPT_FILTER + DFT_FILTER_##option, 0, name, argument, takes, help                                               \
    }
const struct dft_common_option dft_common_options[DFT_COMMON_OPTIONS] = {
    {OPT_JSON, 0, "json", NULL, DFT_TAKES_JSON, "For programs: JSON"},
    {OPT_CSV, 0, "csv", NULL, DFT_TAKES_CSV, "For programs: comma-separated values"},
    {OPT_TOP, 0, "top", "N", DFT_TAKES_TOP, "Only the first N lines of each table (0: all)"},
    {OPT_SORT, 0, "sort", "KEY", DFT_TAKES_SORT,
     "Order by this column: its title, or its name in JSON (numbers: largest first)"},
    FILTER(FROM, "from", "TIME", DFT_TAKES_PART, "Only events that start at or after this time"),
    FILTER(TO, "to", "TIME", DFT_TAKES_PART, "... and before this one (from the first start; -10: from the last end)"),
    FILTER(LAST, "last", "TIME", DFT_TAKES_PART, "Only the last part of the run, e.g. 10s or 2min"),
    FILTER(RANK, "rank", "LIST", DFT_TAKES_PART, "Only these ranks, e.g. 0,4-7"),
    FILTER(PID, "pid", "LIST", DFT_TAKES_PART, "Only these process ids"),
    FILTER(HOST, "host", "LIST", DFT_TAKES_PART, "Only processes on these hosts, e.g. 'node1*'; patterns work"),
    FILTER(PROGRAM, "program", "LIST", DFT_TAKES_PART, "Only processes of these programs, e.g. 'python*'"),
    FILTER(ROLE, "role", "LIST", DFT_TAKES_PART, "Only processes with these roles, e.g. loader"),
    FILTER(CAT, "cat", "LIST", DFT_TAKES_NAMES, "Only these categories, e.g. POSIX,STDIO; patterns work"),
    FILTER(NAME, "name", "LIST", DFT_TAKES_NAMES, "Only calls and regions with these names, e.g. 'read,p*'"),
    FILTER(REGION, "region", "LIST", DFT_TAKES_CALLS, "Only events directly inside regions with these names"),
    FILTER(FILE, "file", "GLOB", DFT_TAKES_FILES,
           "Only events on files whose path fits, e.g. out/*.log or ./in; may be repeated"),
    FILTER(DIR, "dir", "LIST", DFT_TAKES_FILES,
           "Only events on files below these directories, e.g. /scratch,out,../in"),
    FILTER(EXT, "ext", "LIST", DFT_TAKES_FILES, "Only events on files with these extensions, e.g. h5,npy"),
    FILTER(MOUNT, "mount", "LIST", DFT_TAKES_FILES, "Only events on files below these mount points"),
    FILTER(OP, "op", "LIST", DFT_TAKES_CALLS, "Only these operations, e.g. open,stat (see summary --by op)"),
    FILTER(CLASS, "class", "LIST", DFT_TAKES_CALLS, "Only these: read, write, sync, meta, wait, startup, none"),
    FILTER(SIZE, "size", "LIST", DFT_TAKES_CALLS, "Only calls that ask for so many bytes, e.g. 100, 4K-64K, 1M-"),
    FILTER(ACCESS, "access", "LIST", DFT_TAKES_CALLS, "Only random, strided, sequential or consecutive accesses"),
    FILTER(ERRNO, "errno", "LIST", DFT_TAKES_CALLS, "Only calls that failed with these errors, e.g. ENOENT,13"),
    FILTER(ERRORS, "errors", NULL, DFT_TAKES_CALLS, "Only calls that failed"),
    FILTER(SLOWER, "slower-than", "TIME", DFT_TAKES_CALLS,
           "Only calls that took longer, e.g. 1ms (without a unit: seconds)"),
    {OPT_ALIGN, 0, "align", "HOW", DFT_TAKES_ALIGN,
     "Correct times: clocks (CLOCK records), or an event that ends in all ranks at once"},
    {OPT_CLASSES, 0, "classes", "FILE", DFT_TAKES_CLASSES,
     "Classes of files for events, one a line as `startup START /opt/conda` or `read END .h5`"},
    {OPT_JOB, 0, "job", "LIST", OF_TRACES, "Only these jobs, if there are several (see dftmerge ps)"},
    {OPT_RUN, 0, "run", "LIST", OF_TRACES, "Only these runs, if there are several (see dftmerge ps); all; newest"},
    {OPT_DEDUPE, 0, "dedupe", NULL, OF_TRACES, "DFTracer's traces: leave out lines that stand in a file again"},
    {OPT_FILES_FROM, 0, "files-from", "FILE", OF_TRACES,
     "Further PATHs, one a line or before each NUL (-: standard input)"},
    {OPT_NO_INDEX, 0, "no-index", NULL, OF_TRACES,
     "DFTracer's traces: convert them anew, and keep nothing for the next time"},
    {OPT_PERIOD, 0, "profile-granularity", "SECONDS", OF_TRACES,
     "DFTracer's profiles: the period of a record (default: as the trace says, else 5)"},
    {OPT_PERIOD_ENDS, 0, "profile-end", NULL, OF_TRACES, "DFTracer's profiles: ts is the end of the period"},
    {OPT_THREADS, 0, "threads", "N", OF_TRACES, "Threads that read (default: one a CPU, at most 16)"},
    {OPT_QUIET, 'q', "quiet", NULL, 0, "No progress and no notes on standard error"},
    {OPT_HELP, 'h', "help", NULL, 0, "This text"},
};

int dft_takes_option(const struct dft_command *command, const struct dft_option *own,
                     const struct dft_common_option *option, int for_help)
{
    for (; own && own->name; own++)
        if (!strcmp(own->name, option->name) && (own->help || !for_help))
            return 0;
    if (option->takes == OF_TRACES)
        return !(command->takes & DFT_TAKES_NONE);
    return !option->takes || (command->takes & option->takes);
}

static void list_option(char first, const char *name, const char *argument)
{
    const char letter[] = {first, 0};

    printf("option\t%s\t%s\t%s\t", name, letter, argument ? argument : "");
}

static void list_word(size_t i, const char *word)
{
    printf("%s%s", i ? "," : "", word);
}

static void list_common(const struct dft_command *command, const struct dft_common_option *option)
{
    const char *words[DFT_FILTER_WORDS_MAX];
    size_t count =
        option->id < OPT_FILTER ? 0 : dft_filter_words((enum dft_filter_option)(option->id - OPT_FILTER), words);

    list_option(option->letter, option->name, option->argument);
    for (size_t i = 0, shown = 0; i < count; i++)
        if (words[i])
            list_word(shown++, words[i]);
    for (size_t i = 0; option->id == OPT_SORT && command->sort_word && command->sort_word(i); i++)
        list_word(i, command->sort_word(i));
    printf("\t%s\n", option->help);
}

void dft_options_list(const struct dft_command *command, const struct dft_option *own)
{
    printf("command\t%s\t%s\n", command->name, command->brief);
    for (const struct dft_option *option = own; option && option->name; option++) {
        if (!option->help)
            continue;
        list_option(option->letter, option->name, option->argument);
        for (size_t i = 0; option->word && option->word(i); i++)
            list_word(i, option->word(i));
        printf("\t%s\n", option->help);
    }
    for (size_t i = 0; i < DFT_COMMON_OPTIONS; i++)
        if (dft_takes_option(command, own, &dft_common_options[i], 1))
            list_common(command, &dft_common_options[i]);
}
