/* SPDX-License-Identifier: MIT */
/* Runs statements, and says what is wrong with them. */
#include "sql/sql_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest_word.h"
#include "command/command.h"
#include "sql/sql_print.h"
#include "tables/columns.h"
#include "tables/tables.h"

#define MANY_EVENTS 1000000u /* from here on reading events takes a while */
#define FEW_ROWS    1000u    /* of an answer that is likely sums */

/* --- errors ------------------------------------------------------------------------------------- */

struct words {
    char **list;
    size_t count, capacity;
};

static int add_word(void *context, int ncolumns, char **values, char **names)
{
    struct words *words = context;
    char *word = values[0] ? strdup(values[0]) : NULL;

    (void)ncolumns;
    (void)names;
    return word && DFT_ARRAY_PUSH(words->list, words->capacity, words->count, word);
}

void dft_sql_say_nearest(sqlite3 *db, const char *word, int is_column)
{
    static const char tables[] = "select name from sqlite_temp_master where type in ('table', 'view') union "
                                 "select name from sqlite_master where type in ('table', 'view')";
    static const char columns[] =
        "select distinct c.name from (select name from sqlite_temp_master where type in ('table', 'view') union select "
        "name from sqlite_master where type in ('table', 'view')) t join pragma_table_info(t.name) c";
    struct words words = {0};
    const char *dot = strrchr(word, '.'), *nearest;

    word = dot ? dot + 1 : word;
    sqlite3_exec(db, is_column ? columns : tables, add_word, &words, NULL);
    nearest = dft_nearest_word(word, strlen(word), (const char *const *)words.list, words.count);
    nearest = nearest && strcmp(nearest, word) != 0 ? nearest : NULL;
    if (nearest)
        fprintf(stderr, ". Did you mean %s?", nearest);
    else if (is_column)
        fputs("; `.schema` has all tables and columns", stderr);
    for (size_t i = 0; !is_column && !nearest && i < words.count; i++)
        if (strncmp(words.list[i], "sqlite_", 7) != 0)
            fprintf(stderr, "%s%s", i ? " " : ". There are: ", words.list[i]);
    while (words.count)
        free(words.list[--words.count]);
    free(words.list);
}

void dft_sql_say(sqlite3 *db)
{
    static const char column[] = "no such column: ", table[] = "no such table: ";
    const char *message = sqlite3_errmsg(db);
    char *copy;

    if (strncmp(message, column, sizeof column - 1) != 0 && strncmp(message, table, sizeof table - 1) != 0) {
        dft_database_say(db, "sql");
        return;
    }
    copy = strdup(message);
    fprintf(stderr, "dftmerge: sql: %s", message);
    if (copy)
        dft_sql_say_nearest(db, strchr(copy, ':') + 2, !strncmp(copy, column, sizeof column - 1));
    fputc('\n', stderr);
    free(copy);
}

/* --- a hint ------------------------------------------------------------------------------------- */

/* Sums of these columns of `events` are sums of columns of `rows`. Times are left out: a row knows its
 * interval alone. */
#define BIT(column) (UINT64_C(1) << DFT_EVENTS_##column)
#define IN_ROWS                                                                                                        \
    (BIT(PROCESS) | BIT(RANK) | BIT(PID) | BIT(TID) | BIT(CAT) | BIT(NAME) | BIT(CLASS) | BIT(ACCESS) |                \
     BIT(REGION_CAT) | BIT(REGION) | BIT(ERRNO) | BIT(DUR) | BIT(SIZE) | BIT(BYTES) | BIT(CALLS))

/* Nobody can tell from the columns alone what is done with them: this says what is the same. */
static void hint(const struct dft_sql *sql, uint64_t rows)
{
    struct dft_vtab_use use = dft_vtab_used(sql->tables);

    if (sql->quiet || !sql->has_rows || use.events < MANY_EVENTS || rows > FEW_ROWS || use.columns & ~IN_ROWS)
        return;
    fprintf(
        stderr,
        "dftmerge: %llu events were read. The table rows has these columns as sums, without reading events: "
        "sum(dur), sum(size) and sum(bytes) are the same there, count(*) is sum(events), max(dur) is max(dur_max)\n",
        (unsigned long long)use.events);
}

/* --- running ------------------------------------------------------------------------------------ */

static int run_one(struct dft_sql *sql, sqlite3_stmt *statement)
{
    uint64_t rows = 0;
    int error;

    if (sql->tables)
        dft_vtab_forget(sql->tables);
    if (sql->form == DFT_SQL_TABLE && sqlite3_column_count(statement) && sql->answers++ && !sql->is_terminal)
        putchar('\n');
    error = dft_sql_print(statement, sql->form, &rows);
    if (error) {
        fflush(stdout);
        dft_sql_say(sql->db);
        return DFT_EXIT_BAD;
    }
    fflush(stdout);
    if (sql->tables)
        hint(sql, rows);
    return ferror(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

int dft_sql_run(struct dft_sql *sql, const char *text)
{
    int code = DFT_EXIT_OK;

    dft_database_interruptible(sql->db);
    while (!code && *text) {
        sqlite3_stmt *statement = NULL;

        if (dft_database_interrupted()) { /* between two statements nothing was there to end */
            fputs("dftmerge: sql: ended by a signal\n", stderr);
            code = DFT_EXIT_BAD;
        } else if (sqlite3_prepare_v2(sql->db, text, -1, &statement, &text)) {
            dft_sql_say(sql->db);
            code = dft_database_interrupted() ? DFT_EXIT_BAD : DFT_EXIT_USAGE;
        } else if (statement) {
            code = run_one(sql, statement);
        }
        sqlite3_finalize(statement);
    }
    dft_database_interruptible(NULL);
    return code;
}
