/* SPDX-License-Identifier: MIT */
/* The answers of `dftmerge lineage`. */
#ifndef DFT_LINEAGE_OUTPUT_H
#define DFT_LINEAGE_OUTPUT_H

#include <stdio.h>

#include "lineage/lineage.h"
#include "object/object.h"

#define DFT_LINEAGE_ALL       UINT32_MAX /* no entity in particular */
#define DFT_LINEAGE_DEPTH_MAX 1000u

struct dft_lineage_answer {
    const struct dft_lineage *lineage;
    const struct dft_names *names; /* texts of regions */
    const struct dft_source_process *processes;
    uint32_t nprocesses;
    uint32_t entity; /* place, or DFT_LINEAGE_ALL */
    uint32_t depth;  /* steps; UINT32_MAX: all */
    uint64_t top;    /* lines of a list */
    int up, down;
};

/* Each returns 0 or -ENOMEM. */
int dft_lineage_print(const struct dft_lineage_answer *answer);
int dft_lineage_list(const struct dft_lineage_answer *answer);
/* DOT for Graphviz, and PROV-JSON of W3C. */
int dft_lineage_dot(const struct dft_lineage_answer *answer);
int dft_lineage_prov(const struct dft_lineage_answer *answer);

/* lineage_tree.c: the lines below an entity. *cycles grows by the relations that lead back. */
int dft_lineage_tree(const struct dft_lineage_answer *answer, enum dft_lineage_way way, FILE *out, uint64_t *cycles);

/* lineage_part.c: what of the graph is requested; 1: it is part of the answer. */
struct dft_lineage_part {
    uint8_t *entities, *activities, *links, *processes;
};
int dft_lineage_part(const struct dft_lineage_answer *answer, struct dft_lineage_part *part);
void dft_lineage_part_fini(struct dft_lineage_part *part);

#endif
