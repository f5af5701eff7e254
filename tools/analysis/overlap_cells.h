/* SPDX-License-Identifier: MIT */
/* What rows know of a window of time, by process and interval, and the estimates that follow.
 * Nothing of traces.
 *
 * For an interval it is known which of its 64ths something covers, and how long all of it took together. The time is
 * taken as spread evenly over what is covered, and what different processes do in a 64th as independent of each
 * other. */
#ifndef DFT_OVERLAP_CELLS_H
#define DFT_OVERLAP_CELLS_H

#include "analysis/overlap_sweep.h"

#define DFT_CELL_STATES DFT_BUSY_ALIVE /* the states before it */
#define DFT_SLOTS       64u

struct dft_overlap_cell {
    uint64_t bits;
    uint64_t edge; /* ns in the interval but for step; sums wrap */
    int64_t step;  /* from this interval on so many more cover whole ones */
};

/* ns of a process. */
struct dft_cell_sums {
    double compute, io, hidden, data, item, item_io;
};

struct dft_overlap_cells {
    struct dft_overlap *overlap;
    uint64_t origin_ns, width_ns;
    uint64_t from_ns, to_ns;         /* only this is counted */
    uint64_t first;                  /* interval of the window */
    uint32_t intervals;              /* in it */
    struct dft_overlap_cell *cells;  /* by lane, interval, state */
    int64_t *levels;                 /* by lane, state: at the end of the window before */
    uint64_t *lives;                 /* by lane: start, end */
    struct dft_cell_sums *sums;      /* by lane */
    struct dft_cell_sums *team_sums; /* item: alone; item_io: data in I/O */
    double none_ns;
    float *active; /* by team: 64 of an interval */
};

/* Memory for `intervals` in a window. The caller fills in lives. Returns 0 or -ENOMEM. */
int dft_overlap_cells_init(struct dft_overlap_cells *cells, uint32_t intervals);
void dft_overlap_cells_fini(struct dft_overlap_cells *cells);

static inline struct dft_overlap_cell *dft_overlap_cell_at(const struct dft_overlap_cells *cells, uint32_t lane,
                                                           uint64_t interval, unsigned state)
{
    return &cells->cells[((size_t)lane * cells->intervals + (interval - cells->first)) * DFT_CELL_STATES + state];
}

/* Adds to a cell, from any thread; intervals outside the window are left out. */
void dft_overlap_cell_add(struct dft_overlap_cells *cells, uint32_t lane, uint64_t interval, unsigned state,
                          const struct dft_overlap_cell *more);
/* Adds something that goes on in [start, end) (Unix). */
void dft_overlap_cell_span(struct dft_overlap_cells *cells, uint32_t lane, unsigned state, uint64_t start,
                           uint64_t end);
/* From `time` (Unix) on, `step` more go on. */
void dft_overlap_cell_step(struct dft_overlap_cells *cells, uint32_t lane, unsigned state, uint64_t time, int64_t step);
/* Counts the window, empties it, and goes on to the next. */
void dft_overlap_cells_count(struct dft_overlap_cells *cells);
/* All sums into the overlap. */
void dft_overlap_cells_finish(const struct dft_overlap_cells *cells);

#endif
