/* SPDX-License-Identifier: MIT */
/* What answered a query, in words. */
#ifndef DFT_ANSWER_SOURCE_H
#define DFT_ANSWER_SOURCE_H

#include <stdio.h>

#include "query/answer.h"

const char *dft_answer_source_name(enum dft_answer_source source);
/* "from buckets". Each thread's part comes from its events, where it kept them, else from its aggregates. */
void dft_answer_print_source(FILE *out, const struct dft_answer *answer);

#endif
