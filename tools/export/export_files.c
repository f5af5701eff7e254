/* SPDX-License-Identifier: MIT */
/* The files in use. Their ids are collected first. The blocks are then read in order for texts.
 * Each text is passed on as soon as a block shows it. */
#include "export/export_files.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "mpi/pack.h"
#include "base/map.h"
#include "intake/source_names.h"
#include "intake/source_read.h"
#include "intake/source_visit.h"
#include "format/decode.h"

#define GIVEN 1u /* the value of an id whose text was passed on */

struct dft_files {
    struct dft_source *source;
    const struct dft_filter *filter;
    pthread_mutex_t lock;
    struct dft_map ids;
    void (*emit)(void *context, uint64_t id, struct dft_text text);
    void *context;
};

static int select_block(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct dft_files *files = context;

    return block->type == DFT_BLOCK_EVENTS && (block->state == DFT_BLOCK_USED || block->state == DFT_BLOCK_OVERLAPS) &&
           dft_filter_block(files->filter, process, block);
}

static int collect(void *context, unsigned worker, const struct dft_source_process *process,
                   const struct dft_block *block, struct dft_batch *batch)
{
    struct dft_files *files = context;
    uint64_t before = 0;
    int error = 0;

    (void)worker;
    (void)process;
    (void)block;
    pthread_mutex_lock(&files->lock);
    for (uint32_t i = 0; i < batch->count && !error; i++) {
        const struct dft_event *event = &batch->events[i];

        if (!event->file || event->file == before ||
            !dft_filter_event(files->filter, event, &batch->calls[event->call]))
            continue;
        before = event->file;
        error = dft_map_put(&files->ids, event->file) ? 0 : -ENOMEM;
    }
    pthread_mutex_unlock(&files->lock);
    return error;
}

static void emit_names(struct dft_files *files, const struct dft_name *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *given = names[i].text.bytes ? dft_map_find(&files->ids, names[i].id) : NULL;

        if (!given || *given)
            continue;
        *given = GIVEN;
        files->emit(files->context, names[i].id, names[i].text);
    }
}

static int emit_known(struct dft_files *files, struct dft_source *source)
{
    struct dft_reader *reader = dft_reader_create(source);
    int error = reader ? 0 : -ENOMEM;
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(source, &count);

    for (size_t i = 0; i < count && error != -ENOMEM; i++) {
        struct dft_block_header header;
        const struct dft_name *names;
        const char *reason;
        const void *payload;
        uint32_t n;

        if (!dft_block_has_names(&blocks[i]))
            continue;
        error = dft_reader_block(reader, &blocks[i], &header, &payload);
        if (!error)
            error = dft_decode_names(dft_reader_decoder(reader), &header, payload, &names, &n, &reason);
        if (!error)
            emit_names(files, names, n);
    }
    dft_reader_destroy(reader);
    /* a block that cannot be read was noted when its events were read */
    return error == -ENOMEM ? error : 0;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static int emit_unknown(struct dft_files *files, const struct dft_names *names)
{
    uint64_t *ids;
    size_t n = 0;

    for (size_t i = 0; i < files->ids.capacity; i++)
        n += files->ids.slots[i].key && !files->ids.slots[i].value;
    ids = malloc((n + 1) * sizeof *ids);
    if (!ids)
        return -ENOMEM;
    n = 0;
    for (size_t i = 0; i < files->ids.capacity; i++)
        if (files->ids.slots[i].key && !files->ids.slots[i].value)
            ids[n++] = files->ids.slots[i].key;
    qsort(ids, n, sizeof *ids, by_id);
    for (size_t i = 0; i < n; i++) {
        char text[18];

        files->emit(files->context, ids[i], dft_names_show(names, ids[i], text));
    }
    free(ids);
    return 0;
}

/* --- ids of all ranks ------------------------------------------------------------------------- */

static int take_ids(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_files *files = context;

    (void)rank;
    for (size_t i = 0; i < length / sizeof(uint64_t); i++) {
        uint64_t id;

        memcpy(&id, (const char *)bytes + i * sizeof id, sizeof id);
        if (!dft_map_put(&files->ids, id))
            return -ENOMEM;
    }
    return 0;
}

static int gather(struct dft_files *files)
{
    struct dft_pack pack = {0};

    for (size_t i = 0; i < files->ids.capacity && dft_comm_rank(); i++)
        if (files->ids.slots[i].key)
            dft_pack_put(&pack, &files->ids.slots[i].key, sizeof(uint64_t));
    return dft_pack_gather(&pack, take_ids, files);
}

int dft_files_collect(struct dft_files **result, struct dft_source *source, const struct dft_filter *filter)
{
    struct dft_files *files = *result = calloc(1, sizeof *files);
    int error = dft_comm_agree(files ? 0 : -ENOMEM);

    if (error)
        return error;
    *files = (struct dft_files){.source = source, .filter = filter, .lock = PTHREAD_MUTEX_INITIALIZER};
    error = dft_source_visit(
        source,
        &(struct dft_visit){.context = files, .select = select_block, .events = collect, .progress = "files listed"});
    return error ? error : gather(files);
}

int dft_files_emit(struct dft_files *files, void (*emit)(void *context, uint64_t id, struct dft_text text),
                   void *context)
{
    int error;

    files->emit = emit;
    files->context = context;
    error = emit_known(files, files->source);
    return error ? error : emit_unknown(files, dft_source_names_table(files->source));
}

void dft_files_destroy(struct dft_files *files)
{
    if (files)
        dft_map_fini(&files->ids);
    free(files);
}
