/* SPDX-License-Identifier: MIT */
/* What the user of an analysis asks for: the options that the verbs have in common. */
#ifndef DFT_SPANS_ASKED_H
#define DFT_SPANS_ASKED_H

#include "command/command.h"
#include "spans/verbs.h"

#define DFT_SPANS_TAKES_ROOT     1u
#define DFT_SPANS_TAKES_ENDS     2u /* --from --to */
#define DFT_SPANS_TAKES_ALL      4u
#define DFT_SPANS_TAKES_EVENT    8u
#define DFT_SPANS_TAKES_INTERVAL 16u
#define DFT_SPANS_TAKES_KIND     32u
#define DFT_SPANS_TAKES_OUTPUT   64u
#define DFT_SPANS_TAKES_SIZE     128u /* --title --width --height */
#define DFT_SPANS_TAKES_CSV      256u
#define DFT_SPANS_TAKES_QUERY    512u /* a second word, and no --json */

#define DFT_SPANS_ROOT "parsl.monitoring.task" /* the default of --root */

struct dft_spans_asked {
    struct dft_options options;
    const struct dft_command *verb;
    const char *file, *query;
    const char *root, *from, *to, *event, *kind, *output, *title;
    int all;
    int64_t interval_ns; /* 0: not specified */
    unsigned width, height;
};

/* Parses what a verb is called with; `takes` is DFT_SPANS_TAKES_. Returns 0: go on, and call
 * dft_spans_asked_end later; 1: done, and *code is the exit code. */
int dft_spans_asked_parse(struct dft_spans_asked *asked, const struct dft_command *verb, unsigned takes, int argc,
                          char **argv, int *code);
/* Flushes standard output. Returns `code`, or 1 when it could not be written. */
int dft_spans_asked_end(struct dft_spans_asked *asked, int code);

#endif
