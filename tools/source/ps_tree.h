/* SPDX-License-Identifier: MIT */
/* Processes as a tree: who is whose parent, and in which order they are printed. */
#ifndef DFT_PS_TREE_H
#define DFT_PS_TREE_H

#include "source/filter.h"

#define DFT_PS_ROOT UINT32_MAX

/* A process image is a node, known by its number in the source. Its parent is the image whose key it names; where
 * that is not among the inputs, the image of the same process that ended by exec before it, else the one with its
 * parent's pid on its host. */
struct dft_ps_tree {
    const struct dft_source_process *processes;
    uint32_t count;   /* of processes and of `parent` */
    uint32_t shown;   /* of `order` and `depth`: those that pass the filter */
    uint32_t *parent; /* by number; DFT_PS_ROOT: none */
    uint32_t *order;  /* numbers, parents before their children */
    uint32_t *depth;  /* of those in order; the distance to the root */
};

/* Returns 0 or -ENOMEM; free it in either case. The tree holds as long as the source does. */
int dft_ps_tree_make(struct dft_ps_tree *tree, const struct dft_source *source, const struct dft_filter *filter);
void dft_ps_tree_free(struct dft_ps_tree *tree);

#endif
