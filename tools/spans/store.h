/* SPDX-License-Identifier: MIT */
/* Writes spans, events, subspans, facets and metrics into a database. What is there already stays.
 *
 * Functions return 0, -ENOMEM, -EINTR (a signal came), or -EIO: the database had an error, of which
 * stderr says what it was. None of these can be gone on from. */
#ifndef DFT_SPANS_STORE_H
#define DFT_SPANS_STORE_H

#include <sqlite3.h>

#include "base/map.h"
#include "spans/uuid.h"

enum dft_span_table {
    DFT_SPAN_SPANS,
    DFT_SPAN_EVENTS,
    DFT_SPAN_SUBSPANS,
    DFT_SPAN_FACETS,
    DFT_SPAN_METRICS,
    DFT_SPAN_RECORDS,
    DFT_SPAN_IDENTITIES,
    DFT_SPAN_TABLES
};

struct dft_span_store {
    sqlite3 *db;
    sqlite3_stmt *statements[DFT_SPAN_TABLES];
    uint64_t fresh[DFT_SPAN_TABLES], known[DFT_SPAN_TABLES]; /* rows that came, and that were there */
    struct dft_map seen;                                     /* spans and subspans that need no asking */
    int quiet_known;                                         /* what is there already is not counted */
    int is_said;                                             /* stderr says already why the import ends */
};

int dft_span_store_init(struct dft_span_store *store, sqlite3 *db);
void dft_span_store_fini(struct dft_span_store *store);
/* Sets the counts to 0. What was seen before a rollback is forgotten, too. */
void dft_span_store_begin(struct dft_span_store *store);

/* A span is known by its type, the run that it belongs to (may be empty), and its id there. Its UUID
 * comes from these. The note (bytes may be NULL) is that of the first who puts it. */
struct dft_span_name {
    struct dft_text type, run, id, note;
};
int dft_span_put(struct dft_span_store *store, const struct dft_span_name *span, struct dft_uuid *uuid);
/* The UUID alone. */
void dft_span_uuid(const struct dft_span_name *span, struct dft_uuid *uuid);
/* A span with a UUID of the caller's, which no importer finds by its id. */
int dft_span_put_as(struct dft_span_store *store, const struct dft_uuid *uuid, struct dft_text type,
                    struct dft_text note);
/* Gives a span a further name, for views that are joined at the end. */
int dft_span_identify(struct dft_span_store *store, const struct dft_uuid *span, const char *kind, struct dft_text run,
                      struct dft_text id);

int dft_span_event(struct dft_span_store *store, const struct dft_uuid *span, int64_t ns, struct dft_text type,
                   struct dft_text note);
int dft_span_below(struct dft_span_store *store, const struct dft_uuid *super, const struct dft_uuid *sub,
                   struct dft_text key, struct dft_text note);
int dft_span_facet(struct dft_span_store *store, const struct dft_uuid *left, const struct dft_uuid *right,
                   const char *note);
int dft_span_metric(struct dft_span_store *store, const struct dft_uuid *span, int64_t ns, struct dft_text key,
                    struct dft_text value);
int dft_span_metric_number(struct dft_span_store *store, const struct dft_uuid *span, int64_t ns, const char *key,
                           int64_t value);
/* `place`: distinguishes a record from an equal one. */
int dft_span_record(struct dft_span_store *store, struct dft_text json, struct dft_text place, const char *file,
                    uint64_t line);

#endif
