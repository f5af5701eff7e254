/* SPDX-License-Identifier: MIT */
/* The options that commands have in common. */
#ifndef DFT_OPTIONS_TABLE_H
#define DFT_OPTIONS_TABLE_H

#include <stdint.h>

#include "command/command.h"

enum option_id {
    OPT_JSON = 256,
    OPT_CSV,
    OPT_THREADS,
    OPT_TOP,
    OPT_SORT,
    OPT_ALIGN,
    OPT_CLASSES,
    OPT_DEDUPE,
    OPT_NO_INDEX,
    OPT_PERIOD,
    OPT_PERIOD_ENDS,
    OPT_FILES_FROM,
    OPT_JOB,
    OPT_RUN,
    OPT_QUIET,
    OPT_HELP,
    OPT_FILTER,                               /* + enum dft_filter_option */
    OPT_OWN = OPT_FILTER + DFT_FILTER_OPTIONS /* + position in the command's own table */
};

#define OF_TRACES UINT32_MAX /* every command that reads traces */

struct dft_common_option {
    int id;
    char letter;
    const char *name;
    const char *argument;
    unsigned takes; /* 0: every command; else DFT_TAKES_, or OF_TRACES */
    const char *help;
};

#define DFT_COMMON_OPTIONS 38
extern const struct dft_common_option dft_common_options[DFT_COMMON_OPTIONS];

/* Does the command take a common option? A command's own option of that name comes first. --help
 * does not show an alias. */
int dft_takes_option(const struct dft_command *command, const struct dft_option *own,
                     const struct dft_common_option *option, int for_help);
/* What `dftmerge COMMAND --list-options` prints, for programs that make completions: a line for the
 * command and one for each option that --help shows, with tabs between name, letter, argument, the
 * words that the argument may be, and help. */
void dft_options_list(const struct dft_command *command, const struct dft_option *own);

#endif
