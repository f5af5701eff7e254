/* SPDX-License-Identifier: MIT */
/* What a comparison consists of, for the files that fill it and show it. */
#ifndef DFT_COMPARE_COMPARISON_H
#define DFT_COMPARE_COMPARISON_H

#include "compare/compare.h"

/* The answer that a table is made of. */
const struct dft_answer *dft_compare_answer(const struct dft_compared_run *run, enum dft_compared table);
const char *dft_measure_name(enum dft_measure measure); /* "time_p50_ns" */
const char *dft_measure_word(enum dft_measure measure); /* "p50" */
const char *dft_spread_name(enum dft_spread spread);    /* "beyond" */
const char *dft_compared_name(enum dft_compared table); /* "calls" */
/* Has neither side anything to compare? */
int dft_compare_is_empty(const struct dft_comparison *comparison);
/* Is there something, and does no number of any table differ? */
int dft_compare_is_same(const struct dft_comparison *comparison);
/* What is not compared, as a run does not know it; NULL: nothing. */
const char *dft_compare_left_out(const struct dft_comparison *comparison);
/* The text of a name, from the run that has it. */
struct dft_text dft_compare_text(const struct dft_comparison *comparison, uint64_t id, char text[18]);

#endif
