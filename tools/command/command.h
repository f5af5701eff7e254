/* SPDX-License-Identifier: MIT */
/* A subcommand of dftmerge: one row of commands.def, and one file. A subcommand has the common
 * options and its own. */
#ifndef DFT_COMMAND_H
#define DFT_COMMAND_H

#include "intake/class_table.h"
#include "intake/clocks.h"
#include "views/filter.h"
#include "base/path_list.h"

/* An option of one command. Either text or flag is set, not both. */
struct dft_option {
    const char *name;              /* long name; the list ends with NULL */
    char letter;                   /* short one, or 0 */
    const char *argument;          /* name of its argument in --help; NULL: a flag */
    const char **text;             /* where the argument goes */
    int *flag;                     /* set to 1 */
    const char *help;              /* NULL: an alias, which --help does not show */
    int alone;                     /* with it, paths may be missing */
    const char *(*word)(size_t i); /* the words that it takes, by number, then NULL; NULL: any */
};

#define DFT_TAKES_JSON    1u
#define DFT_TAKES_CSV     2u
#define DFT_TAKES_PART    4u    /* --from --to --last --rank --pid --host --program --role */
#define DFT_TAKES_NAMES   2048u /* --cat --name */
#define DFT_TAKES_FILES   4096u /* --file --dir --ext --mount */
#define DFT_TAKES_CALLS   64u   /* what else chooses calls: --op --errno ... */
#define DFT_TAKES_FILTER  (DFT_TAKES_PART | DFT_TAKES_NAMES | DFT_TAKES_FILES | DFT_TAKES_CALLS)
#define DFT_TAKES_TOP     8u    /* --top */
#define DFT_TAKES_SORT    512u  /* --sort */
#define DFT_TAKES_NONE    16u   /* paths may be missing */
#define DFT_TAKES_RANKS   256u  /* all ranks of dftmerge-mpi do the command; else one rank does */
#define DFT_TAKES_ALIGN   32u   /* --align */
#define DFT_TAKES_CLASSES 1024u /* --classes */

struct dft_command {
    const char *name;
    const char *arguments;              /* "[PATH...]" */
    const char *brief;                  /* at most 57 columns, for the list of commands */
    const char *details;                /* for --help, see dft_help_text; may be NULL */
    const char *example;                /* one line of shell */
    const char *lacks;                  /* why filters are not taken that other commands take; may be NULL */
    const char *(*sort_word)(size_t i); /* as in struct dft_option, of --sort */
    unsigned takes;
    const struct dft_command *const *verbs; /* named "COMMAND VERB", then NULL (command/verbs.h); NULL: it has none */
    int (*run)(int argc, char **argv);      /* argv[0] is the command's name; returns the exit code */
};

/* The values of the common options. */
struct dft_options {
    /* set by the command: only queries look at events, and they know the texts that they need */
    int only_queries;
    struct dft_source_options source; /* paths, threads, quiet */
    struct dft_filter filter;
    int json, csv;
    uint64_t top; /* 0: not specified */
    const char *sort;
    int all_runs;               /* --run all */
    const char *files_from;     /* --files-from, NULL: not specified */
    struct dft_path_list given; /* the paths in that file */
    const char *align;          /* --align, NULL: not specified */
    struct dft_clocks clocks;   /* the correction by --align, once the source is open */
    const char *classes_from;   /* --classes, NULL: not specified */
    struct dft_class_table classes;
};

#define DFT_EXIT_OK    0
#define DFT_EXIT_BAD   1
#define DFT_EXIT_USAGE 2

/* Parses argv (getopt_long: options and paths in any order, `--` ends options). `own` may be NULL.
 * Returns 0: go on, and call dft_options_fini later; 1: done, and *code is the exit code. The
 * result is 1 after --help or wrong usage. For wrong usage, stderr says what to do next. */
int dft_options_parse(struct dft_options *options, const struct dft_command *command, const struct dft_option *own,
                      int argc, char **argv, int *code);
void dft_options_fini(struct dft_options *options);

/* Takes the newest run alone, where no option says which, and the answer is not for programs. Before
 * dft_command_begin. */
void dft_command_take_newest(struct dft_options *options);
/* How many runs with an id are not left out; *last is the newest of them, or NULL. */
uint32_t dft_command_count_runs(const struct dft_source *source, const struct dft_source_job **last);
/* Prints which of several runs this is, or that there may be several where nothing tells, as the line "run"; nothing
 * where there is one. dft_command_print_newest: only where the newest was taken, for the first line of what a command
 * says. */
void dft_command_print_runs(const struct dft_options *options, const struct dft_source *source);
void dft_command_print_newest(const struct dft_options *options, const struct dft_source *source);

/* Opens the source and begins the filter. For an empty source, says on stderr what to do. Returns
 * 0, or 1 with *code. After 0 the caller calls dft_command_end, which closes the source and flushes
 * stdout. dft_command_end returns `code`, or 1 when something was unreadable or stdout could not be
 * written. */
int dft_command_begin(struct dft_options *options, struct dft_source **source, int *code);
/* Turns "--align HOW" into a correction. HOW is "none", "clocks", or the name of an event. Without
 * such an event a bad note says so, and *clocks changes nothing. Returns 0 or -ENOMEM. */
int dft_command_clocks(const char *how, struct dft_clocks *clocks, struct dft_source *source);
/* Notes that no event passed the filter, if there is a filter, and what would pass. So nobody takes
 * an empty answer for a job without I/O. For the end of a command that has found nothing. The exit
 * code is 1 then, but for JSON and CSV: there an empty answer is an answer. */
void dft_command_nothing(const struct dft_options *options, struct dft_source *source);
int dft_command_end(struct dft_options *options, struct dft_source *source, int code);

#define DFT_COMMAND(group, name, schemas)        extern const struct dft_command dft_command_##name;
#define DFT_COMMAND_VERB(command, name, schemas) extern const struct dft_command dft_command_##name;
#include "command/commands.def"
#undef DFT_COMMAND
#undef DFT_COMMAND_VERB

/* Notes that some events were kept only as aggregates. The note is bad when all were. A command
 * that shows single events cannot show aggregates. Returns whether there is no event to show. */
int dft_command_aggregates(struct dft_source *source, const char *command);

#endif
