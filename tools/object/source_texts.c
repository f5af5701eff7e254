/* SPDX-License-Identifier: MIT */
/* Keeps the contents of process records for as long as the source lives. Equal bytes are kept once.
 * Hosts, programs, directories and options are equal in most processes of a job. Losses take no
 * room where there are none. */
#include "object/source_texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object/source_inside.h"
#include "format/hash.h"

#define CHUNK_BYTES ((size_t)64 << 10)

struct dft_kept_text {
    size_t length;
    char bytes[]; /* the bytes, then a NUL */
};

struct dft_kept_chunk {
    struct dft_kept_chunk *next;
    char bytes[];
};

static const uint64_t no_losses[DFT_DROP_LAST + DFT_MISUSE_LAST + 2];

/* Takes room in the last chunk. Large contents get a chunk of their own. */
static void *reserve(struct dft_interned_texts *texts, size_t bytes)
{
    size_t capacity = bytes > CHUNK_BYTES / 8 ? bytes : CHUNK_BYTES;
    struct dft_kept_chunk *chunk;
    char *at = texts->at;

    if (bytes <= texts->left) {
        texts->at += bytes;
        texts->left -= bytes;
        return at;
    }
    chunk = malloc(sizeof *chunk + capacity);
    if (!chunk)
        return NULL;
    chunk->next = texts->chunks;
    texts->chunks = chunk;
    if (capacity > bytes) {
        texts->at = chunk->bytes + bytes;
        texts->left = capacity - bytes;
    }
    return chunk->bytes;
}

static const void *keep(struct dft_interned_texts *texts, const void *bytes, size_t length)
{
    uint64_t hash = dft_name_id(bytes, length), *place = dft_map_put(&texts->by_hash, hash ? hash : 1);
    struct dft_kept_text *kept = place ? (struct dft_kept_text *)(uintptr_t)*place : NULL;

    if (kept && kept->length == length && !memcmp(kept->bytes, bytes, length))
        return kept->bytes;
    kept = place ? reserve(texts, (sizeof *kept + length + sizeof(uint64_t)) & ~(sizeof(uint64_t) - 1)) : NULL;
    if (!kept)
        return NULL;
    kept->length = length;
    memcpy(kept->bytes, bytes, length);
    kept->bytes[length] = 0;
    *place = (uintptr_t)kept;
    return kept->bytes;
}

const void *dft_source_keep(struct dft_source *source, const void *bytes, size_t length)
{
    const void *kept;

    if (!length)
        return "";
    pthread_mutex_lock(&source->texts.lock);
    kept = keep(&source->texts, bytes, length);
    pthread_mutex_unlock(&source->texts.lock);
    return kept;
}

static const uint64_t *keep_losses(struct dft_source *source, const uint64_t *losses, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (losses[i])
            return dft_source_keep(source, losses, count * sizeof *losses);
    return no_losses;
}

int dft_source_keep_end(struct dft_source *source, const struct dft_end *end, struct dft_source_end *kept)
{
    *kept = (struct dft_source_end){
        .key = end->key,
        .events = end->events,
        .overhead_ns = end->overhead_ns,
        .time_ns = end->time_ns,
        .outside = end->outside,
        .pauses = end->pauses,
        .paused_ns = end->paused_ns,
        .dropped = keep_losses(source, end->dropped, DFT_DROP_LAST + 1),
        .misuse = keep_losses(source, end->misuse, DFT_MISUSE_LAST + 1),
        .unmet = {dft_source_keep(source, end->unmet.bytes, end->unmet.length), end->unmet.length},
        .status = end->status,
        .exit_kind = end->exit_kind};
    return kept->dropped && kept->misuse && kept->unmet.bytes ? 0 : -ENOMEM;
}

void dft_source_end_whole(const struct dft_source_end *kept, struct dft_end *end)
{
    *end = (struct dft_end){.key = kept->key,
                            .events = kept->events,
                            .overhead_ns = kept->overhead_ns,
                            .time_ns = kept->time_ns,
                            .outside = kept->outside,
                            .pauses = kept->pauses,
                            .paused_ns = kept->paused_ns,
                            .unmet = kept->unmet,
                            .status = kept->status,
                            .exit_kind = kept->exit_kind};
    memcpy(end->dropped, kept->dropped, sizeof end->dropped);
    memcpy(end->misuse, kept->misuse, sizeof end->misuse);
}

void *dft_source_content(struct dft_source *source, size_t bytes)
{
    void *content;

    pthread_mutex_lock(&source->contents.lock);
    content = reserve(&source->contents, (bytes + 7) & ~(size_t)7);
    pthread_mutex_unlock(&source->contents.lock);
    return content;
}

void dft_interned_texts_fini(struct dft_interned_texts *texts)
{
    struct dft_kept_chunk *next;

    for (struct dft_kept_chunk *chunk = texts->chunks; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    dft_map_fini(&texts->by_hash);
    texts->chunks = NULL;
    texts->left = 0;
}
