/* SPDX-License-Identifier: MIT */
/* Columns that grow row by row: integers, numbers, times, texts, and words with their dictionary. */
#include "arrow.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256 };

static bool grow(struct buffer *buffer, size_t more)
{
    size_t size = buffer->size ? buffer->size : 1024;
    char *data;

    if (more <= buffer->size - buffer->used)
        return true;
    if (more > SIZE_MAX / 4 - buffer->used)
        return false;
    while (size - buffer->used < more)
        size *= 2;
    data = realloc(buffer->data, size);
    if (!data)
        return false;
    buffer->data = data;
    buffer->size = size;
    return true;
}

static bool push(struct buffer *buffer, const void *data, size_t length)
{
    if (!grow(buffer, length))
        return false;
    memcpy(buffer->data + buffer->used, data, length);
    buffer->used += length;
    return true;
}

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

bool arrow_column_init(struct column *column, const char *name, size_t length, enum arrow_type type)
{
    int32_t zero = 0;

    column->type = type;
    column->last = -1;
    column->name_length = length;
    column->name = strndup(name, length);
    return column->name &&
           (type == TYPE_TEXT || type == TYPE_WORD ? push(&column->texts.ends, &zero, sizeof(zero)) : true);
}

struct table *arrow_table_like(const struct table *table)
{
    struct table *other = arrow_table_new(table->count);

