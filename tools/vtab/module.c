/* SPDX-License-Identifier: MIT */
/* The module `dftrace`: `create virtual table temp.e using dftrace('events', 'PATH', ...)`. */
#include "vtab/connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest_word.h"
#include "tables/views.h"
#include "vtab/cursor.h"
#include "vtab/open.h"
#include "vtab/plan.h"

int dft_vtab_error(int rc, char **message)
{
    if (rc == -EINTR || rc == -ECANCELED)
        return SQLITE_INTERRUPT;
    if (rc == -ENOMEM)
        return SQLITE_NOMEM;
    if (!*message)
        *message = sqlite3_mprintf("dftrace: the traces cannot be read: %s", strerror(-rc));
    return SQLITE_ERROR;
}

/* --- arguments --------------------------------------------------------------------------------- */

/* An argument as it stands in the statement, without its quotes. */
static char *unquoted(const char *text)
{
    size_t length;
    char *copy, *at, quote;

    while (*text == ' ' || *text == '\t' || *text == '\n')
        text++;
    length = strlen(text);
    while (length && strchr(" \t\n", text[length - 1]))
        length--;
    copy = at = malloc(length + 1);
    if (!copy)
        return NULL;
    quote = length >= 2 && (*text == '\'' || *text == '"') && text[length - 1] == *text ? *text : 0;
    for (size_t i = quote != 0; i < length - (quote != 0); i++) {
        *at++ = text[i];
        i += quote && text[i] == quote && text[i + 1] == quote;
    }
    *at = 0;
    return copy;
}

static char *no_such_table(const char *name)
{
    const char *names[DFT_TABLES], *nearest;

    for (unsigned i = 0; i < DFT_TABLES; i++)
        names[i] = dft_tables_at((enum dft_table_number)i)->name;
    nearest = dft_nearest_word(name, strlen(name), names, DFT_TABLES);
    return sqlite3_mprintf("dftrace: there is no table '%s'.%s%s%s Tables are events, rows, files, processes, regions, "
                           "counters, jobs and notes",
                           name, nearest ? " Did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static char *no_trace(const char *why)
{
    return sqlite3_mprintf(
        "dftrace: no trace found. Traces are files named *.dft, or DFTracer's *.pfw and *.pfw.gz%s%s",
        why && *why ? ": " : "", why ? why : "");
}

/* --- tables ------------------------------------------------------------------------------------ */

/* The create statement that tells SQLite the columns. */
static int declare(sqlite3 *db, const struct dft_table_shape *table)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int error = SQLITE_NOMEM;

    if (!out)
        return SQLITE_NOMEM;
    fputs("create table x", out);
    dft_views_columns(out, table);
    if (!fclose(out))
        error = sqlite3_declare_vtab(db, text);
    free(text);
    return error;
}

static int make(sqlite3 *db, struct dft_vtabs *connection, char *const *words, int nwords, sqlite3_vtab **result,
                char **message)
{
    struct dft_vtab *vtab;
    enum dft_table_number number;
    const struct dft_table_shape *table = dft_tables_find(words[0], &number);
    char *why = NULL;
    int rc;

    if (!table) {
        *message = no_such_table(words[0]);
        return SQLITE_ERROR;
    }
    vtab = calloc(1, sizeof *vtab);
    if (!vtab)
        return SQLITE_NOMEM;
    *vtab = (struct dft_vtab){.connection = connection, .number = number};
    rc = dft_store_use(&connection->stores, &vtab->store, words + 1, nwords - 1, &why);
    if (rc == -ENOENT)
        *message = no_trace(why);
    else if (rc == -EINVAL)
        *message = sqlite3_mprintf("dftrace: which traces? using dftrace('%s', 'PATH')", table->name);
    free(why);
    rc = rc ? dft_vtab_error(rc, message) : declare(db, table);
    if (!rc) {
        *result = &vtab->base;
        return SQLITE_OK;
    }
    if (vtab->store)
        dft_store_leave(&connection->stores, vtab->store);
    free(vtab);
    return rc;
}

static int connect(sqlite3 *db, void *context, int argc, const char *const *argv, sqlite3_vtab **result, char **message)
{
    int nwords = argc - 3, rc = SQLITE_OK;
    char **words = calloc((size_t)(nwords > 0 ? nwords : 1), sizeof *words);

    if (nwords < 1)
        *message = sqlite3_mprintf("dftrace: which table? using dftrace('events', 'PATH')");
    if (!words || nwords < 1)
        rc = words ? SQLITE_ERROR : SQLITE_NOMEM;
    for (int i = 0; i < nwords && !rc; i++) {
        words[i] = unquoted(argv[i + 3]);
        rc = words[i] ? SQLITE_OK : SQLITE_NOMEM;
    }
    if (!rc)
        rc = make(db, context, words, nwords, result, message);
    for (int i = 0; words && i < nwords; i++)
        free(words[i]);
    free(words);
    return rc;
}

static int disconnect(sqlite3_vtab *base)
{
    struct dft_vtab *vtab = (struct dft_vtab *)base;

    dft_store_leave(&vtab->connection->stores, vtab->store);
    free(vtab);
    return SQLITE_OK;
}

static int plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct dft_vtab *vtab = (const struct dft_vtab *)base;

    return dft_vtab_plan_make(info, vtab->store, vtab->number);
}

/* --- the connection ---------------------------------------------------------------------------- */

/* What is left is the source that the connection was created with. */
static void forget(void *context)
{
    struct dft_vtabs *connection = context;

    while (connection->stores)
        dft_store_leave(&connection->stores, connection->stores);
    free(connection);
}

static const sqlite3_module module = {.xCreate = connect,
                                      .xConnect = connect,
                                      .xBestIndex = plan,
                                      .xDisconnect = disconnect,
                                      .xDestroy = disconnect,
                                      .xOpen = dft_cursor_open,
                                      .xClose = dft_cursor_close,
                                      .xFilter = dft_cursor_filter,
                                      .xNext = dft_cursor_next,
                                      .xEof = dft_cursor_is_over,
                                      .xColumn = dft_cursor_column,
                                      .xRowid = dft_cursor_rowid};

int dft_vtab_register(sqlite3 *db, struct dft_source *source, const struct dft_filter *filter,
                      struct dft_vtabs **tables)
{
    struct dft_vtabs *connection = calloc(1, sizeof *connection);
    int error;

    if (!connection)
        return SQLITE_NOMEM;
    connection->db = db;
    if (source && dft_store_given(&connection->stores, source, filter)) {
        free(connection);
        return SQLITE_NOMEM;
    }
    if (tables)
        *tables = connection;
    error = sqlite3_create_module_v2(db, "dftrace", &module, connection, forget);
    return error ? error : dft_vtab_add_open(db);
}

struct dft_vtab_use dft_vtab_used(const struct dft_vtabs *tables)
{
    return tables->use;
}

void dft_vtab_forget(struct dft_vtabs *tables)
{
    tables->use = (struct dft_vtab_use){0};
}
