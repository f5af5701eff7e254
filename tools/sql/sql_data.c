/* SPDX-License-Identifier: MIT */
/* The rows of a statement for programs: JSON and CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_json.h"
#include "base/write_text.h"
#include "sql/sql_print.h"

/* Blobs as hex digits. */
static void put_hex(FILE *out, sqlite3_stmt *statement, int column)
{
    const unsigned char *bytes = sqlite3_column_blob(statement, column);

    for (int i = 0; i < sqlite3_column_bytes(statement, column); i++)
        fprintf(out, "%02x", bytes[i]);
}

static char *hex_of(sqlite3_stmt *statement, int column)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return NULL;
    put_hex(out, statement, column);
    return fclose(out) ? free(text), NULL : text;
}

/* --- JSON --------------------------------------------------------------------------------------- */

/* A key stands in an object once: the second column `name` is `name:2`. */
static char *key_of(sqlite3_stmt *statement, int column)
{
    const char *name = sqlite3_column_name(statement, column);
    int same = 1;
    char *key;

    for (int i = 0; name && i < column; i++)
        same += !strcmp(name, sqlite3_column_name(statement, i));
    if (!name || asprintf(&key, same > 1 ? "%s:%d" : "%s", name, same) < 0)
        return NULL;
    return key;
}

/* As few digits as say the number exactly. */
static void put_real(struct dft_json *json, double value)
{
    char text[32];

    snprintf(text, sizeof text, "%.15g", value);
    if (!isfinite(value) || strtod(text, NULL) != value) {
        dft_json_double(json, NULL, value);
        return;
    }
    dft_json_before(json, NULL, 0);
    memcpy(dft_line_room(&json->line, sizeof text), text, strlen(text));
    json->line.at += strlen(text);
}

static int put_json_cell(struct dft_json *json, sqlite3_stmt *statement, int column)
{
    char *hex;

    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        dft_json_null(json, NULL);
        break;
    case SQLITE_INTEGER:
        dft_json_int(json, NULL, sqlite3_column_int64(statement, column));
        break;
    case SQLITE_FLOAT:
        put_real(json, sqlite3_column_double(statement, column));
        break;
    case SQLITE_TEXT:
        dft_json_text(json, NULL, (const char *)sqlite3_column_text(statement, column),
                      (size_t)sqlite3_column_bytes(statement, column));
        break;
    default:
        hex = hex_of(statement, column);
        if (!hex)
            return SQLITE_NOMEM;
        dft_json_string(json, NULL, hex);
        free(hex);
    }
    return SQLITE_OK;
}

static int put_json_row(struct dft_json *json, sqlite3_stmt *statement, char *const *keys, int columns)
{
    int error = SQLITE_OK;

    dft_json_object(json, NULL);
    json->pretty = 0; /* a line a row */
    for (int i = 0; i < columns && !error; i++) {
        dft_json_key(json, keys[i], strlen(keys[i]));
        error = put_json_cell(json, statement, i);
    }
    dft_json_end_object(json);
    json->pretty = 1;
    return error;
}

int dft_sql_print_json(sqlite3_stmt *statement, uint64_t *rows)
{
    int columns = sqlite3_column_count(statement), error = SQLITE_ROW;
    char **keys = calloc((size_t)columns, sizeof *keys);
    struct dft_json json;

    for (int i = 0; i < columns; i++)
        if (!keys || !(keys[i] = key_of(statement, i)))
            error = SQLITE_NOMEM;
    dft_json_init(&json, stdout, 1);
    if (error == SQLITE_ROW)
        dft_json_array(&json, NULL);
    for (; error == SQLITE_ROW && (error = sqlite3_step(statement)) == SQLITE_ROW; ++*rows) {
        int failed = put_json_row(&json, statement, keys, columns);

        error = failed ? failed : SQLITE_ROW;
    }
    if (json.depth)
        dft_json_end_array(&json);
    fputc('\n', stdout);
    for (int i = 0; keys && i < columns; i++)
        free(keys[i]);
    free(keys);
    return error == SQLITE_DONE ? SQLITE_OK : error;
}

/* --- CSV ---------------------------------------------------------------------------------------- */

static void put_csv_row(sqlite3_stmt *statement, int columns)
{
    for (int i = 0; i < columns; i++) {
        int type = sqlite3_column_type(statement, i);

        if (i)
            putchar(',');
        if (type == SQLITE_BLOB)
            put_hex(stdout, statement, i);
        else if (type != SQLITE_NULL)
            dft_csv_text(stdout, (const char *)sqlite3_column_text(statement, i),
                         (size_t)sqlite3_column_bytes(statement, i));
    }
    putchar('\n');
}

int dft_sql_print_csv(sqlite3_stmt *statement, uint64_t *rows)
{
    int columns = sqlite3_column_count(statement), error;

    for (int i = 0; i < columns; i++) {
        const char *name = sqlite3_column_name(statement, i);

        if (i)
            putchar(',');
        dft_csv_text(stdout, name ? name : "", name ? strlen(name) : 0);
    }
    putchar('\n');
    for (; (error = sqlite3_step(statement)) == SQLITE_ROW; ++*rows)
        put_csv_row(statement, columns);
    return error == SQLITE_DONE ? SQLITE_OK : error;
}
