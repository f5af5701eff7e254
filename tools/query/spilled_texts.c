/* SPDX-License-Identifier: MIT */
/* Texts in the spill file: a record is the id, the length as LEB128 and the bytes. */
#include "query/spilled_texts.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/names.h"
#include "format/leb128.h"
#include "query/file_facts.h"
#include "query/partitions.h"

#define RECENT 4096u /* directories and patterns that were put lately: many files have the same */

struct dft_spilled_texts {
    struct dft_partitions partitions;
    const struct dft_partitions *groups;
    uint32_t first, last; /* of the groups' partitions: the batch */
    pthread_mutex_t lock; /* while names are read by several threads */
    uint64_t recent[RECENT];
    uint8_t *record;
    size_t capacity;
};

uint64_t dft_spilled_text_hash(uint64_t id)
{
    uint64_t hash = (id ^ id >> 32) * UINT64_C(0x9e3779b97f4a7c15);

    return hash ^ hash >> 29;
}

static int put_locked(struct dft_spilled_texts *texts, uint64_t id, struct dft_text text)
{
    size_t most = sizeof id + DFT_LEB_MAX + text.length;
    uint8_t *at;

    if (texts->recent[id % RECENT] == id)
        return 0;
    if (most > texts->capacity) {
        uint8_t *bigger = realloc(texts->record, 2 * most);

        if (!bigger)
            return -ENOMEM;
        texts->record = bigger;
        texts->capacity = 2 * most;
    }
    dft_store64(texts->record, id);
    at = dft_leb_put(texts->record + sizeof id, text.length);
    if (text.length)
        memcpy(at, text.bytes, text.length);
    texts->recent[id % RECENT] = id;
    return dft_partitions_put_bytes(&texts->partitions, texts->record, (size_t)(at - texts->record) + text.length,
                                    dft_spilled_text_hash(id), 0);
}

static int put(void *context, uint64_t id, struct dft_text text)
{
    struct dft_spilled_texts *texts = context;
    int rc;

    pthread_mutex_lock(&texts->lock);
    rc = put_locked(texts, id, text);
    pthread_mutex_unlock(&texts->lock);
    return rc;
}

int dft_spilled_texts_create(struct dft_spilled_texts **result, struct dft_source *source,
                             const struct dft_file_facts *files, const struct dft_partitions *groups)
{
    struct dft_spilled_texts *texts = *result = calloc(1, sizeof *texts);
    int rc;

    if (!texts)
        return -ENOMEM;
    texts->groups = groups;
    texts->partitions = (struct dft_partitions){.file = groups->file, .buffer_bytes = groups->buffer_bytes};
    pthread_mutex_init(&texts->lock, NULL);
    rc = dft_partitions_add(&texts->partitions, 0, 0);
    if (!rc)
        rc = dft_file_facts_each_text(files, source, put, texts);
    return rc ? rc : dft_partitions_flush(&texts->partitions);
}

void dft_spilled_texts_destroy(struct dft_spilled_texts *texts)
{
    if (!texts)
        return;
    dft_partitions_fini(&texts->partitions);
    pthread_mutex_destroy(&texts->lock);
    free(texts->record);
    free(texts);
}

void dft_spilled_texts_choose(struct dft_spilled_texts *texts, uint32_t first, uint32_t last)
{
    texts->first = first;
    texts->last = last;
}

struct loading {
    struct dft_map wanted;
    struct dft_names *into;
};

static int load(void *context, const uint8_t *at, const uint8_t *end)
{
    struct loading *loading = context;
    int rc = 0;

    while (!rc && at < end) {
        uint64_t id, length = 0;

        if (end - at < (ptrdiff_t)sizeof id)
            return -EIO;
        id = dft_load64(at);
        at = dft_leb_get(at + sizeof id, end, &length);
        if (!at || length > (uint64_t)(end - at))
            return -EIO;
        if (dft_map_find(&loading->wanted, id))
            rc = dft_names_add(loading->into, id, (const char *)at, (uint32_t)length, NULL);
        at += length;
    }
    return rc;
}

int dft_spilled_texts_load(struct dft_spilled_texts *texts, struct dft_names *into, const uint64_t *ids, size_t count)
{
    struct loading loading = {.into = into};
    const struct dft_partition *groups = texts->groups->list;
    int rc = 0;

    for (size_t i = 0; !rc && i < count; i++)
        rc = dft_map_put(&loading.wanted, ids[i]) ? 0 : -ENOMEM;
    for (uint32_t i = texts->first; !rc && i < texts->last; i++)
        if (i == texts->first || groups[i].root != groups[i - 1].root)
            rc = dft_partition_read_bytes(&texts->partitions, groups[i].root, load, &loading);
    dft_map_fini(&loading.wanted);
    return rc;
}
