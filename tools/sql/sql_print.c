/* SPDX-License-Identifier: MIT */
/* The rows of a statement for people: aligned columns, page by page. What is wider than the terminal
 * is shown as a list of values a row. No column is left out, and no text is cut: a query asks for
 * what it wants to see. */
#include "sql/sql_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"

#define PAGE     1000u /* rows that are aligned together; the titles come again before the next ones */
#define GAP      2
#define SMALLEST (-9) /* power of ten of a real number that is written out: a nanosecond */

struct column {
    size_t width;
    int is_text; /* aligned left */
    char *title; /* escaped */
};

struct page {
    int ncolumns;
    struct column *columns;
    char **cells; /* escaped; of PAGE rows at most */
    size_t ncells;
};

/* A real number. Small ones are written out, with the same digits: 0.000049 and not 4.9e-05. */
static char *real_of(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column),
               *exponent = text ? strchr(text, 'e') : NULL;
    const char *point = text ? strchr(text, '.') : NULL, *last = exponent;
    int power = exponent ? atoi(exponent + 1) : 0;
    char *written;

    if (!text || !point || power >= 0 || power < SMALLEST)
        return text ? strdup(text) : NULL;
    while (last[-1] == '0')
        last--;
    return asprintf(&written, "%.*f", (int)(last - point) - 1 - power, sqlite3_column_double(statement, column)) < 0
               ? NULL
               : written;
}

/* A cell as text; NULL: no memory. */
static char *cell_of(sqlite3_stmt *statement, int column)
{
    int type = sqlite3_column_type(statement, column);

    if (type == SQLITE_NULL)
        return strdup("-");
    if (type == SQLITE_FLOAT)
        return real_of(statement, column);
    if (type == SQLITE_BLOB) {
        char *text;

        return asprintf(&text, "blob of %d bytes", sqlite3_column_bytes(statement, column)) < 0 ? NULL : text;
    }
    return dft_text_escaped((const char *)sqlite3_column_text(statement, column),
                            (size_t)sqlite3_column_bytes(statement, column));
}

static int add_row(struct page *page, sqlite3_stmt *statement)
{
    for (int i = 0; i < page->ncolumns; i++) {
        int type = sqlite3_column_type(statement, i);
        char *text = cell_of(statement, i);
        size_t width = text ? dft_text_columns(text) : 0;

        if (!text)
            return SQLITE_NOMEM;
        page->cells[page->ncells++] = text;
        page->columns[i].is_text |= type == SQLITE_TEXT || type == SQLITE_BLOB;
        if (width > page->columns[i].width)
            page->columns[i].width = width;
    }
    return SQLITE_OK;
}

/* --- showing ------------------------------------------------------------------------------------ */

static void take_titles(struct page *page, sqlite3_stmt *statement)
{
    for (int i = 0; i < page->ncolumns; i++) {
        const char *name = sqlite3_column_name(statement, i);

        page->columns[i].title = name ? dft_text_escaped(name, strlen(name)) : NULL;
    }
}

static const char *title_of(const struct page *page, int column)
{
    return page->columns[column].title ? page->columns[column].title : "";
}

static void put_cell(const struct page *page, int column, const char *text)
{
    const struct column *of = &page->columns[column];
    size_t width = dft_text_columns(text), gap = of->width > width ? of->width - width : 0;

    if (column)
        printf("%*s", GAP, "");
    if (!of->is_text)
        printf("%*s", (int)gap, "");
    fputs(text, stdout);
    if (of->is_text && column + 1 < page->ncolumns)
        printf("%*s", (int)gap, "");
}

static void show_table(const struct page *page)
{
    for (int i = 0; i < page->ncolumns; i++)
        put_cell(page, i, title_of(page, i));
    putchar('\n');
    for (size_t i = 0; i < page->ncells; i++) {
        put_cell(page, (int)(i % (size_t)page->ncolumns), page->cells[i]);
        if ((int)(i % (size_t)page->ncolumns) + 1 == page->ncolumns)
            putchar('\n');
    }
}

static void show_list(const struct page *page, uint64_t first)
{
    size_t widest = 0;

    for (int i = 0; i < page->ncolumns; i++)
        if (dft_text_columns(title_of(page, i)) > widest)
            widest = dft_text_columns(title_of(page, i));
    for (size_t i = 0; i < page->ncells; i++) {
        int column = (int)(i % (size_t)page->ncolumns);
        const char *title = title_of(page, column);

        if (!column)
            printf("row %llu\n", (unsigned long long)(first + i / (size_t)page->ncolumns + 1));
        printf("  %s%*s%s\n", title, (int)(widest - dft_text_columns(title) + GAP), "", page->cells[i]);
    }
}

static void show(struct page *page, sqlite3_stmt *statement, uint64_t rows)
{
    size_t width = 0;

    take_titles(page, statement);
    for (int i = 0; i < page->ncolumns; i++) {
        size_t title = dft_text_columns(title_of(page, i));

        if (page->columns[i].width < title)
            page->columns[i].width = title;
        width += page->columns[i].width + (i ? GAP : 0);
    }
    if (dft_terminal_is() && width > dft_terminal_width())
        show_list(page, rows - page->ncells / (size_t)page->ncolumns);
    else
        show_table(page);
}

static void forget(struct page *page)
{
    while (page->ncells)
        free(page->cells[--page->ncells]);
    for (int i = 0; i < page->ncolumns; i++)
        free(page->columns[i].title);
    memset(page->columns, 0, (size_t)page->ncolumns * sizeof *page->columns);
}

static int print_table(sqlite3_stmt *statement, uint64_t *rows)
{
    struct page page = {.ncolumns = sqlite3_column_count(statement)};
    int error = SQLITE_NOMEM;

    page.columns = calloc((size_t)page.ncolumns, sizeof *page.columns);
    page.cells = calloc((size_t)page.ncolumns * PAGE, sizeof *page.cells);
    while (page.columns && page.cells && (error = sqlite3_step(statement)) == SQLITE_ROW) {
        if (*rows && *rows % PAGE == 0) {
            show(&page, statement, *rows);
            forget(&page);
        }
        ++*rows;
        if (add_row(&page, statement)) {
            error = SQLITE_NOMEM;
            break;
        }
    }
    if (page.columns && page.cells && error == SQLITE_DONE)
        show(&page, statement, *rows);
    if (page.columns && page.cells)
        forget(&page);
    free(page.columns);
    free(page.cells);
    return error == SQLITE_DONE ? SQLITE_OK : error;
}

int dft_sql_print(sqlite3_stmt *statement, enum dft_sql_form form, uint64_t *rows)
{
    int error;

    *rows = 0;
    if (!sqlite3_column_count(statement)) {
        error = sqlite3_step(statement);
        return error == SQLITE_DONE || error == SQLITE_ROW ? SQLITE_OK : error;
    }
    return form == DFT_SQL_JSON  ? dft_sql_print_json(statement, rows)
           : form == DFT_SQL_CSV ? dft_sql_print_csv(statement, rows)
                                 : print_table(statement, rows);
}
