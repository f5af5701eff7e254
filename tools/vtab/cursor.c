/* SPDX-License-Identifier: MIT */
/* Cursors: rows of a batch that a thread hands over, or of a small table in memory. */
#include "vtab/cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vtab/connection.h"
#include "vtab/narrow.h"
#include "vtab/plan.h"
#include "vtab/feed.h"

#define BATCH_ROWS 16384u /* each reading thread has a batch: 4 MiB where all columns are requested */

struct cursor {
    sqlite3_vtab_cursor base; /* first: SQLite's own part */
    const struct dft_table_column *columns;
    const struct dft_table_batch *batch; /* NULL: at the end */
    const uint32_t *rows;                /* the rows of the batch that are returned; NULL: all */
    uint32_t at, row, count;
    int is_kept;          /* texts stay as long as the table does */
    struct dft_kept *own; /* a table in memory that only this cursor has */
    struct dft_feed *feed;
    struct dft_narrow narrow;
    sqlite3_stmt *probe;
    uint64_t asked;
};

static struct dft_vtab *table_of(const struct cursor *cursor)
{
    return (struct dft_vtab *)cursor->base.pVtab;
}

/* Has somebody interrupted the query? A statement that runs inside another one finds that out in
 * every version of SQLite. */
static int is_interrupted(void *context)
{
    struct cursor *cursor = context;
    int error = 0;

    if (!cursor->probe)
        error = sqlite3_prepare_v2(table_of(cursor)->connection->db, "select 1", -1, &cursor->probe, NULL);
    if (!error)
        error = sqlite3_step(cursor->probe);
    sqlite3_reset(cursor->probe);
    return error == SQLITE_INTERRUPT;
}

static void stop(struct cursor *cursor)
{
    dft_feed_stop(cursor->feed);
    cursor->feed = NULL;
    dft_narrow_free(&cursor->narrow);
    dft_kept_free(cursor->own);
    cursor->own = NULL;
    cursor->batch = NULL;
    cursor->rows = NULL;
    cursor->is_kept = 0;
}

static int fail(struct cursor *cursor, int rc)
{
    sqlite3_vtab *base = cursor->base.pVtab;

    stop(cursor);
    sqlite3_free(base->zErrMsg);
    base->zErrMsg = NULL;
    return dft_vtab_error(rc, &base->zErrMsg);
}

int dft_cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **result)
{
    struct cursor *cursor = calloc(1, sizeof *cursor);

    if (!cursor)
        return SQLITE_NOMEM;
    cursor->columns = dft_tables_at(((struct dft_vtab *)base)->number)->columns;
    *result = &cursor->base;
    return SQLITE_OK;
}

int dft_cursor_close(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;

    stop(cursor);
    sqlite3_finalize(cursor->probe);
    free(cursor);
    return SQLITE_OK;
}

static void settle(struct cursor *cursor)
{
    cursor->row = cursor->rows ? cursor->rows[cursor->at] : cursor->at;
}

/* Goes to the first row of the next batch that has one. */
static int next_batch(struct cursor *cursor)
{
    int rc;

    do
        rc = dft_feed_next(cursor->feed, &cursor->batch, is_interrupted, cursor);
    while (!rc && cursor->batch && !cursor->batch->count);
    if (rc)
        return fail(cursor, rc);
    cursor->at = 0;
    cursor->count = cursor->batch ? cursor->batch->count : 0;
    if (cursor->batch && table_of(cursor)->number == DFT_TABLE_EVENTS) {
        table_of(cursor)->connection->use.events += cursor->count;
        table_of(cursor)->connection->use.columns |= cursor->asked;
    }
    settle(cursor);
    return SQLITE_OK;
}

int dft_cursor_next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;

    if (++cursor->at < cursor->count) {
        settle(cursor);
        return SQLITE_OK;
    }
    if (cursor->feed)
        return next_batch(cursor);
    cursor->batch = NULL;
    return SQLITE_OK;
}

/* --- beginning --------------------------------------------------------------------------------- */

/* Finds the rows of a small table with a value. */
static int find(struct cursor *cursor, struct dft_kept *kept, const struct dft_vtab_plan *plan, sqlite3_value *value)
{
    unsigned column = plan->terms[0].column;
    struct dft_kept_value wanted;
    int is = dft_narrow_value(&wanted, cursor->columns[column].type, value);

    cursor->count = is ? cursor->count : 0;
    return is > 0 ? dft_kept_find(kept, column, &wanted, &cursor->rows, &cursor->count) : 0;
}

