/* SPDX-License-Identifier: MIT */
/* Help texts on standard output, in lines that fit the terminal. */
#ifndef DFT_HELP_H
#define DFT_HELP_H

#include "command/command.h"

/* How to call the command, what it does, and an example. */
void dft_help_head(const struct dft_command *command);
/* A word and what it means, behind what stands before it in the line. */
void dft_help_row(const char *before, const char *word, const char *meaning);
/* Lines of a text, each one wrapped: below its text where it begins with "- ", or with a word and two blanks or
 * more. */
void dft_help_text(const char *text);
/* What `dftmerge COMMAND --help` prints. `own` may be NULL. */
void dft_help_command(const struct dft_command *command, const struct dft_option *own);
/* What `dftmerge help filters` prints: the options that choose events and traces, which many commands have. */
void dft_help_filters(void);

#endif
