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

/* The letters by which Python and frames name types of columns. */
enum arrow_type {
    TYPE_INT = 'i',
    TYPE_UNSIGNED = 'u',
    TYPE_FLOAT = 'f',
    TYPE_TIME = 't', /* nanoseconds since the Unix epoch, UTC */
    TYPE_TEXT = 's',
    TYPE_WORD = 'w' /* text of which few values differ: a dictionary */
};

/* Memory from malloc. The text of index i begins at ends[i] and ends at ends[i + 1]. */
struct column {
    char *name;
    enum arrow_type type;
    size_t nulls;
    unsigned char *valid; /* a bit a row */
    char *values;         /* 8 bytes a row, or int32_t indices of words */
    int32_t *ends;        /* of texts, or of words */
    char *bytes;
    size_t words;
};

struct table {
    struct column *columns;
    size_t count;
    size_t rows;
};

/* Columns without rows. NULL: no memory. */
struct table *arrow_table_new(size_t columns);
void arrow_table_free(struct table *table);
/* Names a column of the table. */
bool arrow_column_init(struct column *column, const char *name, enum arrow_type type);
struct table *arrow_table_like(const struct table *table);

/* Takes the rows of a frame, once (tools/dump/dump_batches.c says what it is, without its length). Returns 0, EINVAL:
 * it is none of these columns, or ENOMEM. The table can only be freed after an error. */
int arrow_read_frame(struct table *table, const char *frame, size_t length);

bool arrow_is_null(const struct column *column, size_t row);
int64_t arrow_int(const struct column *column, size_t row);
double arrow_float(const struct column *column, size_t row);
const char *arrow_text(const struct column *column, size_t row, size_t *length);

/* These two take the table's memory; 0 or an errno. */
int arrow_export_schema(const struct table *table, struct ArrowSchema *out);
int arrow_export_table(struct table *table, struct ArrowArray *out);

#endif
