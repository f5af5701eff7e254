/* What the ranks of dftmerge-mpi tell each other about a source; private to it. All of it is collective, and nothing
 * happens where there is one rank. */
#ifndef DFT_SOURCE_SHARE_H
#define DFT_SOURCE_SHARE_H

#include "mpi/comm.h"
#include "mpi/pack.h"
#include "source/source_scan.h"

/* Rank 0's inputs (with their sizes) to all, each with the rank that reads it: large ones first, each to whoever has
 * least. */
int dft_share_inputs(struct dft_source *source);
/* Files and what was found in them, by the ranks that read them; `changed`: rank 0's, those with `changed` set, and
 * those that are new. */
int dft_share_scanned(struct dft_source *source, struct dft_scanned **scanned, int changed);
/* Gives what rank 0 packed (and is freed) to all, and has it taken by all but rank 0. */
int dft_share_from_first(struct dft_pack *pack, dft_comm_take_fn *take, void *context);
/* Which live files are of processes that still run: rank 0, where the user is, decides. */
void dft_share_running(struct dft_source *source);
/* Notes, and the status, become the same everywhere. */
int dft_share_notes(struct dft_source *source);
/* Leaves of a list of blocks, the same on all ranks, those that this rank reads; returns their number. */
size_t dft_share_blocks(const struct dft_source *source, const struct dft_block **list, size_t count);
/* Before and after fetching names into a table: what any rank wants (*wanted, from malloc, ascending, without those that
 * some rank knew, which all have then); and what each found of them (NULL: everything). */
int dft_share_wanted(struct dft_source *source, struct dft_names *into, uint64_t **wanted, size_t *count);
int dft_share_names(struct dft_source *source, struct dft_names *into, const uint64_t *wanted, size_t count);
/* Blocks that only one rank can read are given to all, if that is not too much. Returns 1: every rank can read every block;
 * 0: it is too much; or -ENOMEM. */
int dft_share_common(struct dft_source *source);
/* What each rank has found out about where names stand, and the texts that it kept, to all. */
int dft_share_located(struct dft_source *source);
/* While rank 0 reads blocks in order, the others give it those that only they can read. Rank 0 gets 1 at once, the others
 * 0 when it has called dft_share_served; or all get 0, and *rc is not. */
int dft_share_serve(struct dft_source *source, int *rc);
void dft_share_served(struct dft_source *source);
/* The bytes of such a block, on rank 0: header and payload, into `bytes`. Any thread. */
int dft_share_block(struct dft_source *source, const struct dft_block *block, void *bytes, size_t length);

#endif
