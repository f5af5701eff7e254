/* SPDX-License-Identifier: MIT */
/* Reads a log line by line, with bounded memory. */
#ifndef DFT_SPANS_LINES_H
#define DFT_SPANS_LINES_H

#include <stdio.h>

#include "format/text.h"

#define DFT_LINE_MAX (UINT32_C(1) << 20)

struct dft_log_lines {
    FILE *in;
    char *buffer;
    uint64_t number; /* of the line that was returned last */
    int is_long;     /* the line is longer than DFT_LINE_MAX: its beginning is returned */
};

/* Returns 0 or -errno. The caller calls fini in either case. */
int dft_log_lines_open(struct dft_log_lines *lines, const char *path);
void dft_log_lines_fini(struct dft_log_lines *lines);
/* Gives the next line without its end (LF, or CR LF), with a NUL behind it. Returns 1, 0 (there is
 * none), or -errno. */
int dft_log_lines_next(struct dft_log_lines *lines, struct dft_text *line);

#endif
