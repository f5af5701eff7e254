/* SPDX-License-Identifier: MIT */
/* Processes as a tree: the parent of each process, and the order in which processes are printed. */
#ifndef DFT_PS_TREE_H
#define DFT_PS_TREE_H

#include "views/filter.h"

#define DFT_PS_ROOT UINT32_MAX

/* Each node is a process image, known by its number in the source. Its parent is the image whose
 * key it names. That image may not be among the inputs. The parent then is the image of the same
 * process that ended by exec before. Else the parent is the image with the parent's pid on the same
 * host. */
struct dft_ps_tree {
    const struct dft_source_process *processes;
    uint32_t count;   /* number of processes and length of `parent` */
    uint32_t shown;   /* length of `order` and `depth`: the processes that pass the filter */
    uint32_t *parent; /* by number; DFT_PS_ROOT: none */
    uint32_t *order;  /* numbers, parents before their children */
    uint32_t *depth;  /* in the order of `order`: the distance to the root */
};

/* Returns 0 or -ENOMEM; the caller frees the tree in either case. The tree is valid as long as the
 * source. */
int dft_ps_tree_make(struct dft_ps_tree *tree, const struct dft_source *source, const struct dft_filter *filter);
void dft_ps_tree_free(struct dft_ps_tree *tree);

#endif
