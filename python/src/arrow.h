/* SPDX-License-Identifier: MIT */
/* Tables as columns, and the Arrow C data interface that hands them on. */
#ifndef DFTRACE_ARROW_H
#define DFTRACE_ARROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The interface's own structs, as its specification has them. */
struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

enum { ARROW_NULLABLE = 2 };

/* The letters by which Python names types of columns. */
enum arrow_type {
    TYPE_INT = 'i',
    TYPE_FLOAT = 'f',
    TYPE_TIME = 't', /* nanoseconds since the Unix epoch, UTC */
    TYPE_TEXT = 's',
    TYPE_WORD = 'w' /* text of which few values differ: a dictionary */
};

struct buffer {
    char *data;
    size_t used;
    size_t size;
};

/* Texts, one after another: that of index i ends at ends[i + 1]. */
struct texts {
    struct buffer bytes;
    struct buffer ends; /* int32_t, the first is 0 */
    bool surrogates;    /* some text has bytes that are not UTF-8, see arrow_valid */
};

struct column {
    char *name;
    size_t name_length;
    enum arrow_type type;
    size_t rows;
    size_t nulls;
    struct buffer valid;  /* a bit a row */
    struct buffer values; /* int64_t, double, or int32_t indices of words */
    struct texts texts;
    struct buffer slots; /* of words: int32_t index + 1, by hash; a power of two of them */
    size_t words;
    int32_t last; /* the word of the row before */
};

struct table {
    struct column *columns;
    size_t count;
    size_t rows;
    bool failed; /* out of memory, or a text beyond what the format can hold */
};

struct table *arrow_table_new(size_t columns);
void arrow_table_free(struct table *table);
bool arrow_column_init(struct column *column, const char *name, size_t length, enum arrow_type type);
struct table *arrow_table_like(const struct table *table);
size_t arrow_table_bytes(const struct table *table);

/* Each adds the value of this row; a row that adds none is null. */
void arrow_put_int(struct table *table, struct column *column, int64_t value);
void arrow_put_float(struct table *table, struct column *column, double value);
void arrow_put_text(struct table *table, struct column *column, const char *text, size_t length);
/* Ends the row. */
void arrow_end_row(struct table *table);

bool arrow_is_null(const struct column *column, size_t row);
int64_t arrow_int(const struct column *column, size_t row);
double arrow_float(const struct column *column, size_t row);
const char *arrow_text(const struct column *column, size_t row, size_t *length);

/* Reads lines of JSON objects into rows; a name without a column is passed over. Returns the bytes
 * of complete lines, and how many lines were no such object. */
size_t arrow_read_lines(struct table *table, const char *text, size_t length, size_t *wrong);

/* These two take the table's memory; 0 or an errno. */
int arrow_export_schema(const struct table *table, struct ArrowSchema *out);
int arrow_export_table(struct table *table, struct ArrowArray *out);

#endif
