/* SPDX-License-Identifier: MIT */
/* Collects samples of the node until they are written. */
#ifndef DFT_DFTRUN_NODE_SAMPLES_H
#define DFT_DFTRUN_NODE_SAMPLES_H

#include "dftrun/dftrun_node.h"

struct dft_node_samples *dft_node_create(uint64_t key); /* NULL: no memory */
/* Begins a moment. The functions below add to it. Text that does not fit is left out. */
void dft_node_begin(struct dft_node_samples *node, uint64_t time_ns);
void dft_node_add(struct dft_node_samples *node, const char *category, const char *name, enum dft_unit unit,
                  enum dft_counter_kind kind, int64_t value);
/* The samples since the last flush, for the encoder. `sent`: they are in the file. */
struct dft_counters dft_node_counters(struct dft_node_samples *node);
void dft_node_sent(struct dft_node_samples *node);

#endif
