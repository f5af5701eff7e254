/* SPDX-License-Identifier: MIT */
/* What the formats of export share: the current export, and common readings of an event. */
#ifndef DFT_EXPORTING_H
#define DFT_EXPORTING_H

#include <errno.h>
#include <stdio.h>

#include "base/outfile.h"
#include "base/write_json.h"
#include "format/event.h"
#include "views/filter.h"

/* An error that stderr has already. */
#define DFT_EXPORT_SAID (-ECANCELED)

struct dft_export {
    struct dft_source *source;
    const struct dft_filter *filter;
    const struct dft_names *names; /* all names of the passed event are there */
    FILE *out;
    int is_inside;      /* the path of the file is a name in a directory, which the user did not give */
    uint64_t max_bytes; /* of a file; 0: no limit */
    /* events that the format has no form for; the writer counts them, and they are reported to the user */
    uint64_t left_out;
};

/* A format has one of two ways to write a file, or neither: then it always writes a directory. `write` gives the whole file to `out` on rank 0,
 * and is collective. Errors of the stream are found later. `write_text` writes the file to `path`
 * (event_text.h). Both return 0 or -errno. */
struct dft_exporter {
    const char *name, *help;
    /* the name of its file where OUT is a directory; a format with `write_files` names its files
     * itself */
    const char *file;
    int (*write)(struct dft_export *export);
    int (*write_text)(struct dft_export *export, const char *path);
    /* Writes files, named by the format, into a directory that exists. Says what goes wrong. NULL:
     * the format has one file. */
    int (*write_files)(struct dft_export *export, const char *directory);
    int alone;      /* one rank of dftmerge-mpi does all the work */
    int fits;       /* `write_text` keeps to max_bytes */
    int takes_rows; /* aggregates alone suffice, or nearly so */
};

/* Opens the one file of a format. Returns 0 or -errno. */
int dft_export_open(const struct dft_export *export, struct dft_outfile *out, const char *path);

/* The letter of a phase in Chrome's format. */
char dft_export_phase(const struct dft_event *event, uint8_t op);

/* Names an event that becomes a complete event of no duration in a form without its phase. NULL: a
 * call or region. */
const char *dft_export_mark(const struct dft_event *event, uint8_t op);

/* The argument with this name, or NULL. */
const struct dft_arg *dft_export_argument(const struct dft_export *export, const struct dft_event_at *at,
                                          const char *name);

/* Is the i-th argument the last one with its key? An object of JSON has each key once. */
int dft_export_is_last(const struct dft_event_at *at, uint32_t i);

/* The value of an argument, as a JSON value. */
void dft_export_value(struct dft_json *json, const struct dft_arg *arg);

/* Did the call end, so that its result means something? */
static inline int dft_export_has_result(const struct dft_event_at *at)
{
    return at->event->phase == DFT_PHASE_COMPLETE && !(at->event->bits & DFT_BIT_OPEN) &&
           at->event->result != DFT_RESULT_UNKNOWN;
}

#endif
