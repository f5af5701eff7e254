/* SPDX-License-Identifier: MIT */
/* The processes of a line: how many, and their ranks. */
#ifndef DFT_LINEAGE_RANKS_H
#define DFT_LINEAGE_RANKS_H

#include "lineage/lineage_output.h"

struct dft_lineage_ranks {
    const struct dft_lineage_answer *answer;
    uint32_t *list; /* numbers of processes */
    uint32_t count, capacity;
};

/* A process may be added again. Returns 0 or -ENOMEM. */
int dft_lineage_ranks_add(struct dft_lineage_ranks *ranks, uint32_t process);
/* "4 processes (ranks 0-2, 5)", "process 1234". */
void dft_lineage_ranks_print(struct dft_lineage_ranks *ranks, FILE *out);
void dft_lineage_ranks_fini(struct dft_lineage_ranks *ranks);

#endif
