/* SPDX-License-Identifier: MIT */
/* Samples of the node: processors, memory, disks, network, pressure, NFS, Lustre, GPUs. */
#ifndef DFT_DFTRUN_NODE_H
#define DFT_DFTRUN_NODE_H

#include <stdint.h>
#include <sys/types.h>

#include "format/counter.h"

/* The values of one time. Names are "category NUL name". */
struct dft_node_samples;

/* Starts a process that samples this node into a file of its own beside the traces. One does so for each
 * directory and node: the one that holds the lock. Returns its pid, 0: another one does it, or -errno. */
pid_t dft_node_start(const char *directory);
/* Ends that process. */
void dft_node_stop(pid_t pid);

#endif
