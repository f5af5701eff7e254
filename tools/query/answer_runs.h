/* SPDX-License-Identifier: MIT */
/* Runs: groups in order with their texts, in the spill file, and their merge. One thread at a
 * time. */
#ifndef DFT_ANSWER_RUNS_H
#define DFT_ANSWER_RUNS_H

#include "base/names.h"
#include "base/spill_file.h"
#include "query/answer_sort.h"

/* Groups in order, one after the other in the spill file. */
struct dft_group_run {
    uint64_t next, end; /* what has not been read */
    uint8_t *buffer;
    size_t at, filled, capacity;
    struct dft_group group; /* the first that has not been returned */
    struct dft_text texts[2];
};

/* All zero at first, but for what comes from outside. */
struct dft_runs {
    struct dft_spill_file *file; /* from outside, as the next two */
    size_t memory;               /* for the buffers of all runs */
    struct dft_sorting sorting;
    struct dft_names *texts; /* of the groups that were returned; from outside, while runs are merged */
    struct dft_group_run *list;
    uint32_t *heap; /* numbers of runs, the one with the first group on top */
    uint32_t count, nheap;
};

/* Writes the groups of `part`, which are in order, as a run. Returns 0 or -errno. */
int dft_runs_write(struct dft_runs *runs, const struct dft_answer *part);
/* All runs are written: their groups come in order from now on. Returns 0 or -errno. */
int dft_runs_merge(struct dft_runs *runs);
/* The next group; its texts are in runs->texts. Returns 1, 0: there is none, or -errno. */
int dft_runs_next(struct dft_runs *runs, struct dft_group *group);
/* Texts go into another table: those of what comes next are put there. Returns 0 or -ENOMEM. */
int dft_runs_move_texts(struct dft_runs *runs, struct dft_names *texts);
void dft_runs_fini(struct dft_runs *runs);

#endif
