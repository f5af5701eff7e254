/* SPDX-License-Identifier: MIT */
/* The columns of the page's tables: what each holds, and how it is written. */
#ifndef DFT_PAGE_CELLS_H
#define DFT_PAGE_CELLS_H

#include "summary/page.h"

enum dft_page_cell {
    DFT_CELL_FILES,
    DFT_CELL_COUNT,
    DFT_CELL_ERRORS,
    DFT_CELL_TIME,
    DFT_CELL_IN_IO,
    DFT_CELL_BUSY,
    DFT_CELL_IN_FLIGHT,
    DFT_CELL_BAR,
    DFT_CELL_SHARE,
    DFT_CELL_WALL,
    DFT_CELL_SELF,
    DFT_CELL_MEAN,
    DFT_CELL_P50,
    DFT_CELL_P95,
    DFT_CELL_P99,
    DFT_CELL_MAX,
    DFT_CELL_BYTES,
    DFT_CELL_EACH,
    DFT_CELL_COMMON,
    DFT_CELL_DISTINCT,
    DFT_CELL_AGAIN,
    DFT_CELL_RATE,
    DFT_CELL_CALLS_RATE,
    DFT_CELL_PROCESSES,
    DFT_CELLS
};

/* Title and place of a column of cells in a table. */
struct dft_grid_column;
void dft_page_cell_column(const struct dft_page_table *table, enum dft_page_cell cell, struct dft_grid_column *column);
/* Returns 0: it means nothing here. */
int dft_page_cell_value(const struct dft_page_table *table, const struct dft_page_line *line, enum dft_page_cell cell,
                        uint64_t *value);
/* Writes into `text`, which has DFT_PAGE_CELL_CAPACITY bytes. */
#define DFT_PAGE_CELL_CAPACITY 64
void dft_page_cell_text(const struct dft_page_table *table, enum dft_page_cell cell, uint64_t value, char *text);
/* Is a value small beside the largest one of its column? */
int dft_page_cell_is_dim(enum dft_page_cell cell, uint64_t value, uint64_t max);

#endif
