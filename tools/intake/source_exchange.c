/* SPDX-License-Identifier: MIT */
/* Ranks share what they find: inputs, notes, blocks. source_exchange_scanned.c shares scans, and
 * source_exchange_names.c names. */
#include "intake/source_exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mpi/comm.h"
#include "mpi/pack.h"
#include "intake/source_read.h"
#include "object/source_inside.h"
#include "object/source_notes.h"

/* --- inputs ----------------------------------------------------------------------------------- */

static int take_inputs(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_source *source = context;
    struct dft_unpack unpack = {bytes, (const char *)bytes + length};

    (void)rank;
    for (uint32_t f = 0; f < source->nfiles; f++)
        free((char *)(uintptr_t)source->files[f].path);
    free(source->files);
    dft_unpack_get(&unpack, &source->nfiles, sizeof source->nfiles);
    source->files = calloc(source->nfiles + 1u, sizeof *source->files);
    if (!source->files) {
        source->nfiles = 0;
        return -ENOMEM;
    }
    for (uint32_t f = 0; f < source->nfiles; f++) {
        struct dft_source_file *file = &source->files[f];

        dft_unpack_get(&unpack, &file->kind, sizeof file->kind);
        dft_unpack_get(&unpack, &file->bytes, sizeof file->bytes);
        file->path = strdup(dft_unpack_string(&unpack));
        if (!file->path)
            return -ENOMEM;
    }
    return 0;
}

static int by_size(const void *left, const void *right, void *context)
{
    const struct dft_source_file *files = context;
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;

    if (files[x].bytes != files[y].bytes)
        return files[x].bytes < files[y].bytes ? 1 : -1;
    return x < y ? -1 : x > y;
}

/* Spreads the files over the ranks. A file without bytes is some work, too. */
static int spread(struct dft_source *source)
{
    const uint64_t of_file = 4096;
    uint64_t *loads = calloc(dft_comm_size(), sizeof *loads);
    uint32_t *order = malloc((source->nfiles + 1u) * sizeof *order);
    int rc = loads && order ? 0 : -ENOMEM;

    for (uint32_t f = 0; !rc && f < source->nfiles; f++)
        order[f] = f;
    if (!rc)
        qsort_r(order, source->nfiles, sizeof *order, by_size, source->files);
    for (uint32_t i = 0; !rc && i < source->nfiles; i++) {
        unsigned least = 0;

        for (unsigned r = 1; r < dft_comm_size(); r++)
            if (loads[r] < loads[least])
                least = r;
        source->files[order[i]].owner = least;
        loads[least] += source->files[order[i]].bytes + of_file;
    }
    free(loads);
    free(order);
    return rc;
}

int dft_exchange_inputs(struct dft_source *source)
{
    struct dft_pack pack = {0};
    int rc;

    if (dft_comm_size() == 1)
        return 0;
    dft_pack_put(&pack, &source->nfiles, sizeof source->nfiles);
    for (uint32_t f = 0; f < source->nfiles && !dft_comm_rank(); f++) {
        struct dft_source_file *file = &source->files[f];
        struct stat st;

        if (!stat(file->path, &st))
            file->bytes = (uint64_t)st.st_size;
        dft_pack_put(&pack, &file->kind, sizeof file->kind);
        dft_pack_put(&pack, &file->bytes, sizeof file->bytes);
        dft_pack_string(&pack, file->path);
    }
    rc = dft_exchange_from_first(&pack, take_inputs, source);
    return rc ? rc : dft_comm_agree(spread(source));
}

void dft_exchange_running(struct dft_source *source)
{
    for (uint32_t f = 0; dft_comm_size() > 1 && f < source->nfiles; f++)
        if (source->files[f].kind == DFT_FILE_LIVE)
            dft_comm_broadcast(&source->files[f].life, sizeof source->files[f].life);
}

/* --- notes ------------------------------------------------------------------------------------ */

