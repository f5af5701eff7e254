/* SPDX-License-Identifier: MIT */
/* What the ranks of dftmerge-mpi tell each other about a source. All functions but dft_exchange_block are collective, and do
 * nothing where there is one rank. */
#ifndef DFT_SOURCE_EXCHANGE_H
#define DFT_SOURCE_EXCHANGE_H

#include "mpi/comm.h"
#include "mpi/pack.h"
#include "source/source_scan.h"

/* Tells all ranks the inputs of rank 0, with their sizes, and which rank reads each: large files first, each to the rank that
 * has least to read. */
int dft_exchange_inputs(struct dft_source *source);
/* Tells all ranks what was found in the files, by the ranks that read them. `changed`: instead rank 0 tells of the files
 * with `changed` set, and of new ones. */
int dft_exchange_scanned(struct dft_source *source, struct dft_scanned **scanned, int changed);
/* Sends what rank 0 has packed, which is freed, to all; `take` gets the bytes on all ranks but rank 0. */
int dft_exchange_from_first(struct dft_pack *pack, dft_comm_take_fn *take, void *context);
/* Which live files are of processes that still run: rank 0, where the user is, decides. */
void dft_exchange_running(struct dft_source *source);
/* Notes, and the status, become the same everywhere. */
int dft_exchange_notes(struct dft_source *source);
/* The list of blocks is the same on all ranks. Leaves the blocks that this rank reads, and returns their number. */
size_t dft_exchange_blocks(const struct dft_source *source, const struct dft_block **list, size_t count);
/* Before and after fetching names into a table: what any rank wants (*wanted, from malloc, ascending, without those that
 * some rank knew, which all have then); and what each found of them (NULL: everything). */
int dft_exchange_wanted(struct dft_source *source, struct dft_names *into, uint64_t **wanted, size_t *count);
int dft_exchange_names(struct dft_source *source, struct dft_names *into, const uint64_t *wanted, size_t count);
/* Blocks that only one rank can read are given to all, if that is not too much. Returns 1: every rank can read every block;
 * 0: it is too much; or -ENOMEM. */
int dft_exchange_common(struct dft_source *source);
/* What each rank has found out about where names stand, and the texts that it kept, to all. */
int dft_exchange_located(struct dft_source *source);
/* While rank 0 reads blocks in order, the others give it those that only they can read. Rank 0 gets 1 at once, the others
 * 0 when it has called dft_exchange_served; or all get 0, and *rc is not. */
int dft_exchange_serve(struct dft_source *source, int *rc);
void dft_exchange_served(struct dft_source *source);
/* The bytes of such a block, on rank 0: header and payload, into `bytes`. Any thread. */
int dft_exchange_block(struct dft_source *source, const struct dft_block *block, void *bytes, size_t length);

#endif
