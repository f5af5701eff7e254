/* SPDX-License-Identifier: MIT */
/* What a comparison says first, in sentences. */
#ifndef DFT_COMPARE_VERDICT_H
#define DFT_COMPARE_VERDICT_H

#include <stdio.h>

#include "compare/compare.h"

/* Sentences without a full stop at the end. */
struct dft_verdict {
    char *headline; /* what differs, by how much, and where */
    char *evidence;
    char *reason; /* why it is that sure */
    enum dft_repeated_sure sure;
};

/* Returns 0 or -ENOMEM. dft_verdict_fini in both cases. */
int dft_compare_verdict(const struct dft_comparison *comparison, struct dft_verdict *verdict);
void dft_verdict_fini(struct dft_verdict *verdict);

/* compare_sure.c: how sure it is, and why. */
enum dft_repeated_sure dft_compare_sure(FILE *out, const struct dft_comparison *comparison);

/* "rank 2", or "pid 1234" */
void dft_put_process(FILE *out, const struct dft_process *process);
/* compare_repeated.c: the wall time of a side's runs. */
struct dft_repeated dft_compare_wall(const struct dft_comparison *comparison, int side);

#endif
