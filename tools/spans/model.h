/* SPDX-License-Identifier: MIT */
/* The spans, events and edges of a database, in memory: about 100 bytes a span, 16 an event and 12
 * an edge. */
#ifndef DFT_SPANS_MODEL_H
#define DFT_SPANS_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "database/database.h"

#define DFT_SPANS_NONE UINT32_MAX

struct dft_spans_span {
    uint64_t uuid; /* place of its bytes */
    uint32_t length;
    uint32_t type;
};

struct dft_spans_type {
    char *name;
    uint64_t spans;
};

/* A type of event of a type of span. The kinds are in order of their names. */
struct dft_spans_kind {
    char *name;        /* SPANTYPE/EVENT */
    const char *event; /* its end, in `name` */
    uint32_t type;
    uint32_t read; /* its number in the order of reading */
    uint64_t events;
};

struct dft_spans_event {
    int64_t ns;
    uint32_t span, kind;
};

struct dft_spans_edge {
    uint32_t from, to;
    uint32_t is_facet;
};

/* What was passed over. */
struct dft_spans_skipped {
    uint64_t times;   /* events whose time is no number */
    uint64_t orphans; /* events of spans that are not there */
    uint64_t edges;   /* with an end that is not there */
    char *time;       /* the first of these times; NULL: none */
};

struct dft_spans_model {
    sqlite3 *db;
    const char *path;
    char *uuids;
    size_t uuid_bytes, uuid_capacity;
    struct dft_spans_span *spans;
    size_t nspans, spans_capacity;
    struct dft_spans_type *types;
    size_t ntypes, types_capacity;
    struct dft_spans_kind *kinds;
    size_t nkinds, kinds_capacity;
    struct dft_spans_event *events; /* in order of their spans */
    size_t nevents, events_capacity;
    uint64_t *first_event; /* by span, and one more */
    struct dft_spans_edge *edges;
    size_t nedges, edges_capacity;
    struct dft_map span_of, type_of, kind_of; /* while it is read */
    struct dft_spans_skipped skipped;
};

/* Reads a database. Ctrl-C ends it. Returns 0, or -1 after it has said what is wrong; the caller
 * calls dft_spans_model_fini after both. */
int dft_spans_model_read(struct dft_spans_model *model, const char *path);
void dft_spans_model_fini(struct dft_spans_model *model);
/* Notes on standard error what was passed over. */
void dft_spans_model_note(const struct dft_spans_model *model);

/* The type that a user means by a word, or DFT_SPANS_NONE after an error. */
uint32_t dft_spans_model_type(const struct dft_spans_model *model, const char *option, const char *word);
/* The kind of event: SPANTYPE/EVENT, or EVENT where one type of spans has it. DFT_SPANS_NONE after
 * an error. */
uint32_t dft_spans_model_kind(const struct dft_spans_model *model, const char *option, const char *word);

#endif
