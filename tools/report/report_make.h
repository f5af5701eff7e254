/* SPDX-License-Identifier: MIT */
/* The page of one run. */
#ifndef DFT_REPORT_MAKE_H
#define DFT_REPORT_MAKE_H

#include "report/report.h"

/* All of it from a source that is open, as one text of JSON (a RUN of report/README.md) in *head,
 * which the caller frees; `at`: where the bytes of report->data will lie. Returns 0 or -errno. */
int dft_report_make(struct dft_report *report, uint64_t at, char **head);
void dft_report_fini(struct dft_report *report);
/* Notes that something is not there whole. Returns 0 or -ENOMEM. */
int dft_report_thinned(struct dft_report *report, const char *what, uint64_t kept, uint64_t of, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
