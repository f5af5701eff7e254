/* SPDX-License-Identifier: MIT */
/* Lists of columns as a reader sees them: every access is checked, the first fault is kept as a
 * text. */
#ifndef DFT_COLUMNS_H
#define DFT_COLUMNS_H

#include <stddef.h>

#include "format/format.h"
#include "format/leb128.h"

#define DFT_COLUMNS_MAX 64u /* column ids below this can be known */

/* What is known of a column: which encodings it may have, and what to say of it. encodings 0:
 * unknown id. */
struct dft_column_spec {
    uint8_t encodings; /* mask */
    const char *early, *twice, *encoding, *value;
};

#define DFT_MASK(encoding) (1u << (encoding))
#define DFT_COLUMN_SPEC(name, mask)                                                                                    \
    {                                                                                                                  \
        mask, "column " #name " ends early", "column " #name " appears twice",                                         \
            "column " #name " has an unknown encoding", "column " #name " holds an impossible value"                   \
    }

struct dft_column {
    const uint8_t *at, *end;
    const struct dft_column_spec *spec;
    uint8_t encoding;
    uint8_t present;
};

struct dft_columns {
    struct dft_column list[DFT_COLUMNS_MAX];
    const char *reason; /* the first fault; NULL: none */
};

/* Makes the column cursors of a list. Returns 0, or -EBADMSG. */
int dft_columns_parse(struct dft_columns *columns, const struct dft_column_spec *specs, unsigned nspecs,
                      const uint8_t *bytes, size_t length);

uint64_t dft_column_leb_slow(struct dft_columns *columns, struct dft_column *column);

static inline void dft_columns_fault(struct dft_columns *columns, const char *reason)
{
    if (!columns->reason)
        columns->reason = reason;
}

/* The value is not one that the column may hold. */
static inline void dft_column_fault(struct dft_columns *columns, unsigned id)
{
    dft_columns_fault(columns, columns->list[id].spec->value);
}

/* The next number; 0 from an absent column, and after a fault. */
static inline uint64_t dft_column_leb(struct dft_columns *columns, unsigned id)
{
    struct dft_column *column = &columns->list[id];

    if (dft_likely(column->at < column->end && *column->at < 128))
        return *column->at++;
    return dft_column_leb_slow(columns, column);
}

/* A number of at most `max`, else a fault and 0. */
static inline uint64_t dft_column_leb_max(struct dft_columns *columns, unsigned id, uint64_t max)
{
    uint64_t value = dft_column_leb(columns, id);

    if (dft_likely(value <= max))
        return value;
    dft_column_fault(columns, id);
    return 0;
}

/* The next `length` bytes; NULL and a fault if there are fewer. */
const uint8_t *dft_column_bytes(struct dft_columns *columns, unsigned id, uint64_t length);

/* Eight bytes as a number. */
uint64_t dft_column_word(struct dft_columns *columns, unsigned id);

static inline size_t dft_column_left(const struct dft_columns *columns, unsigned id)
{
    return (size_t)(columns->list[id].end - columns->list[id].at);
}

#endif
