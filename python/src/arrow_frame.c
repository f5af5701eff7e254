/* SPDX-License-Identifier: MIT */
/* Tables from frames, which dftmerge writes (tools/dump/dump_batches.c) and _table.py: columns as they lie in Arrow. */
#include "arrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What is left of a frame. */
struct reader {
    const char *at;
    size_t left;
    int rc;
};

struct table *arrow_table_new(size_t columns)
{
    struct table *table = calloc(1, sizeof(*table));

    if (!table)
        return NULL;
    table->count = columns;
    table->columns = calloc(columns ? columns : 1, sizeof(*table->columns));
    if (!table->columns) {
        free(table);
        return NULL;
    }
    return table;
}

bool arrow_column_init(struct column *column, const char *name, enum arrow_type type)
{
    column->type = type;
    column->name = strdup(name);
    return column->name;
}

struct table *arrow_table_like(const struct table *table)
{
    struct table *other = arrow_table_new(table->count);

    for (size_t i = 0; other && i < table->count; i++) {
        if (!arrow_column_init(&other->columns[i], table->columns[i].name, table->columns[i].type)) {
            arrow_table_free(other);
            return NULL;
        }
    }
    return other;
}

void arrow_table_free(struct table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->count; i++) {
        struct column *column = &table->columns[i];

        free(column->name);
        free(column->valid);
        free(column->values);
        free(column->ends);
        free(column->bytes);
    }
    free(table->columns);
    free(table);
}

/* A copy of the next bytes, with one more behind them, so that it is never empty. */
static void *copy(struct reader *reader, size_t length)
{
    char *data = reader->rc || length > reader->left ? NULL : malloc(length + 1);

    if (!data) {
        reader->rc = reader->rc ? reader->rc : length > reader->left ? EINVAL : ENOMEM;
        return NULL;
    }
    if (length)
        memcpy(data, reader->at, length);
    reader->at += length;
    reader->left -= length;
    return data;
}

static uint32_t number(struct reader *reader)
{
    uint32_t value = 0;

    if (reader->left < sizeof(value)) {
        reader->rc = EINVAL;
        return 0;
    }
    memcpy(&value, reader->at, sizeof(value));
    reader->at += sizeof(value);
    reader->left -= sizeof(value);
    return value;
}

static void read_texts(struct reader *reader, struct column *column, size_t count)
{
    column->ends = copy(reader, (count + 1) * sizeof(*column->ends));
    for (size_t i = 0; column->ends && i < count; i++)
        if (column->ends[i] > column->ends[i + 1])
            reader->rc = EINVAL;
    if (column->ends && column->ends[0])
        reader->rc = EINVAL;
    if (!reader->rc)
        column->bytes = copy(reader, (size_t)column->ends[count]);
}

static void read_words(struct reader *reader, struct column *column, size_t rows)
{
    column->values = copy(reader, rows * sizeof(int32_t));
    column->words = number(reader);
    if (!reader->rc)
        read_texts(reader, column, column->words);
    for (size_t row = 0; !reader->rc && row < rows; row++) {
        int32_t word;

        memcpy(&word, column->values + row * sizeof(word), sizeof(word));
        if ((uint32_t)word >= column->words && (word || !arrow_is_null(column, row))) /* null is 0 */
            reader->rc = EINVAL;
    }
}

static void read_column(struct reader *reader, struct column *column, size_t rows)
{
    if (!reader->left || *reader->at != (char)column->type) {
        reader->rc = EINVAL;
        return;
    }
    reader->at++;
    reader->left--;
    column->valid = copy(reader, (rows + 7) / 8);
    for (size_t row = 0; column->valid && row < rows; row++)
        column->nulls += arrow_is_null(column, row);
    if (reader->rc)
        return;
    if (column->type == TYPE_WORD)
        read_words(reader, column, rows);
    else if (column->type == TYPE_TEXT)
        read_texts(reader, column, rows);
    else
        column->values = copy(reader, rows * sizeof(int64_t));
}

int arrow_read_frame(struct table *table, const char *frame, size_t length)
{
    struct reader reader = {.at = frame, .left = length};

    table->rows = number(&reader);
    if (number(&reader) != table->count)
        return EINVAL;
    for (size_t i = 0; i < table->count && !reader.rc; i++)
        read_column(&reader, &table->columns[i], table->rows);
    return reader.rc ? reader.rc : reader.left ? EINVAL : 0;
}

bool arrow_is_null(const struct column *column, size_t row)
{
    return !(column->valid[row / 8] >> row % 8 & 1);
}

int64_t arrow_int(const struct column *column, size_t row)
{
    int64_t value;

    memcpy(&value, column->values + row * sizeof(value), sizeof(value));
    return value;
}

double arrow_float(const struct column *column, size_t row)
{
    double value;

    memcpy(&value, column->values + row * sizeof(value), sizeof(value));
    return value;
}

const char *arrow_text(const struct column *column, size_t row, size_t *length)
{
    if (column->type == TYPE_WORD) {
        int32_t word;

        memcpy(&word, column->values + row * sizeof(word), sizeof(word));
        row = (size_t)word;
    }
    *length = (size_t)(column->ends[row + 1] - column->ends[row]);
    return column->bytes + column->ends[row];
}
