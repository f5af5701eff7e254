/* SPDX-License-Identifier: MIT */
/* Sums up what a benchmark must know, and words for what it cannot do; see export_model.h. */
#ifndef DFT_EXPORT_MODEL_FINISH_H
#define DFT_EXPORT_MODEL_FINISH_H

#include "export/export_model.h"

/* Sums up and sorts what was collected, and looks for opens that bypass the cache or wait for the disk. Returns 0 or
 * -ENOMEM. On rank 0 alone. */
int dft_model_finish(struct dft_model *model);
/* Says on standard error that there is nothing to make a benchmark of, and what to do. Returns
 * DFT_EXPORT_SAID. */
int dft_model_say_nothing(const char *format, const char *what);
/* What a process is called: its role, else its program. */
struct dft_text dft_model_who(const struct dft_source_process *process);
/* Writes a line of a comment, "# " before it, in which the text of a trace is harmless. */
void dft_model_comment(FILE *out, struct dft_text text);
/* The list of what could not be taken over: each line goes to the file, as a comment, and to the
 * notes. */
void dft_model_lack(struct dft_model *model, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The lines that both formats have. */
void dft_model_lacks(struct dft_model *model);
/* The line on flags of opens. is_taken: a thread has the flags that most of its files have. */
void dft_model_lack_flags(struct dft_model *model, int is_taken);

#endif
