/* SPDX-License-Identifier: MIT */
/* Lists of columns as a reader sees them. */
#include "columns.h"

#include <errno.h>

static int open_column(struct dft_columns *columns, const struct dft_column_spec *spec, uint64_t id, uint64_t encoding)
{
    struct dft_column *column = &columns->list[id];

    if (column->present)
        columns->reason = spec->twice;
    else if (encoding > 7 || !(spec->encodings & DFT_MASK(encoding)))
        columns->reason = spec->encoding;
    column->present = 1;
    column->encoding = (uint8_t)encoding;
    return columns->reason ? -EBADMSG : 0;
}

int dft_columns_parse(struct dft_columns *columns, const struct dft_column_spec *specs, unsigned nspecs,
                      const uint8_t *bytes, size_t length)
{
    const uint8_t *at = bytes, *end = bytes + length;
    uint64_t id, encoding, size;

    memset(columns, 0, sizeof *columns);
    for (unsigned i = 0; i < nspecs; i++)
        columns->list[i] = (struct dft_column){.at = bytes, .end = bytes, .spec = &specs[i]};
    while (at < end) {
        at = dft_leb_get(at, end, &id);
        if (at)
            at = dft_leb_get(at, end, &encoding);
        if (at)
            at = dft_leb_get(at, end, &size);
        if (!at || size > (uint64_t)(end - at)) {
            columns->reason = "the list of columns ends early";
            return -EBADMSG;
        }
        if (id < nspecs && specs[id].encodings) {
            if (open_column(columns, &specs[id], id, encoding))
                return -EBADMSG;
            columns->list[id].at = at;
            columns->list[id].end = at + size;
        }
        at += size;
    }
    return 0;
}

uint64_t dft_column_leb_slow(struct dft_columns *columns, struct dft_column *column)
{
    uint64_t value;
    const uint8_t *at;

    if (!column->present)
        return 0;
    at = dft_leb_get(column->at, column->end, &value);
    if (!at) {
        dft_columns_fault(columns, column->spec->early);
        column->at = column->end;
        return 0;
    }
    column->at = at;
    return value;
}

const uint8_t *dft_column_bytes(struct dft_columns *columns, unsigned id, uint64_t length)
{
    struct dft_column *column = &columns->list[id];
    const uint8_t *bytes = column->at;

    if (length > dft_column_left(columns, id)) {
        dft_columns_fault(columns, column->spec->early);
        column->at = column->end;
        return NULL;
    }
    column->at += length;
    return bytes;
}

uint64_t dft_column_word(struct dft_columns *columns, unsigned id)
{
    const uint8_t *bytes;

    if (!columns->list[id].present)
        return 0;
    bytes = dft_column_bytes(columns, id, 8);
    return bytes ? dft_load64(bytes) : 0;
}
