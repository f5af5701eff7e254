/* SPDX-License-Identifier: MIT */
/* Reads the counters of the node from /proc, /sys and NVML. */
#ifndef DFT_DFTRUN_NODE_READ_H
#define DFT_DFTRUN_NODE_READ_H

#include "dftrun/dftrun_node.h"

/* Read everything that there is. root: where proc and sys lie ("" but for tests). */
void dft_node_read(struct dft_node_samples *node, const char *root);
void dft_node_read_gpus(struct dft_node_samples *node);

#endif
