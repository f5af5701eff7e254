/* SPDX-License-Identifier: MIT */
/* The words of the prompt, such as .tables and .schema, and the examples. */
#include "sql/sql_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest_word.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "command/command.h"
#include "tables/tables.h"
#include "tables/views.h"
#include "sql/sql_run.h"

void dft_sql_examples(void)
{
    static const struct {
        const char *answers, *sql;
    } examples[] = {
#define DFT_EXAMPLE(answers, sql) {answers, sql},
#include "sql/examples.def"
#undef DFT_EXAMPLE
    };

    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        printf("%s-- %s\n%s;\n", i ? "\n" : "", examples[i].answers, examples[i].sql);
}

static int show_examples(struct dft_sql *sql, const char *argument)
{
    (void)sql;
    (void)argument;
    dft_sql_examples();
    return DFT_EXIT_OK;
}

/* What is the user's own, or of a database that was opened; of one name, where it is not "". */
static int show_own(struct dft_sql *sql, const char *what, const char *only, int *found)
{
    char *text = sqlite3_mprintf(
        "select %s from (select type, name, sql from sqlite_temp_master union all select type, "
        "name, sql from sqlite_master) where type in ('table', 'view') and "
        "name not like 'sqlite\\_%%' escape '\\' and sql not like '%%using dftrace(%%' and %Q in ('', name)",
        what, only);
    sqlite3_stmt *statement = NULL;
    int error = text ? sqlite3_prepare_v2(sql->db, text, -1, &statement, NULL) : SQLITE_NOMEM;
    unsigned count;
    const struct dft_view *views = dft_views(&count);

    while (!error && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        unsigned at = 0;

        while (at < count && strcmp(views[at].name, name) != 0)
            at++;
        if (at == count || !sql->tables) {
            name = (const char *)sqlite3_column_text(statement, sqlite3_column_count(statement) - 1);
            dft_text_escape_lines(stdout, name, strlen(name));
            putchar('\n');
            *found = 1;
        }
    }
    sqlite3_finalize(statement);
    sqlite3_free(text);
    return error ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

static int show_tables(struct dft_sql *sql, const char *argument)
{
    unsigned count;
    const struct dft_view *views = dft_views(&count);
    int found = 0;

    (void)argument;
    for (unsigned i = 0; i < DFT_TABLES && sql->tables; i++)
        dft_text_wrapped(stdout, dft_tables_at((enum dft_table_number)i)->name, 16,
                         dft_tables_at((enum dft_table_number)i)->help);
    for (unsigned i = 0; i < count && sql->tables; i++)
        dft_text_wrapped(stdout, views[i].name, 16, views[i].help);
    return show_own(sql, "name", "", &found);
}

static void show_columns(const struct dft_table_shape *table)
{
    static const char *const types[] = {"integer", "time", "real", "text"};
    char title[64];

    printf("%s: %s\n", table->name, table->help);
    for (unsigned i = 0; i < table->ncolumns; i++) {
        const struct dft_table_column *column = &table->columns[i];

        snprintf(title, sizeof title, "  %-14s %-7s %s", column->name, types[column->type], column->unit);
        dft_text_wrapped(stdout, title, 34, column->help);
    }
}

static int show_schema(struct dft_sql *sql, const char *argument)
{
    unsigned count;
    const struct dft_view *views = dft_views(&count);
    int found = 0, code;

    for (unsigned i = 0; i < DFT_TABLES && sql->tables; i++) {
        const struct dft_table_shape *table = dft_tables_at((enum dft_table_number)i);

        if (*argument && strcmp(argument, table->name) != 0)
            continue;
        if (found++)
            putchar('\n');
        show_columns(table);
    }
    for (unsigned i = 0; i < count && sql->tables; i++) {
        if (*argument && strcmp(argument, views[i].name) != 0)
            continue;
        printf("%sview %s: %s\n  %s\n", found ? "\n" : "", views[i].name, views[i].help, views[i].sql);
        found = 1;
    }
    if (*argument && found)
        return DFT_EXIT_OK;
    code = show_own(sql, "name, sql", argument, &found);
    if (!code && *argument && !found) {
        fprintf(stderr, "dftmerge: sql: no such table: %s", argument);
        dft_sql_say_nearest(sql->db, argument, 0);
        fputc('\n', stderr);
        code = DFT_EXIT_USAGE;
    }
    return code;
}

static int set_mode(struct dft_sql *sql, const char *argument)
{
    static const char *const modes[] = {[DFT_SQL_TABLE] = "table", [DFT_SQL_JSON] = "json", [DFT_SQL_CSV] = "csv"};

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(argument, modes[i])) {
            sql->form = (enum dft_sql_form)i;
            return DFT_EXIT_OK;
        }
    fprintf(stderr, "dftmerge: sql: .mode takes table, json or csv\n");
    return DFT_EXIT_USAGE;
}

static int quit(struct dft_sql *sql, const char *argument)
{
    (void)sql;
    (void)argument;
    return -1;
}

static int show_help(struct dft_sql *sql, const char *argument);

static const struct {
    const char *name, *help;
    int (*run)(struct dft_sql *sql, const char *argument);
} words[] = {
    {".tables", "tables and views, and what they are", show_tables},
    {".schema", "columns of all tables, or of .schema NAME, with types and units", show_schema},
    {".examples", "ten useful queries", show_examples},
    {".mode", "table, json or csv: how rows are printed", set_mode},
    {".help", "this", show_help},
    {".quit", "ends; so does the end of the input", quit},
    {".exit", "the same", quit},
};
#define WORDS (sizeof words / sizeof *words)

static int show_help(struct dft_sql *sql, const char *argument)
{
    (void)sql;
    (void)argument;
    for (size_t i = 0; i < WORDS; i++)
        dft_text_wrapped(stdout, words[i].name, 12, words[i].help);
    fputs("All else is SQL, over several lines up to a semicolon. Tab completes names of tables and columns.\n",
          stdout);
    return DFT_EXIT_OK;
}

static size_t find(const char *text)
{
    size_t length = strcspn(text, " \t\n;"), at = 0;

    while (at < WORDS && (strlen(words[at].name) != length || strncmp(words[at].name, text, length) != 0))
        at++;
    return at;
}

int dft_sql_is_word(const char *text)
{
    return find(text) < WORDS;
}

int dft_sql_word(struct dft_sql *sql, const char *text)
{
    const char *names[WORDS], *nearest;
    char argument[128];
    size_t at = find(text), length = strcspn(text, " \t\n;");

    for (size_t i = 0; i < WORDS; i++)
        names[i] = words[i].name;
    if (at == WORDS) {
        nearest = dft_nearest_word(text, length, names, WORDS);
        fprintf(stderr, "dftmerge: sql: there is no %.*s.%s%s%s `.help` has all words\n", (int)length, text,
                nearest ? " Did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
        return DFT_EXIT_USAGE;
    }
    text += length;
    text += strspn(text, " \t\n");
    snprintf(argument, sizeof argument, "%.*s", (int)strcspn(text, " \t\n;"), text);
    return words[at].run(sql, argument);
}
