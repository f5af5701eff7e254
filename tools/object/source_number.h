/* SPDX-License-Identifier: MIT */
/* The numbers of processes, and how a process is found by its key. */
#ifndef DFT_SOURCE_NUMBER_H
#define DFT_SOURCE_NUMBER_H

#include "object/object.h"

/* Numbers the processes by what they are: start, pid, rank, program, host. Keys are random, and decide only between
 * processes that are alike in all of these. Returns 0 or -ENOMEM. */
int dft_source_number(struct dft_source *source);
/* Finds the process with a key. The process must exist. */
struct dft_source_process *dft_process_of(const struct dft_source *source, uint64_t key);
/* Finds the process with a key, or NULL. Key 0 is nobody's. */
const struct dft_source_process *dft_process_find(const struct dft_source *source, uint64_t key);
/* To be called after processes were left out: makes the list by key anew. */
void dft_source_list_keys(struct dft_source *source);

#endif
