/* SPDX-License-Identifier: MIT */
/* `dftmerge merge --group`: writes the parts of blocks into the archives, in the order of the
 * blocks.
 *
 * N threads make the parts of one window of blocks at a time. Each rank of dftmerge-mpi goes
 * through all blocks. A rank makes the parts of those groups whose archives the rank writes. So no
 * rank needs to know what another rank writes. */
#include <errno.h>
#include <stdlib.h>

#include "merge/merge_groups_parts.h"
#include "intake/source_read.h"
#include "object/source_inside.h"
#include "object/source_notes.h"

#define WINDOW_MAX 1024u /* blocks */

struct parting {
    struct dft_grouping *grouping;
    const struct dft_block **blocks; /* blocks that have events */
    size_t count;
    struct dft_parter *parters[DFT_THREADS_MAX];
    struct dft_parts *parts; /* parts of the blocks in the window */
};

int dft_grouping_wants(const struct dft_block *block)
{
    return block->type == DFT_BLOCK_EVENTS && block->use & DFT_IN_EVENTS && block->count;
}

static int make_parts(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                      size_t number)
{
    struct parting *parting = context;
    struct dft_grouping *grouping = parting->grouping;
    struct dft_batch batch;
    int rc;

    if (!parting->parters[worker])
        parting->parters[worker] = dft_parter_create(grouping->rules, dft_source_names_table(grouping->source),
                                                     grouping->division, grouping->is_mine);
    if (!parting->parters[worker])
        return -ENOMEM;
    rc = dft_reader_events(reader, block, &batch);
    if (rc)
        return rc == -ENOMEM ? rc : 0; /* the error was noted */
    return dft_parter_run(parting->parters[worker], block, &batch,
                          block->use & DFT_IN_BOTH ? grouping->widest[block->process] : 0, &parting->parts[number]);
}

/* Writes each part of one block into its archive. */
static int put_parts(struct dft_grouping *grouping, const struct dft_parts *parts)
{
    int rc = 0;

    for (size_t i = 0; i < parts->npieces && !rc; i++) {
        const struct dft_parts_piece *piece = &parts->pieces[i];
        struct dft_archive *archive = &grouping->archives[piece->group];

        rc = dft_archive_put(archive, parts->bytes + piece->from, piece->bytes);
        archive->events += piece->events;
        archive->blocks += piece->blocks - 1u;
        for (size_t k = 0; k < piece->names && !rc; k++)
            rc = dft_archive_refers(archive, parts->names[piece->names_from + k]);
    }
    return rc;
}

static int write_window(struct parting *parting, size_t from)
{
    struct dft_source *source = parting->grouping->source;
    size_t blocks = parting->count - from < WINDOW_MAX ? parting->count - from : WINDOW_MAX;
    int rc = dft_read_blocks(source, parting->blocks + from, blocks, 1, NULL, make_parts, parting);

    for (size_t b = 0; b < blocks; b++) {
        if (!rc)
            rc = put_parts(parting->grouping, &parting->parts[b]);
        dft_parts_fini(&parting->parts[b]);
    }
    dft_source_progress(source, "blocks organised", from + blocks, parting->count + 1);
    return rc;
}

static int prepare(struct parting *parting)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(parting->grouping->source, &count);

    parting->blocks = malloc((count + 1) * sizeof(const struct dft_block *));
    parting->parts = calloc(WINDOW_MAX, sizeof *parting->parts);
    if (!parting->blocks || !parting->parts)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (dft_grouping_wants(&blocks[i]))
            parting->blocks[parting->count++] = &blocks[i];
    return 0;
}

int dft_grouping_write(struct dft_grouping *grouping)
{
    struct parting parting = {.grouping = grouping};
    int rc = prepare(&parting);

    for (size_t from = 0; from < parting.count && !rc; from += WINDOW_MAX)
        rc = write_window(&parting, from);
    dft_source_progress(grouping->source, "", 1, 1);
    for (uint32_t i = 0; i < DFT_THREADS_MAX; i++)
        dft_parter_destroy(parting.parters[i]);
    free(parting.blocks);
    free(parting.parts);
    return rc;
}