static int take_notes(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_source *source = context;
    struct dft_unpack unpack = {bytes, (const char *)bytes + length};
    int bad;

    dft_unpack_get(&unpack, &bad, sizeof bad);
    source->notes.bad |= bad;
    while (rank != dft_comm_rank() && unpack.at < unpack.end) {
        const char *line = dft_unpack_string(&unpack);

        dft_source_note(source, line[0] - '0', "%s", line + 1);
    }
    return 0;
}

int dft_exchange_notes(struct dft_source *source)
{
    struct dft_notes *notes = &source->notes;
    struct dft_pack pack = {0};
    int rc;

    if (dft_comm_size() == 1 || !dft_comm_agree(notes->count != notes->shared))
        return 0;
    dft_pack_put(&pack, &notes->bad, sizeof notes->bad);
    for (size_t i = 0; i < notes->count; i++)
        dft_pack_string(&pack, notes->lines[i] + 1); /* the digit for what is bad, and the text */
    rc = dft_pack_exchange(&pack, take_notes, source);
    notes->shared = notes->count;
    return rc;
}

/* --- blocks ----------------------------------------------------------------------------------- */

size_t dft_exchange_blocks(const struct dft_source *source, const struct dft_block **list, size_t count)
{
    uint64_t all = 0, before = 0;
    unsigned size = dft_comm_size();
    size_t n = 0;

    if (size == 1)
        return count;
    for (size_t i = 0; i < count; i++)
        all += source->files[list[i]->file].local ? 0 : list[i]->stored + sizeof(struct dft_block_header);
    for (size_t i = 0; i < count; i++) {
        const struct dft_source_file *file = &source->files[list[i]->file];
        uint64_t owner = file->owner;

        if (!file->local) {
            owner = (uint64_t)((double)before / (double)all * size);
            before += list[i]->stored + sizeof(struct dft_block_header);
        }
        if ((owner < size ? owner : size - 1) == dft_comm_rank())
            list[n++] = list[i];
    }
    return n;
}

struct serving {
    struct dft_source *source;
    struct dft_reader *reader;
};

/* The request is the number of a block. */
static int emit_block(void *context, const void *bytes, size_t length, const void **answer, size_t *answer_length)
{
    struct serving *serving = context;
    struct dft_block_header header;
    const void *payload;
    uint64_t number;
    int rc;

    memcpy(&number, bytes, length);
    rc = dft_reader_block(serving->reader, &serving->source->blocks[number], &header, &payload);
    *answer = rc ? NULL : (const char *)payload - sizeof header;
    *answer_length = rc ? 0 : sizeof header + header.stored;
    return 0;
}

/* Are there blocks that rank 0 cannot read? */
static int has_local(const struct dft_source *source)
{
    for (uint32_t f = 0; f < source->nfiles; f++)
        if (source->files[f].local && source->files[f].owner)
            return 1;
    return 0;
}

int dft_exchange_serve(struct dft_source *source, int *rc)
{
    struct serving serving = {.source = source};

    *rc = 0;
    if (dft_comm_size() == 1)
        return 1;
    if (!has_local(source))
        return !dft_comm_rank();
    serving.reader = dft_comm_rank() ? dft_reader_create(source) : NULL;
    *rc = dft_comm_agree(serving.reader || !dft_comm_rank() ? 0 : -ENOMEM);
    if (!*rc && dft_comm_rank())
        dft_comm_serve(emit_block, &serving);
    dft_reader_destroy(serving.reader);
    return !*rc && !dft_comm_rank();
}

void dft_exchange_served(struct dft_source *source)
{
    if (dft_comm_size() > 1 && has_local(source))
        dft_comm_served();
}

int dft_exchange_block(struct dft_source *source, const struct dft_block *block, void *bytes, size_t length)
{
    uint64_t number = (uint64_t)(block - source->blocks);

    return dft_comm_ask(source->files[block->file].owner, &number, sizeof number, bytes, length);
}
