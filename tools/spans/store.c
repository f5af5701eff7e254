/* SPDX-License-Identifier: MIT */
/* Writes rows by prepared statements. */
#include "spans/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/write_text.h"
#include "database/database.h"
#include "format/hash.h"
#include "spans/log_time.h"

#define SEEN_MAX (UINT64_C(1) << 21)

static const char *const inserts[DFT_SPAN_TABLES] = {
    [DFT_SPAN_SPANS] = "insert or ignore into main.span (uuid, type, note) values (?, ?, ?)",
    [DFT_SPAN_EVENTS] = "insert or ignore into main.event (uuid, span_uuid, time, type, note) values (?, ?, ?, ?, ?)",
    [DFT_SPAN_SUBSPANS] =
        "insert or ignore into main.subspan (superspan_uuid, subspan_uuid, key, note) values (?, ?, ?, ?)",
    [DFT_SPAN_FACETS] = "insert or ignore into main.facet (left_uuid, right_uuid, note) values (?, ?, ?)",
    [DFT_SPAN_METRICS] = "insert or ignore into main.metric (span_uuid, time, key, value) values (?, ?, ?, ?)",
    [DFT_SPAN_RECORDS] = "insert or ignore into main.record (uuid, json, file, line) values (?, ?, ?, ?)",
    [DFT_SPAN_IDENTITIES] = "insert or ignore into main.identity (kind, run, id, span_uuid) values (?, ?, ?, ?)",
};

int dft_span_store_init(struct dft_span_store *store, sqlite3 *db)
{
    int rc = 0;

    *store = (struct dft_span_store){.db = db};
    for (unsigned i = 0; !rc && i < DFT_SPAN_TABLES; i++)
        rc = dft_database_prepare(db, &store->statements[i], inserts[i], "preparing the import");
    return rc;
}

void dft_span_store_fini(struct dft_span_store *store)
{
    for (unsigned i = 0; i < DFT_SPAN_TABLES; i++)
        sqlite3_finalize(store->statements[i]);
    dft_map_fini(&store->seen);
    *store = (struct dft_span_store){0};
}

void dft_span_store_begin(struct dft_span_store *store)
{
    memset(store->fresh, 0, sizeof store->fresh);
    memset(store->known, 0, sizeof store->known);
    dft_map_clear(&store->seen);
}

/* --- rows ------------------------------------------------------------------------------------- */

static int is_plain(struct dft_text text)
{
    for (uint32_t i = 0; i < text.length; i++)
        if ((unsigned char)text.bytes[i] < ' ' || (unsigned char)text.bytes[i] > '~')
            return 0;
    return 1;
}

/* Logs may hold any bytes; what a database has is UTF-8 without control characters. */
static int bind(sqlite3_stmt *statement, int at, struct dft_text text)
{
    char *escaped;

    if (!text.bytes)
        return sqlite3_bind_null(statement, at);
    if (is_plain(text))
        return sqlite3_bind_text(statement, at, text.bytes, (int)text.length, SQLITE_STATIC);
    escaped = dft_text_escaped(text.bytes, text.length);
    return escaped ? sqlite3_bind_text(statement, at, escaped, -1, free) : SQLITE_NOMEM;
}

static struct dft_text text_of(const struct dft_uuid *uuid)
{
    return (struct dft_text){uuid->text, DFT_UUID_LENGTH};
}

static int put(struct dft_span_store *store, enum dft_span_table table, const struct dft_text *texts, int count)
{
    sqlite3_stmt *statement = store->statements[table];
    int rc = 0;

    for (int i = 0; !rc && i < count; i++)
        rc = table == DFT_SPAN_RECORDS && i == 1 /* JSON stays as it is */
                 ? sqlite3_bind_text(statement, i + 1, texts[i].bytes, (int)texts[i].length, SQLITE_STATIC)
                 : bind(statement, i + 1, texts[i]);
    if (rc)
        return -ENOMEM;
    if (dft_database_interrupted())
        return -EINTR;
    rc = dft_database_step(statement, "importing");
    store->is_said |= rc != 0;
    if (rc)
        return (rc & 0xff) == SQLITE_INTERRUPT ? -EINTR : -EIO;
    if (sqlite3_changes(store->db))
        store->fresh[table]++;
    else if (!store->quiet_known)
        store->known[table]++;
    return 0;
}

/* Was this row put before, since the beginning of the input? -ENOMEM, 0 or 1. */
static int is_seen(struct dft_span_store *store, uint64_t a, uint64_t b)
{
    uint64_t *seen;
    int before;

    if (store->seen.count > SEEN_MAX)
        dft_map_clear(&store->seen);
    seen = dft_map_put(&store->seen, dft_map_join(a, b));
    if (!seen)
        return -ENOMEM;
    before = *seen != 0;
    *seen = 1;
    return before;
}

