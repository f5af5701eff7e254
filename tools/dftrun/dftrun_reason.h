/* SPDX-License-Identifier: MIT */
/* Says why nothing was recorded, or only a part, and what to do about it. */
#ifndef DFT_DFTRUN_REASON_H
#define DFT_DFTRUN_REASON_H

#include "dftrun/dftrun.h"

/* Is the variable set to a word for yes? */
int dft_run_is_on(const char *name);
/* Does COMMAND, or its script, take LD_PRELOAD away from what it runs? */
int dft_reason_cleaned(const struct dft_run *run, struct dft_reason *reason);
/* Is there a program behind COMMAND ("timeout 5 ./app") that cannot be traced? */
int dft_reason_wrapped(const struct dft_run *run, struct dft_reason *reason);
/* What to do when COMMAND cannot be run; NULL: not known. */
const char *dft_reason_exec(const char *command, int error);
/* The text of the script that COMMAND is, or the words of COMMAND; *where: which. From malloc; NULL:
 * no memory. */
char *dft_reason_lines(const struct dft_run *run, const char **where);
/* The first command of these lines that takes LD_PRELOAD away, or NULL. Changes the lines. */
const char *dft_reason_find_cleaning(char *lines);
/* Is the word in a list that ends with NULL? */
int dft_reason_is_one_of(const char *word, const char *const *words);
/* The last component of a path. */
const char *dft_reason_base(const char *path);
/* Says why nothing was recorded. */
void dft_reason_print(const struct dft_run *run, const struct dft_outcome *outcome);
/* Says why programs of this run were not traced, where that is known. */
void dft_reason_note(const struct dft_run *run);

#endif
