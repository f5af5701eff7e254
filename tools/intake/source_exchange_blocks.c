/* SPDX-License-Identifier: MIT */
/* Gives all ranks the blocks that only one rank can read, because they were made in its memory.
 * They come from live files, and from DFTracer's files where no index could be written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "mpi/pack.h"
#include "intake/source_exchange.h"
#include "intake/source_read.h"
#include "object/source_inside.h"
#include "base/settings.h"

static size_t length_of(const struct dft_block *block)
{
    return sizeof(struct dft_block_header) + block->stored;
}

static uint64_t local_bytes(const struct dft_source *source)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < source->nblocks; i++)
        if (source->files[source->blocks[i].file].local)
            bytes += length_of(&source->blocks[i]);
    return bytes;
}

/* Packs a block. A block that cannot be read is noted and left out. */
static void pack_block(struct dft_pack *pack, struct dft_reader *reader, const struct dft_block *block, uint64_t number)
{
    struct dft_block_header header;
    const void *payload;

    if (dft_reader_block(reader, block, &header, &payload))
        return;
    dft_pack_put(pack, &number, sizeof number);
    dft_pack_put(pack, (const char *)payload - sizeof header, length_of(block));
}

static int pack_mine(const struct dft_source *source, struct dft_pack *pack)
{
    struct dft_reader *reader = dft_reader_create((struct dft_source *)(uintptr_t)source);

    if (!reader)
        return -ENOMEM;
    for (size_t i = 0; i < source->nblocks && !pack->rc; i++)
        if (source->files[source->blocks[i].file].local && dft_source_is_mine(source, source->blocks[i].file))
            pack_block(pack, reader, &source->blocks[i], i);
    dft_reader_destroy(reader);
    return pack->rc;
}

/* Makes room for the blocks of other ranks, which lie there one behind the other. */
static int make_room(struct dft_source *source)
{
    for (size_t i = 0; i < source->nblocks; i++) {
        struct dft_source_file *file = &source->files[source->blocks[i].file];

        if (!file->local || dft_source_is_mine(source, source->blocks[i].file))
            continue;
        source->blocks[i].offset = file->memory_bytes;
        file->memory_bytes += length_of(&source->blocks[i]);
    }
    for (uint32_t f = 0; f < source->nfiles; f++) {
        struct dft_source_file *file = &source->files[f];

        if (!file->local || dft_source_is_mine(source, f))
            continue;
        file->memory = calloc(1, file->memory_bytes + 1);
        if (!file->memory)
            return -ENOMEM;
    }
    return 0;
}

static int take_blocks(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_source *source = context;
    struct dft_unpack unpack = {bytes, (const char *)bytes + length};

    while (rank != dft_comm_rank() && unpack.at < unpack.end) {
        const struct dft_block *block;
        uint64_t number;

        dft_unpack_get(&unpack, &number, sizeof number);
        block = &source->blocks[number];
        dft_unpack_get(&unpack, source->files[block->file].memory + block->offset, length_of(block));
    }
    return 0;
}

int dft_exchange_common(struct dft_source *source)
{
    struct dft_pack pack = {0};
    uint64_t bytes = local_bytes(source);
    int rc;

    if (dft_comm_size() == 1 || !bytes || bytes > dft_setting(DFT_SETTING_COMMON_BYTES))
        return dft_comm_size() == 1 || !bytes;
    for (uint32_t f = 0; f < source->nfiles; f++)
        if (source->files[f].local && !dft_source_is_mine(source, f))
            source->files[f].memory_bytes = 0;
    rc = dft_comm_agree(pack_mine(source, &pack));
    if (!rc)
        rc = dft_comm_agree(make_room(source));
    if (!rc)
        rc = dft_comm_exchange(pack.bytes, pack.length, take_blocks, source);
    free(pack.bytes);
    for (uint32_t f = 0; f < source->nfiles && !rc; f++)
        source->files[f].local = 0;
    return rc ? rc : 1;
}
