/* SPDX-License-Identifier: MIT */
/* Sums of calls: one cell for each call, or file, and class of I/O. */
#ifndef DFT_TOP_CELLS_H
#define DFT_TOP_CELLS_H

#include "base/map.h"
#include "format/row.h"

#define DFT_TOP_FILES_MAX  100000u    /* files of one process that have cells of their own */
#define DFT_TOP_OTHER_FILE UINT64_MAX /* the subject of the cell of all further files */

struct dft_top_counts {
    uint64_t calls, errors, time_ns, read, written;
};

struct dft_top_cell {
    uint64_t subject; /* id of a call or of a file */
    uint8_t op;       /* of calls */
    uint8_t io;       /* enum dft_io */
    struct dft_top_counts counts;
};

struct dft_top_cells {
    struct dft_map places; /* subject, op and io -> position + 1 */
    struct dft_top_cell *list;
    size_t count, capacity;
};

struct dft_table;

void dft_top_counts_add(struct dft_top_counts *into, const struct dft_top_counts *from);
/* Adds the rows of one kind that a table has. Returns 0 or -ENOMEM. */
int dft_top_cells_add_table(struct dft_top_cells *cells, struct dft_table *table, enum dft_row_kind kind);
/* Adds a call row or a file row. Returns 0 or -ENOMEM. */
int dft_top_cells_add(struct dft_top_cells *cells, const struct dft_row *row);
void dft_top_cells_clear(struct dft_top_cells *cells);
void dft_top_cells_fini(struct dft_top_cells *cells);

#endif