    for (size_t i = 0; other && i < table->count; i++) {
        const struct column *column = &table->columns[i];

        if (!arrow_column_init(&other->columns[i], column->name, column->name_length, column->type)) {
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
        free(column->valid.data);
        free(column->values.data);
        free(column->texts.bytes.data);
        free(column->texts.ends.data);
        free(column->slots.data);
    }
    free(table->columns);
    free(table);
}

size_t arrow_table_bytes(const struct table *table)
{
    size_t sum = 0;

    for (size_t i = 0; i < table->count; i++)
        sum += table->columns[i].texts.bytes.used + table->columns[i].values.used;
    return sum;
}

static void set_valid(struct table *table, struct column *column, bool valid)
{
    size_t bit = column->rows % 8;

    if (!bit && !push(&column->valid, "", 1)) {
        table->failed = true;
        return;
    }
    if (valid)
        column->valid.data[column->valid.used - 1] |= (char)(1U << bit);
    else
        column->nulls++;
    column->rows++;
}

static void put(struct table *table, struct column *column, const void *value, size_t size)
{
    /* A name that stands twice in a line: the first one counts. */
    if (column->rows != table->rows)
        return;
    if (!push(&column->values, value, size))
        table->failed = true;
    else
        set_valid(table, column, true);
}

void arrow_put_int(struct table *table, struct column *column, int64_t value)
{
    double number = (double)value;

    if (column->type == TYPE_FLOAT)
        put(table, column, &number, sizeof(number));
    else if (column->type == TYPE_INT || column->type == TYPE_TIME)
        put(table, column, &value, sizeof(value));
}

void arrow_put_float(struct table *table, struct column *column, double value)
{
    if (column->type == TYPE_FLOAT)
        put(table, column, &value, sizeof(value));
}

static uint64_t hash(const char *text, size_t length)
{
    uint64_t sum = length * 0x9E3779B97F4A7C15ULL, piece;

    for (; length >= 8; text += 8, length -= 8) {
        memcpy(&piece, text, 8);
        sum = (sum ^ piece) * 0xD6E8FEB86659FD93ULL;
        sum ^= sum >> 32;
    }
    piece = 0;
    memcpy(&piece, text, length);
    sum = (sum ^ piece) * 0xD6E8FEB86659FD93ULL;
    return sum ^ sum >> 32;
}

static const char *text_at(const struct texts *texts, size_t index, size_t *length)
{
    int32_t ends[2];

    memcpy(ends, texts->ends.data + index * sizeof(int32_t), sizeof(ends));
    *length = (size_t)(ends[1] - ends[0]);
    return texts->bytes.data + ends[0];
}

static bool is_word(const struct texts *texts, int32_t index, const char *text, size_t length)
{
    size_t there;
    const char *word = text_at(texts, (size_t)index, &there);

    return there == length && (!length || !memcmp(word, text, length));
}

static bool add_text(struct texts *texts, const char *text, size_t length)
{
    int32_t end;

    if (length > (size_t)INT32_MAX - texts->bytes.used || !grow(&texts->ends, sizeof(end)) ||
        !grow(&texts->bytes, length + 1))
        return false;
    end = (int32_t)(texts->bytes.used + length);
    return push(&texts->bytes, text, length) && push(&texts->ends, &end, sizeof(end));
}

/* The slot of the word, or the free one where it belongs. */
static int32_t *find_slot(const struct column *column, const char *text, size_t length)
{
    size_t mask = column->slots.size / sizeof(int32_t) - 1;
    int32_t *slots = (int32_t *)(void *)column->slots.data;
    size_t at = hash(text, length) & mask;

    while (slots[at] && !is_word(&column->texts, slots[at] - 1, text, length))
        at = (at + 1) & mask;
    return &slots[at];
}

static bool more_slots(struct column *column)
{
    size_t count = column->slots.size ? 2 * column->slots.size / sizeof(int32_t) : FIRST_SLOTS;
    char *data = calloc(count, sizeof(int32_t));

    if (!data)
        return false;
    free(column->slots.data);
    column->slots.data = data;
    column->slots.size = count * sizeof(int32_t);
    for (size_t i = 0; i < column->words; i++) {
        size_t length;
        const char *text = text_at(&column->texts, i, &length);

        *find_slot(column, text, length) = (int32_t)i + 1;
    }
    return true;
}

static int32_t word_index(struct column *column, const char *text, size_t length)
{
    int32_t *slot;

    if (column->last >= 0 && is_word(&column->texts, column->last, text, length))
        return column->last;
    if (2 * (column->words + 1) * sizeof(int32_t) > column->slots.size && !more_slots(column))
        return -1;
    slot = find_slot(column, text, length);
    if (!*slot) {
        if (!add_text(&column->texts, text, length))
            return -1;
        *slot = (int32_t)++column->words;
    }
    column->last = *slot - 1;
    return column->last;
}

void arrow_put_text(struct table *table, struct column *column, const char *text, size_t length)
{
    int32_t index;

    if (column->rows != table->rows)
        return;
    if (column->type == TYPE_WORD) {
        index = word_index(column, text, length);
        if (index < 0)
            table->failed = true;
        else
            put(table, column, &index, sizeof(index));
    } else if (column->type == TYPE_TEXT) {
        if (!add_text(&column->texts, text, length))
            table->failed = true;
        else
            set_valid(table, column, true);
    }
}

static void put_null(struct table *table, struct column *column)
{
    int64_t zero = 0;
    bool fine = column->type == TYPE_TEXT
                    ? add_text(&column->texts, "", 0)
                    : push(&column->values, &zero, column->type == TYPE_WORD ? sizeof(int32_t) : sizeof(zero));

    if (fine)
        set_valid(table, column, false);
    else
        table->failed = true;
}

void arrow_end_row(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->columns[i].rows == table->rows)
            put_null(table, &table->columns[i]);
    table->rows++;
}

bool arrow_is_null(const struct column *column, size_t row)
{
    return !((unsigned char)column->valid.data[row / 8] >> row % 8 & 1);
}

int64_t arrow_int(const struct column *column, size_t row)
{
    int64_t value;

    memcpy(&value, column->values.data + row * sizeof(value), sizeof(value));
    return value;
}

double arrow_float(const struct column *column, size_t row)
{
    double value;

    memcpy(&value, column->values.data + row * sizeof(value), sizeof(value));
    return value;
}

const char *arrow_text(const struct column *column, size_t row, size_t *length)
{
    int32_t index = 0;

    if (column->type == TYPE_WORD) {
        memcpy(&index, column->values.data + row * sizeof(index), sizeof(index));
        row = (size_t)index;
    }
    return text_at(&column->texts, row, length);
}
