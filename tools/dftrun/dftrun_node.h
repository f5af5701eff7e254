/* SPDX-License-Identifier: MIT */
/* Samples of the node: processors, memory, disks, network, pressure, NFS, Lustre, GPUs. */
#ifndef DFT_DFTRUN_NODE_H
#define DFT_DFTRUN_NODE_H

#include <stdint.h>
#include <sys/types.h>

#include "format/counter.h"

/* The values of one time. Names are "category NUL name". */
struct dft_node_samples;
struct dft_node_samples *dft_node_create(uint64_t key); /* NULL: no memory */
/* Begins a moment. The functions below add to it. Text that does not fit is left out. */
void dft_node_begin(struct dft_node_samples *node, uint64_t time_ns);
void dft_node_add(struct dft_node_samples *node, const char *category, const char *name, enum dft_unit unit,
                  enum dft_counter_kind kind, int64_t value);
/* The samples since the last flush, for the encoder. `sent`: they are in the file. */
struct dft_counters dft_node_counters(struct dft_node_samples *node);
void dft_node_sent(struct dft_node_samples *node);

/* Read everything that there is. root: where proc and sys lie ("" but for tests). */
void dft_node_read(struct dft_node_samples *node, const char *root);
void dft_node_read_gpus(struct dft_node_samples *node);

/* Starts a process that samples this node into a file of its own beside the traces. One does so for each
 * directory and node: the one that holds the lock. Returns its pid, 0: another one does it, or -errno. */
pid_t dft_node_start(const char *directory);
/* Ends that process. */
void dft_node_stop(pid_t pid);

#endif