static int begin_kept(struct cursor *cursor, const struct dft_vtab_plan *plan, sqlite3_value **values)
{
    struct dft_vtab *table = table_of(cursor);
    struct dft_store *store = table->store;
    struct dft_kept **kept = table->number == DFT_TABLE_NOTES ? &cursor->own : &store->kept[table->number];
    int rc = 0;

    if (!*kept)
        rc = dft_kept_read(kept, store->source, store->filter, table->number, is_interrupted, cursor);
    if (rc)
        return fail(cursor, rc);
    cursor->is_kept = !cursor->own;
    cursor->batch = dft_kept_batch(*kept);
    cursor->count = cursor->batch->count;
    if (plan->nterms)
        rc = find(cursor, *kept, plan, values[0]);
    if (rc)
        return fail(cursor, rc);
    if (cursor->count)
        settle(cursor);
    else
        cursor->batch = NULL;
    return SQLITE_OK;
}

static int begin_reading(struct cursor *cursor, const struct dft_vtab_plan *plan, sqlite3_value **values)
{
    struct dft_vtab *table = table_of(cursor);
    struct dft_table_request request = {.table = table->number,
                                        .columns = plan->columns,
                                        .filter = &cursor->narrow.filter,
                                        .order = plan->order,
                                        .rows = BATCH_ROWS};
    int rc = dft_narrow_make(&cursor->narrow, table->store, table->number, plan, values);

    if (rc)
        return fail(cursor, rc);
    if (cursor->narrow.is_empty)
        return SQLITE_OK;
    cursor->asked = plan->columns;
    cursor->feed = dft_feed_start(table->store->source, &request);
    return cursor->feed ? next_batch(cursor) : fail(cursor, -ENOMEM);
}

int dft_cursor_filter(sqlite3_vtab_cursor *base, int number, const char *text, int nvalues, sqlite3_value **values)
{
    struct cursor *cursor = (struct cursor *)base;
    struct dft_vtab_plan plan;

    (void)number;
    (void)nvalues;
    stop(cursor);
    cursor->at = cursor->count = 0;
    dft_vtab_plan_read(&plan, text);
    return dft_store_keeps(table_of(cursor)->number) ? begin_kept(cursor, &plan, values)
                                                     : begin_reading(cursor, &plan, values);
}

/* --- rows -------------------------------------------------------------------------------------- */

int dft_cursor_is_over(sqlite3_vtab_cursor *base)
{
    return !((const struct cursor *)base)->batch;
}

/* Texts of a batch are gone with it, and SQLite keeps some for longer; those of small tables stay. */
static void give_text(sqlite3_context *context, const struct cursor *cursor, const struct dft_cells *cells)
{
    uint32_t code = cells->codes[cursor->row];

    if (code != DFT_CODE_NULL)
        sqlite3_result_text(context, cells->texts[code].length ? cells->texts[code].bytes : "",
                            (int)cells->texts[code].length, cursor->is_kept ? SQLITE_STATIC : SQLITE_TRANSIENT);
}

int dft_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    const struct cursor *cursor = (const struct cursor *)base;
    const struct dft_cells *cells = &cursor->batch->cells[number];

    if (cells->integers) {
        if (cells->integers[cursor->row] != DFT_CELL_NULL)
            sqlite3_result_int64(context, cells->integers[cursor->row]);
    } else if (cells->codes) {
        give_text(context, cursor, cells);
    } else if (cells->reals) {
        sqlite3_result_double(context, cells->reals[cursor->row]);
    }
    return SQLITE_OK;
}

/* Rows of large tables come in another order each time, so they have no numbers that stay. */
int dft_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *number)
{
    const struct cursor *cursor = (const struct cursor *)base;

    *number = cursor->row;
    if (!cursor->feed)
        return SQLITE_OK;
    sqlite3_free(base->pVtab->zErrMsg);
    base->pVtab->zErrMsg = sqlite3_mprintf("dftrace: rows of this table have no rowid; in a condition with or, write + "
                                           "before the columns: +name = 'read' or +rank = 0");
    return base->pVtab->zErrMsg ? SQLITE_ERROR : SQLITE_NOMEM;
}
