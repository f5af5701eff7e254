/* SPDX-License-Identifier: MIT */
/* An import: the database that it fills, and the input that is read. Each importer has one entry.
 *
 * IMPORTERS return 0, -ENOENT (the input is of another kind), -EBADMSG (it cannot be read; stderr
 * says why), or an error of the store, which ends the import. */
#ifndef DFT_SPANS_IMPORTING_H
#define DFT_SPANS_IMPORTING_H

#include "spans/store.h"

struct dft_span_rules;

struct dft_span_import {
    struct dft_span_store store;
    const struct dft_span_rules *rules; /* NULL: none */
    int json_lines;                     /* raw records are kept */
    int quiet;
    /* the input */
    const char *path;
    uint64_t line;        /* or row */
    uint64_t broken;      /* lines that could not be used */
    uint64_t nulls;       /* values that a cut-off run has not written */
    uint64_t passed_over; /* lines that say nothing of spans */
    char found[160];      /* what it is */
};

/* Does an error end the whole import? */
static inline int dft_span_is_fatal(int rc)
{
    return rc == -ENOMEM || rc == -EINTR || rc == -EIO;
}

/* Names a line that cannot be used, and counts it. The first of an input are named. */
void dft_span_broken(struct dft_span_import *import, const char *where, const char *why);
/* Says that the input cannot be read. Returns -EBADMSG. */
int dft_span_unreadable(const struct dft_span_import *import, const char *why);

/* A database of Parsl's monitoring. */
int dft_span_import_monitoring(struct dft_span_import *import);
/* Events and binds, or one record a line. */
int dft_span_import_json(struct dft_span_import *import);
/* Logs, line by line: Parsl, Work Queue, High Throughput Executor, METRIC, and rules. */
int dft_span_import_log(struct dft_span_import *import);
/* Traces of ours and of DFTracer, all of them together. */
int dft_span_import_traces(struct dft_span_import *import, char *const *paths, int count, unsigned threads);

/* Joins the views of one run, whichever was imported first. */
int dft_span_join(struct dft_span_import *import);

#endif
