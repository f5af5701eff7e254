/* SPDX-License-Identifier: MIT */
/* A log that is read, and those who look for their lines in it.
 *
 * A TAKER gets one line. It returns 1 (the line was its own), 0 (it was not), -EBADMSG (its own, but
 * it makes no sense: log->why says so), or an error of the store. */
#ifndef DFT_SPANS_LOGS_H
#define DFT_SPANS_LOGS_H

#include <errno.h>
#include <stdint.h>

#include "spans/importing.h"
#include "spans/place.h"
#include "spans/scan.h"

enum dft_log_kind {
    DFT_LOG_PARSL,
    DFT_LOG_WORKQUEUE,
    DFT_LOG_FUNCTION,
    DFT_LOG_HTEX,
    DFT_LOG_METRIC,
    DFT_LOG_RULES,
    DFT_LOG_KINDS
};

struct dft_log {
    struct dft_span_import *import;
    struct dft_log_place place;
    const char *why;
    int has_time;
    int64_t ns;                    /* the time at the beginning of the line */
    char *run;                     /* of Parsl, as the log or its place says */
    char manager[64];              /* Work Queue: time and pid of the manager */
    int is_interchange;            /* HTEX: it sent tasks */
    uint64_t taken[DFT_LOG_KINDS]; /* lines, by kind */
};

static inline int dft_log_fail(struct dft_log *log, const char *why)
{
    log->why = why;
    return -EBADMSG;
}

int dft_log_parsl(struct dft_log *log, struct dft_text line);
int dft_log_workqueue(struct dft_log *log, struct dft_text line);
int dft_log_function(struct dft_log *log, struct dft_text line);
int dft_log_htex(struct dft_log *log, struct dft_text line);
int dft_log_metric(struct dft_log *log, struct dft_text line);
int dft_log_rules(struct dft_log *log, struct dft_text line);

/* Is it a transaction log, by its first line? */
int dft_log_is_workqueue(struct dft_text line);
/* Is it what a task of Work Queue wrote, by its place? */
int dft_log_is_function(const struct dft_log *log);

#endif
