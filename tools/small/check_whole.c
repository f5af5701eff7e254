/* SPDX-License-Identifier: MIT */
/* dftmerge check: are the blocks there that every process writes?
 *
 * A process reads the clocks when it begins, and once more before its END; beside every block of
 * events that count it writes rows. Not so what was recovered from a live file: that stands behind
 * the END, or has one that the process did not write. Traces of others that were converted have no
 * CLOCK. Rows wait for those of later events: a write that fails may take the rows of earlier events
 * with it, and these events are counted one by one. */
#include "small/check.h"

#include <errno.h>
#include <stdlib.h>

#include "mpi/comm.h"
#include "format/end.h"
#include "object/source_notes.h"

struct wrote {
    uint64_t clocks;
    uint64_t rowless; /* blocks of events without rows, before END */
    uint64_t met;     /* of these, in the file at hand */
    uint32_t file;
};

static void look_at(const struct dft_block *block, int counts, struct wrote *wrote)
{
    if (block->state != DFT_BLOCK_USED)
        return;
    if (block->file != wrote->file)
        wrote->met = 0;
    wrote->file = block->file;
    if (block->type == DFT_BLOCK_CLOCK)
        wrote->clocks++;
    else if (block->type == DFT_BLOCK_END)
        wrote->rowless = wrote->met;
    else if (block->type == DFT_BLOCK_EVENTS)
        wrote->met += counts && !block->part && block->first <= block->last && !(block->use & DFT_IN_BOTH);
}

static int write_has_failed(const struct dft_source_process *process)
{
    const uint64_t *dropped = process->end.dropped;

    return dropped && (dropped[DFT_DROP_NO_SPACE] || dropped[DFT_DROP_WRITE_FAILED] || dropped[DFT_DROP_NO_NUMBER]);
}

static void tell(struct dft_source *source, const struct dft_source_process *process, uint64_t clocks, uint64_t rowless)
{
    uint32_t nfiles;
    const char *path = dft_source_files(source, &nfiles)[process->file].path;

    if (!process->known || !process->process.clock_offset || process->live_file ||
        process->exit_kind == DFT_ENDING_KILLED)
        return;
    if (!clocks)
        dft_source_note(source, DFT_BAD_UNREAD, "%s: process %u has no CLOCK block", path, process->process.pid);
    if (rowless && clocks > 1 && !write_has_failed(process))
        dft_source_note(source, DFT_BAD_UNREAD, "%s: process %u: %llu of its EVENTS blocks have no BUCKETS block", path,
                        process->process.pid, (unsigned long long)rowless);
}

int dft_check_whole(struct dft_source *source, const uint8_t *counts)
{
    size_t count;
    uint32_t nprocesses;
    const struct dft_block *blocks = dft_source_blocks(source, &count);
    const struct dft_source_process *processes = dft_source_processes(source, &nprocesses);
    struct wrote *wrote = calloc(nprocesses + 1u, sizeof *wrote);
    uint64_t *rowless = calloc(nprocesses + 1u, sizeof *rowless);
    int rc = dft_comm_agree(wrote && rowless ? 0 : -ENOMEM);

    for (size_t i = 0; !rc && i < count; i++)
        look_at(&blocks[i], counts[i], &wrote[blocks[i].process]);
    for (uint32_t i = 0; !rc && i < nprocesses; i++)
        rowless[i] = wrote[i].rowless;
    if (!rc)
        dft_comm_sum(rowless, nprocesses); /* each rank has decoded some of the blocks */
    for (uint32_t i = 0; !rc && i < nprocesses; i++)
        tell(source, &processes[i], wrote[i].clocks, rowless[i]);
    free(wrote);
    free(rowless);
    return rc;
}