static uint64_t hash_of(const struct dft_uuid *uuid)
{
    return dft_name_id(uuid->text, DFT_UUID_LENGTH);
}

/* --- spans ------------------------------------------------------------------------------------ */

void dft_span_uuid(const struct dft_span_name *span, struct dft_uuid *uuid)
{
    struct dft_text names[] = {{"span", 4}, span->type, span->run, span->id};

    dft_uuid_of(uuid, names, 4);
}

int dft_span_put_as(struct dft_span_store *store, const struct dft_uuid *uuid, struct dft_text type,
                    struct dft_text note)
{
    struct dft_text texts[] = {text_of(uuid), type, note};

    return put(store, DFT_SPAN_SPANS, texts, 3);
}

static int identify(struct dft_span_store *store, const struct dft_uuid *span, struct dft_text kind,
                    struct dft_text run, struct dft_text id)
{
    struct dft_text texts[] = {kind, run.bytes ? run : dft_text_from(""), id.bytes ? id : dft_text_from(""),
                               text_of(span)};

    return put(store, DFT_SPAN_IDENTITIES, texts, 4);
}

int dft_span_identify(struct dft_span_store *store, const struct dft_uuid *span, const char *kind, struct dft_text run,
                      struct dft_text id)
{
    return identify(store, span, dft_text_from(kind), run, id);
}

int dft_span_put(struct dft_span_store *store, const struct dft_span_name *span, struct dft_uuid *uuid)
{
    int rc;

    dft_span_uuid(span, uuid);
    rc = is_seen(store, hash_of(uuid), 0);
    if (rc)
        return rc > 0 ? 0 : rc;
    rc = dft_span_put_as(store, uuid, span->type, span->note);
    return rc ? rc : identify(store, uuid, span->type, span->run, span->id);
}

/* --- the other tables ------------------------------------------------------------------------- */

int dft_span_event(struct dft_span_store *store, const struct dft_uuid *span, int64_t ns, struct dft_text type,
                   struct dft_text note)
{
    char time[DFT_LOG_TIME_ROOM];
    struct dft_text when = dft_text_from(dft_log_time_text(time, ns));
    struct dft_text names[] = {{"event", 5}, text_of(span), when, type, note};
    struct dft_uuid uuid;
    struct dft_text texts[] = {{uuid.text, DFT_UUID_LENGTH}, text_of(span), when, type, note};

    dft_uuid_at(&uuid, ns, names, 5);
    return put(store, DFT_SPAN_EVENTS, texts, 5);
}

int dft_span_below(struct dft_span_store *store, const struct dft_uuid *super, const struct dft_uuid *sub,
                   struct dft_text key, struct dft_text note)
{
    struct dft_text texts[] = {text_of(super), text_of(sub), key, note};
    int seen = is_seen(store, dft_map_join(hash_of(super), hash_of(sub)), dft_name_id(key.bytes, key.length));

    if (seen)
        return seen > 0 ? 0 : seen;
    return put(store, DFT_SPAN_SUBSPANS, texts, 4);
}

int dft_span_facet(struct dft_span_store *store, const struct dft_uuid *left, const struct dft_uuid *right,
                   const char *note)
{
    struct dft_text texts[] = {text_of(left), text_of(right), dft_text_from(note)};

    return put(store, DFT_SPAN_FACETS, texts, 3);
}

int dft_span_metric(struct dft_span_store *store, const struct dft_uuid *span, int64_t ns, struct dft_text key,
                    struct dft_text value)
{
    char time[DFT_LOG_TIME_ROOM];
    struct dft_text texts[] = {text_of(span), dft_text_from(dft_log_time_text(time, ns)), key, value};

    return put(store, DFT_SPAN_METRICS, texts, 4);
}

int dft_span_metric_number(struct dft_span_store *store, const struct dft_uuid *span, int64_t ns, const char *key,
                           int64_t value)
{
    char number[24];

    snprintf(number, sizeof number, "%" PRId64, value);
    return dft_span_metric(store, span, ns, dft_text_from(key), dft_text_from(number));
}

int dft_span_record(struct dft_span_store *store, struct dft_text json, struct dft_text place, const char *file,
                    uint64_t line)
{
    char number[24];
    struct dft_uuid uuid;
    struct dft_text names[] = {{"record", 6}, place, json};
    struct dft_text texts[] = {{uuid.text, DFT_UUID_LENGTH}, json, dft_text_from(file), {number, 0}};

    texts[3].length = (uint32_t)snprintf(number, sizeof number, "%" PRIu64, line);
    dft_uuid_of(&uuid, names, 3);
    return put(store, DFT_SPAN_RECORDS, texts, 4);
}
