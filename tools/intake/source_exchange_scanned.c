/* SPDX-License-Identifier: MIT */
/* Ranks share what they scanned: files, headers of blocks, records of processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dftracer/pfw.h"
#include "mpi/comm.h"
#include "mpi/pack.h"
#include "intake/source_exchange.h"
#include "object/source_texts.h"
#include "object/source_inside.h"

int dft_exchange_from_first(struct dft_pack *pack, dft_comm_take_fn *take, void *context)
{
    size_t length = pack->length;
    char *bytes = pack->bytes;
    int rc = dft_comm_agree(pack->rc);

    if (!rc) {
        dft_comm_broadcast(&length, sizeof length);
        if (dft_comm_rank())
            bytes = malloc(length + 1);
        rc = dft_comm_agree(bytes || !length ? 0 : -ENOMEM);
    }
    if (!rc)
        dft_comm_broadcast(bytes, length);
    if (!rc && dft_comm_rank())
        rc = take(context, 0, bytes, length);
    if (dft_comm_rank())
        free(bytes);
    free(pack->bytes);
    return dft_comm_agree(rc);
}

static int is_local(const struct dft_source_file *file)
{
    return file->memory || (file->blocks_path && !strncmp(file->blocks_path, "/proc/self/", 11));
}

static void pack_file(struct dft_pack *pack, struct dft_source *source, uint32_t number,
                      const struct dft_scanned *scanned)
{
    struct dft_source_file file;

    source->files[number].local = (uint8_t)is_local(&source->files[number]);
    file = source->files[number];
    dft_pack_put(pack, &number, sizeof number);
    dft_pack_put(pack, &file, sizeof file);
    dft_pack_string(pack, file.path);
    dft_pack_string(pack, file.local ? NULL : file.blocks_path);
    dft_pack_string(pack, file.reason);
    dft_pack_string(pack, file.skipped.reason);
    if (file.counts) {
        dft_pack_put(pack, file.counts, sizeof *file.counts);
        dft_pack_string(pack, file.counts->reason);
    }
    if (file.end) {
        dft_pack_put(pack, file.end, sizeof *file.end);
        dft_pack_text(pack, file.end->unmet);
        dft_pack_text(pack, file.kept);
    }
    dft_pack_put(pack, &scanned->count, sizeof scanned->count);
    dft_pack_put(pack, scanned->blocks, scanned->count * sizeof *scanned->blocks);
    dft_pack_put(pack, scanned->keys, scanned->count * sizeof *scanned->keys);
    dft_pack_put(pack, &scanned->nrecords, sizeof scanned->nrecords);
    for (size_t i = 0; i < scanned->nrecords; i++) {
        const struct dft_found_record *record = &scanned->records[i];
        struct dft_text *texts[DFT_RECORD_TEXTS];
        unsigned count = dft_record_texts(record->type, record->content, texts);

        dft_pack_put(pack, record, sizeof *record);
        dft_pack_put(pack, record->content, dft_record_bytes(record->type));
        if (record->type == DFT_BLOCK_END) {
            dft_pack_put(pack, record->end->dropped, sizeof(uint64_t) * (DFT_DROP_LAST + 1));
            dft_pack_put(pack, record->end->misuse, sizeof(uint64_t) * (DFT_MISUSE_LAST + 1));
        }
        for (unsigned t = 0; t < count; t++)
            dft_pack_text(pack, *texts[t]);
    }
}

/* Keeps a text for as long as the source lives. */
static const char *keep_string(struct dft_source *source, const char *string)
{
    const char *kept = string ? dft_source_keep(source, string, strlen(string)) : "";

    return string ? (kept ? kept : "") : NULL;
}

/* Takes the content of a record, and keeps its texts and losses. */
static int take_record(struct dft_source *source, struct dft_found_record *record, struct dft_unpack *unpack)
{
    struct dft_text *texts[DFT_RECORD_TEXTS];
    union dft_record_content content;
    unsigned count;
    int rc = 0;

    dft_unpack_get(unpack, record, sizeof *record);
    dft_unpack_get(unpack, &content, dft_record_bytes(record->type));
    if (record->type == DFT_BLOCK_END) {
        struct dft_end end = {.key = content.end.key,
                              .events = content.end.events,
                              .overhead_ns = content.end.overhead_ns,
                              .time_ns = content.end.time_ns,
                              .outside = content.end.outside,
                              .pauses = content.end.pauses,
                              .paused_ns = content.end.paused_ns,
                              .status = content.end.status,
                              .exit_kind = content.end.exit_kind};

        dft_unpack_get(unpack, end.dropped, sizeof end.dropped);
        dft_unpack_get(unpack, end.misuse, sizeof end.misuse);
        rc = dft_source_keep_end(source, &end, &content.end);
    }
    count = dft_record_texts(record->type, &content, texts);
    for (unsigned t = 0; t < count; t++)
        *texts[t] = dft_unpack_text(unpack);
    return rc ? rc : dft_record_own(source, record, &content);
}

