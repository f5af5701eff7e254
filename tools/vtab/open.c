/* SPDX-License-Identifier: MIT */
/* dftrace_open('PATH', ...): makes all tables of traces, and the views, in the schema temp. */
#include "vtab/open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/tables.h"
#include "tables/views.h"
#include "vtab/vtab.h"

/* Is there a table or view of this name in temp that is none of ours? */
static int is_taken(sqlite3 *db, const char *name, char **message)
{
    sqlite3_stmt *statement;
    int error = sqlite3_prepare_v2(db,
                                   "select 1 from sqlite_temp_master where name = ?1 collate nocase and "
                                   "coalesce(sql, '') not like 'create virtual table%using dftrace(%'",
                                   -1, &statement, NULL);

    if (!error)
        error = sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    if (!error)
        error = sqlite3_step(statement);
    sqlite3_finalize(statement);
    if (error == SQLITE_ROW)
        *message = sqlite3_mprintf("dftrace: temp.%s is there already, and is no table of traces: drop it, or give it "
                                   "another name",
                                   name);
    return error == SQLITE_ROW ? SQLITE_ERROR : error == SQLITE_DONE ? SQLITE_OK : error;
}

static int run(sqlite3 *db, char *text, char **message)
{
    int error = text ? sqlite3_exec(db, text, NULL, NULL, message) : SQLITE_NOMEM;

    sqlite3_free(text);
    return error;
}

static int make_table(sqlite3 *db, const char *name, const char *arguments, char **message)
{
    int error = run(db, sqlite3_mprintf("drop table if exists temp.\"%w\"", name), message);

    if (!error)
        error =
            run(db, sqlite3_mprintf("create virtual table temp.\"%w\" using dftrace('%s'%s)", name, name, arguments),
                message);
    return error;
}

static int make_all(sqlite3 *db, const char *arguments, char **message)
{
    unsigned count;
    const struct dft_view *views = dft_views(&count);
    int error = SQLITE_OK;

    for (unsigned i = 0; i < DFT_TABLES && !error; i++)
        error = make_table(db, dft_tables_at((enum dft_table_number)i)->name, arguments, message);
    for (unsigned i = 0; i < count && !error; i++)
        error = run(db, sqlite3_mprintf("create temp view if not exists \"%w\" as %s", views[i].name, views[i].sql),
                    message);
    return error;
}

/* A first table shows whether the traces can be read, before the old tables go; and it has their
 * source, which is so opened once. */
int dft_vtab_create_all(sqlite3 *db, const char *arguments, char **message)
{
    int error = SQLITE_OK;

    for (unsigned i = 0; i < DFT_TABLES && !error; i++)
        error = is_taken(db, dft_tables_at((enum dft_table_number)i)->name, message);
    if (!error)
        error = run(db, sqlite3_mprintf("create virtual table temp.dftrace_first using dftrace('jobs'%s)", arguments),
                    message);
    if (error)
        return error;
    error = make_all(db, arguments, message);
    if (error == SQLITE_LOCKED) {
        sqlite3_free(*message);
        *message = sqlite3_mprintf("dftrace: a query on the tables of an earlier call runs still: end it first");
    }
    run(db, sqlite3_mprintf("drop table temp.dftrace_first"), NULL);
    return error;
}

/* ", 'PATH', ..." from sqlite3_malloc; NULL: no memory. */
static char *arguments_of(sqlite3_value **values, int nvalues)
{
    char *text = sqlite3_mprintf("");

    for (int i = 0; i < nvalues && text; i++)
        text = sqlite3_mprintf("%z, %Q", text, sqlite3_value_text(values[i]));
    return text;
}

static void give_error(sqlite3_context *context, int error, char *message)
{
    if (message)
        sqlite3_result_error(context, message, -1);
    if (error == SQLITE_NOMEM)
        sqlite3_result_error_nomem(context);
    else if (!message)
        sqlite3_result_error_code(context, error);
    sqlite3_free(message);
}

static void open_traces(sqlite3_context *context, int nvalues, sqlite3_value **values)
{
    sqlite3 *db = sqlite3_context_db_handle(context);
    char *arguments, *message = NULL;
    int error;

    for (int i = 0; i < nvalues; i++)
        if (sqlite3_value_type(values[i]) != SQLITE_TEXT || !*sqlite3_value_text(values[i]))
            nvalues = 0;
    if (!nvalues) {
        sqlite3_result_error(context, "dftrace_open: which traces? select dftrace_open('traces/')", -1);
        return;
    }
    arguments = arguments_of(values, nvalues);
    error = arguments ? dft_vtab_create_all(db, arguments, &message) : SQLITE_NOMEM;
    sqlite3_free(arguments);
    if (error)
        give_error(context, error, message);
    else
        sqlite3_result_text(context, "tables: events rows files processes regions counters jobs notes", -1,
                            SQLITE_STATIC);
}

int dft_vtab_add_open(sqlite3 *db)
{
    int flags = SQLITE_UTF8;

#ifdef SQLITE_DIRECTONLY
    if (DFT_VTAB_SINCE(3030000))
        flags |= SQLITE_DIRECTONLY;
#endif
    return sqlite3_create_function_v2(db, "dftrace_open", -1, flags, NULL, open_traces, NULL, NULL, NULL);
}
