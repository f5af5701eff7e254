/* SPDX-License-Identifier: MIT */
/* A cube: sums of calls by some dimensions, of which there are at most so many cells. */
#ifndef DFT_CUBE_H
#define DFT_CUBE_H

#include "base/map.h"
#include "report/page_data.h"

/* In the order in which cells are sorted. */
enum dft_dimension {
    DFT_DIMENSION_TIME,
    DFT_DIMENSION_WHO,
    DFT_DIMENSION_CALL,
    DFT_DIMENSION_REGION,
    DFT_DIMENSION_FILE,
    DFT_DIMENSION_STACK,
    DFT_DIMENSION_SIZE,
    DFT_DIMENSION_CLASS,
    DFT_DIMENSIONS
};

/* Values of a dimension lie below these. A cell's key has a field for each dimension of its cube. */
#define DFT_TIMES_MAX   1024u
#define DFT_WHO_MAX     16384u
#define DFT_CALLS_MAX   1024u
#define DFT_REGIONS_MAX 1024u
#define DFT_FILES_MAX   8192u
#define DFT_STACKS_MAX  4096u

struct dft_cube_cell {
    uint64_t key;
    uint64_t calls, errors, time_ns, bytes;
    uint64_t busy_ns; /* what of calls lies in the bin */
};

struct dft_cube {
    unsigned dimensions; /* 1 << enum dft_dimension */
    uint32_t limit;      /* of cells */
    struct dft_map numbers;
    struct dft_cube_cell *cells;
    size_t count, capacity;
    int is_over; /* there were more than `limit`: the cube takes no more */
};

/* One number from the values of some dimensions (1 << enum dft_dimension), in the order of cells; and
 * one of the values again. */
uint64_t dft_cell_key(unsigned dimensions, const uint32_t at[DFT_DIMENSIONS]);
uint32_t dft_cell_value(unsigned dimensions, uint64_t key, enum dft_dimension dimension);

/* Adds `more` (its key means nothing) at these values. A cube that would pass its limit keeps the cells
 * that it has, and is over. Returns 0 or -ENOMEM. */
int dft_cube_add(struct dft_cube *cube, const uint32_t at[DFT_DIMENSIONS], const struct dft_cube_cell *more);
/* Sorts the cells and puts them as a table. The cube cannot grow afterwards. */
void dft_cube_put(struct dft_cube *cube, struct dft_page_data *data, const char *table);
/* Writes the member "dims": ["t", "p"]. */
void dft_dimensions_json(struct dft_json *json, unsigned dimensions);
/* "t": the name of a dimension's column. */
const char *dft_dimension_name(enum dft_dimension dimension);
void dft_cube_fini(struct dft_cube *cube);

#endif