static int take_scanned(struct dft_source *source, struct dft_scanned *scanned, struct dft_unpack *unpack)
{
    dft_scanned_fini(scanned);
    dft_unpack_get(unpack, &scanned->count, sizeof scanned->count);
    scanned->blocks = malloc((scanned->count + 1) * sizeof *scanned->blocks);
    scanned->keys = malloc((scanned->count + 1) * sizeof *scanned->keys);
    if (!scanned->blocks || !scanned->keys)
        return -ENOMEM;
    scanned->capacity = scanned->count;
    dft_unpack_get(unpack, scanned->blocks, scanned->count * sizeof *scanned->blocks);
    dft_unpack_get(unpack, scanned->keys, scanned->count * sizeof *scanned->keys);
    dft_unpack_get(unpack, &scanned->records_capacity, sizeof scanned->records_capacity);
    scanned->records = calloc(scanned->records_capacity + 1, sizeof *scanned->records);
    if (!scanned->records)
        return -ENOMEM;
    while (scanned->nrecords < scanned->records_capacity) {
        int rc = take_record(source, &scanned->records[scanned->nrecords], unpack);

        if (rc)
            return rc;
        scanned->nrecords++;
    }
    return 0;
}

struct sharing {
    struct dft_source *source;
    struct dft_scanned **scanned;
};

/* Makes room for a file that this rank does not know yet. */
static int add_file(struct sharing *sharing)
{
    struct dft_source *source = sharing->source;
    struct dft_source_file *files = reallocarray(source->files, source->nfiles + 2u, sizeof *files);
    struct dft_scanned *more;

    if (!files)
        return -ENOMEM;
    source->files = files;
    more = reallocarray(*sharing->scanned, source->nfiles + 2u, sizeof *more);
    if (!more)
        return -ENOMEM;
    *sharing->scanned = more;
    memset(&more[source->nfiles], 0, sizeof *more);
    memset(&files[source->nfiles++], 0, sizeof *files);
    return 0;
}

/* Takes the fields that not every file has. */
static int take_parts(struct dft_source *source, struct dft_source_file *file, struct dft_unpack *unpack)
{
    const int has_counts = file->counts != NULL, has_end = file->end != NULL;

    file->counts = has_counts ? malloc(sizeof *file->counts) : NULL;
    file->end = has_end ? malloc(sizeof *file->end) : NULL;
    if ((has_counts && !file->counts) || (has_end && !file->end))
        return -ENOMEM;
    if (has_counts) {
        dft_unpack_get(unpack, file->counts, sizeof *file->counts);
        file->counts->reason = keep_string(source, dft_unpack_string(unpack));
    }
    if (has_end) {
        struct dft_text unmet;

        dft_unpack_get(unpack, file->end, sizeof *file->end);
        unmet = dft_unpack_text(unpack);
        file->end->unmet.bytes = unmet.length ? keep_string(source, strndupa(unmet.bytes, unmet.length)) : NULL;
        file->kept = dft_unpack_text(unpack);
        file->kept.bytes = dft_source_keep(source, file->kept.bytes, file->kept.length);
        if (!file->kept.bytes)
            return -ENOMEM;
    }
    return 0;
}

static int take_file(struct sharing *sharing, struct dft_unpack *unpack)
{
    struct dft_source *source = sharing->source;
    struct dft_source_file *file, old;
    const char *path, *blocks_path;
    uint32_t number;

    dft_unpack_get(unpack, &number, sizeof number);
    if (number >= source->nfiles && add_file(sharing))
        return -ENOMEM;
    file = &source->files[number];
    old = *file;
    dft_unpack_get(unpack, file, sizeof *file);
    path = dft_unpack_string(unpack);
    file->path = old.path ? old.path : strdup(path);
    blocks_path = dft_unpack_string(unpack);
    free(old.blocks_path);
    file->blocks_path = blocks_path ? strdup(blocks_path) : NULL;
    file->reason = keep_string(source, dft_unpack_string(unpack));
    file->skipped.reason = keep_string(source, dft_unpack_string(unpack));
    free(old.counts);
    free(old.end);
    file->memory = NULL;
    file->snapshot = NULL;
    if (take_parts(source, file, unpack))
        return -ENOMEM;
    if (!file->path || (blocks_path && !file->blocks_path))
        return -ENOMEM;
    return take_scanned(source, &(*sharing->scanned)[number], unpack);
}

static int take_files(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_unpack unpack = {bytes, (const char *)bytes + length};
    int rc = 0;

    while (!rc && rank != dft_comm_rank() && unpack.at < unpack.end)
        rc = take_file(context, &unpack);
    return rc;
}

int dft_exchange_scanned(struct dft_source *source, struct dft_scanned **scanned, int changed)
{
    struct sharing sharing = {source, scanned};
    struct dft_pack pack = {0};

    if (dft_comm_size() == 1)
        return 0;
    for (uint32_t f = 0; f < source->nfiles; f++)
        if (changed ? !dft_comm_rank() && source->files[f].changed : dft_source_is_mine(source, f))
            pack_file(&pack, source, f, &(*scanned)[f]);
    if (changed)
        return dft_exchange_from_first(&pack, take_files, &sharing);
    return dft_pack_exchange(&pack, take_files, &sharing);
}
