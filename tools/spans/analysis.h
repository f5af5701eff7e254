/* SPDX-License-Identifier: MIT */
/* What all analyses begin and end with: options, the database, its roots, and the picture's file. */
#ifndef DFT_SPANS_ANALYSIS_H
#define DFT_SPANS_ANALYSIS_H

#include <stdio.h>

#include "spans/asked.h"
#include "spans/walk.h"

struct dft_spans_analysis {
    struct dft_spans_asked asked;
    struct dft_spans_model model;
    struct dft_spans_walk walk;
    uint32_t type; /* of the roots, where the verb takes --root */
};

/* Parses, reads the database, and finds the roots where the verb takes --root. Returns 0, and the
 * caller calls dft_spans_analysis_end; or 1, and *code is the exit code. */
int dft_spans_analysis_begin(struct dft_spans_analysis *analysis, const struct dft_command *verb, unsigned takes,
                             int argc, char **argv, int *code);
/* `rc`: 0, or -ENOMEM, which is said; else the exit code. Returns the exit code. */
int dft_spans_analysis_end(struct dft_spans_analysis *analysis, int rc);

/* Writes the picture that -o names: `draw` writes it to a stream. Returns 0, -ENOMEM, or
 * DFT_EXIT_BAD after an error. */
int dft_spans_draw(const struct dft_spans_asked *asked, int (*draw)(void *context, FILE *out), void *context);

#endif
