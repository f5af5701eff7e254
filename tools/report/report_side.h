/* SPDX-License-Identifier: MIT */
/* A run of a page, from its options to its data: opening the source, and all that is made of it. */
#ifndef DFT_REPORT_SIDE_H
#define DFT_REPORT_SIDE_H

#include "report/report.h"

struct dft_report_side {
    struct dft_options options;
    struct dft_source *source; /* open, once the side was made */
    struct dft_report report;
    const char *spans;               /* the caller's; see struct dft_report */
    const struct dft_limits *limits; /* the same */
    char *head;                      /* JSON */
};

/* Makes the data of a side from its options. `command` begins messages. `at`: where its tables lie
 * among those of the page. `path`: where the page goes, which must be none of the traces; NULL:
 * nowhere. Returns 0, or 1 after an error with *code. The caller calls dft_report_side_end, which
 * returns `code`, or the exit code of the side's own notes where `code` is 0. */
int dft_report_side_make(struct dft_report_side *side, const char *command, const char *name, uint64_t at,
                         const char *path, int *code);
int dft_report_side_end(struct dft_report_side *side, int code);

#endif
