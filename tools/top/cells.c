/* SPDX-License-Identifier: MIT */
/* Adds rows to cells. Rows of all intervals and regions go into the same cell. */
#include "top/cells.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/aggregate.h"
#include "base/array.h"
#include "format/ops.h"

void dft_top_counts_add(struct dft_top_counts *into, const struct dft_top_counts *from)
{
    into->calls += from->calls;
    into->errors += from->errors;
    into->time_ns += from->time_ns;
    into->read += from->read;
    into->written += from->written;
}

static struct dft_top_cell *find(struct dft_top_cells *cells, uint64_t subject, uint8_t op, uint8_t io)
{
    uint64_t *place = dft_map_put(&cells->places, dft_map_join(subject, (uint64_t)op << 8 | io));

    if (!place)
        return NULL;
    if (!*place) {
        if (DFT_ARRAY_PUSH(cells->list, cells->capacity, cells->count, (struct dft_top_cell){subject, op, io, {0}}))
            return NULL;
        *place = cells->count;
    }
    return &cells->list[*place - 1];
}

/* Rows of traces of earlier versions do not say what they are about. */
static uint8_t io_of(const struct dft_row *row)
{
    static const uint8_t ios[] = {DFT_IO_META, DFT_IO_READ, DFT_IO_WRITE};

    if (row->io)
        return row->io;
    if (row->kind == DFT_ROW_CALL)
        return (uint8_t)dft_op_io(row->op);
    return row->class < sizeof ios ? ios[row->class] : DFT_IO_NONE;
}

int dft_top_cells_add(struct dft_top_cells *cells, const struct dft_row *row)
{
    const struct dft_metrics *metrics = &row->metrics;
    struct dft_top_counts counts = {metrics->count, metrics->errors, metrics->dur_sum, 0, 0};
    uint8_t is_file = row->kind == DFT_ROW_FILE, op = is_file ? 0 : row->op, io = io_of(row);
    uint64_t subject = row->subject;
    struct dft_top_cell *cell;

    if (is_file && cells->count >= DFT_TOP_FILES_MAX && !dft_map_find(&cells->places, dft_map_join(subject, io)))
        subject = DFT_TOP_OTHER_FILE;
    cell = find(cells, subject, op, io);
    if (!cell)
        return -ENOMEM;
    if (is_file ? io == DFT_IO_WRITE : dft_op_class(op) == DFT_CLASS_WRITE)
        counts.written = metrics->bytes;
    else
        counts.read = metrics->bytes;
    dft_top_counts_add(&cell->counts, &counts);
    return 0;
}

int dft_top_cells_add_table(struct dft_top_cells *cells, struct dft_table *table, enum dft_row_kind kind)
{
    struct dft_row *rows;
    uint32_t count = 0;
    int rc = dft_table_rows_unsorted(table, &rows, &count);

    for (uint32_t i = 0; !rc && i < count; i++)
        if (rows[i].kind == kind)
            rc = dft_top_cells_add(cells, &rows[i]);
    return rc;
}

void dft_top_cells_clear(struct dft_top_cells *cells)
{
    dft_map_clear(&cells->places);
    cells->count = 0;
}

void dft_top_cells_fini(struct dft_top_cells *cells)
{
    dft_map_fini(&cells->places);
    free(cells->list);
    *cells = (struct dft_top_cells){0};
}
