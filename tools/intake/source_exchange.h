/* SPDX-License-Identifier: MIT */
/* What the ranks of dftmerge-mpi tell each other about a source. All functions but
 * dft_exchange_block are collective, and do nothing where there is one rank. */
#ifndef DFT_SOURCE_EXCHANGE_H
#define DFT_SOURCE_EXCHANGE_H

#include "mpi/comm.h"
#include "mpi/pack.h"
#include "intake/source_scan.h"

/* Tells all ranks the inputs of rank 0, their sizes, and the rank that reads each input. Large
 * files are assigned first, each to the rank that has least to read. */
int dft_exchange_inputs(struct dft_source *source);
/* Tells all ranks what was found in the files, by the ranks that read them. `changed`: instead rank
 * 0 tells of new files and of files with `changed` set. */
int dft_exchange_scanned(struct dft_source *source, struct dft_scanned **scanned, int changed);
/* Sends what rank 0 has packed to all ranks and frees it. `take` gets the bytes on all ranks but
 * rank 0. */
int dft_exchange_from_first(struct dft_pack *pack, dft_comm_take_fn *take, void *context);
/* Tells all ranks which live files belong to running processes. Rank 0 decides, because the user is
 * on its machine. */
void dft_exchange_running(struct dft_source *source);
/* Makes the notes and the status the same on all ranks. */
int dft_exchange_notes(struct dft_source *source);
/* Leaves in the list the blocks that this rank reads, and returns their number. All ranks pass the
 * same list. */
size_t dft_exchange_blocks(const struct dft_source *source, const struct dft_block **list, size_t count);
/* dft_exchange_wanted runs before names are fetched into a table. *wanted gets the names that any
 * rank wants, ascending, from malloc. Names that some rank knew are not in *wanted: all ranks have
 * them afterwards. dft_exchange_names runs after the fetch, and tells all ranks what each rank
 * found of `wanted` (NULL: everything). */
int dft_exchange_wanted(struct dft_source *source, struct dft_names *into, uint64_t **wanted, size_t *count);
int dft_exchange_names(struct dft_source *source, struct dft_names *into, const uint64_t *wanted, size_t count);
/* Gives all ranks the blocks that only one rank can read, if these are not too large together.
 * Returns 1: every rank can read every block; 0: the blocks are too large; or -ENOMEM. */
int dft_exchange_common(struct dft_source *source);
/* Tells all ranks where each rank has found names, and the texts that each rank kept. */
int dft_exchange_located(struct dft_source *source);
/* Serves rank 0 while rank 0 reads blocks in order. The other ranks give rank 0 the blocks that
 * only they can read. Rank 0 gets 1 at once. The others get 0 after rank 0 has called
 * dft_exchange_served. On an error all ranks get 0, and *rc is not 0. */
int dft_exchange_serve(struct dft_source *source, int *rc);
void dft_exchange_served(struct dft_source *source);
/* Copies the header and the payload of such a block into `bytes`, on rank 0. Any thread. */
int dft_exchange_block(struct dft_source *source, const struct dft_block *block, void *bytes, size_t length);

#endif
