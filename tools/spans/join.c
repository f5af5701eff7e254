/* SPDX-License-Identifier: MIT */
/* Joins what several importers know of the same thing, by the names that they gave to spans. It looks
 * at the whole database, so the order of imports does not matter. */
#include <errno.h>
#include <stdio.h>

#include "database/database.h"
#include "spans/importing.h"

/* Spans of the left kind and of the right one that have the same run and id. Key: the right one is
 * part of the left one, which calls it so; NULL: both are views of the same thing. */
static const struct {
    const char *left, *right, *key;
} pairs[] = {
    {"traced task", "parsl.rundir.task", NULL},
    {"traced workflow", "parsl.rundir.workflow", NULL},
    {"parsl.rundir.task", "parsl.monitoring.task", NULL},
    {"parsl.rundir.workflow", "parsl.monitoring.workflow", NULL},
    {"task of workqueue", "workqueue.task of run", NULL},
    {"process", "parsl.monitoring.task", NULL},
    {"process", "parsl.monitoring.try", NULL},
    {"process", "parsl.rundir.task", NULL},
    {"process", "parsl.rundir.try", NULL},
    {"try on executor", "parsl.executor.htex.interchange.task", "htex subtask"},
    {"try on workqueue", "parsl.executors.workqueue.executor_task", "parsl.executors.wq.task"},
};

static int run(struct dft_span_store *store, const char *sql, const char *left, const char *right, const char *key,
               uint64_t *fresh)
{
    sqlite3_stmt *statement;
    int rc = dft_database_prepare(store->db, &statement, sql, "joining");

    if (!rc) {
        sqlite3_bind_text(statement, 1, left, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, right, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 3, key, -1, SQLITE_STATIC);
        rc = dft_database_step(statement, "joining");
    }
    if (!rc)
        *fresh += (uint64_t)sqlite3_changes(store->db);
    sqlite3_finalize(statement);
    store->is_said |= rc != 0;
    return !rc ? 0 : (rc & 0xff) == SQLITE_INTERRUPT ? -EINTR : -EIO;
}

#define PAIRS                                                                                                          \
    " from main.identity a cross join main.identity b on b.kind = ?2 and b.run = a.run and b.id = a.id"                \
    " where a.kind = ?1 and a.span_uuid <> b.span_uuid"

int dft_span_join(struct dft_span_import *import)
{
    static const char facet[] = "insert or ignore into main.facet (left_uuid, right_uuid, note)"
                                " select a.span_uuid, b.span_uuid, 'joined by importer'" PAIRS;
    static const char subspan[] = "insert or ignore into main.subspan (superspan_uuid, subspan_uuid, key, note)"
                                  " select a.span_uuid, b.span_uuid, ?3, 'joined by importer'" PAIRS;
    struct dft_span_store *store = &import->store;
    int rc = 0;

    for (size_t i = 0; !rc && i < sizeof pairs / sizeof *pairs; i++)
        rc = run(store, pairs[i].key ? subspan : facet, pairs[i].left, pairs[i].right, pairs[i].key,
                 &store->fresh[pairs[i].key ? DFT_SPAN_SUBSPANS : DFT_SPAN_FACETS]);
    return rc;
}
