/* SPDX-License-Identifier: MIT */
/* Tells all ranks the names that one rank has found. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "mpi/pack.h"
#include "intake/source_exchange.h"
#include "base/names.h"
#include "object/source_inside.h"

static int by_id(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

struct ids {
    uint64_t *list;
    size_t count;
};

static int take_ids(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct ids *ids = context;
    uint64_t *bigger = realloc(ids->list, ids->count * sizeof *bigger + length + 1);

    (void)rank;
    if (!bigger)
        return -ENOMEM;
    ids->list = bigger;
    if (length)
        memcpy(ids->list + ids->count, bytes, length);
    ids->count += length / sizeof *bigger;
    return 0;
}

static struct dft_text text_of(const struct dft_source *source, const struct dft_names *into, uint64_t id)
{
    struct dft_text text = dft_names_text(into, id);

    return text.bytes ? text : dft_names_text(source->names, id);
}

static int put_name(void *context, uint64_t id, struct dft_text text)
{
    struct dft_pack *pack = context;

    dft_pack_put(pack, &id, sizeof id);
    dft_pack_text(pack, text);
    return pack->rc;
}

static int take_names(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_unpack unpack = {bytes, (const char *)bytes + length};
    int rc = 0;

    while (!rc && rank != dft_comm_rank() && unpack.at < unpack.end) {
        struct dft_text text;
        uint64_t id;

        dft_unpack_get(&unpack, &id, sizeof id);
        text = dft_unpack_text(&unpack);
        rc = dft_names_add(context, id, text.bytes, text.length, NULL);
    }
    return rc;
}

int dft_exchange_names(struct dft_source *source, struct dft_names *into, const uint64_t *wanted, size_t count)
{
    struct dft_pack pack = {0};

    if (dft_comm_size() == 1)
        return 0;
    for (size_t i = 0; wanted && i < count; i++) {
        struct dft_text text = text_of(source, into, wanted[i]);

        if (text.bytes)
            put_name(&pack, wanted[i], text);
    }
    if (!wanted)
        dft_names_each(into, put_name, &pack);
    return dft_pack_exchange(&pack, take_names, into);
}

int dft_exchange_wanted(struct dft_source *source, struct dft_names *into, uint64_t **wanted, size_t *count)
{
    struct ids ids = {0};
    size_t n = 0;
    int rc;

    if (dft_comm_size() == 1)
        return 0;
    rc = dft_comm_exchange(*wanted, *count * sizeof **wanted, take_ids, &ids);
    if (rc) {
        free(ids.list);
        return rc;
    }
    if (ids.count)
        qsort(ids.list, ids.count, sizeof *ids.list, by_id);
    for (size_t i = 0; i < ids.count; i++)
        if (!i || ids.list[i] != ids.list[i - 1])
            ids.list[n++] = ids.list[i];
    free(*wanted);
    *wanted = ids.list;
    *count = n;
    rc = dft_exchange_names(source, into, *wanted, n);
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (!text_of(source, into, ids.list[i]).bytes)
            ids.list[(*count)++] = ids.list[i];
    return rc;
}

/* --- where names stand ------------------------------------------------------------------------ */

static int take_located(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_source *source = context;
    struct dft_unpack unpack = {bytes, (const char *)bytes + length};

    while (rank != dft_comm_rank() && unpack.at < unpack.end) {
        uint64_t pair[2], *place;

        dft_unpack_get(&unpack, pair, sizeof pair);
        place = dft_map_put(&source->located, pair[0]);
        if (!place)
            return -ENOMEM;
        if (!*place || pair[1] < *place)
            *place = pair[1];
    }
    return 0;
}

int dft_exchange_located(struct dft_source *source)
{
    struct dft_pack pack = {0};
    int rc = dft_exchange_names(source, source->names, NULL, 0);

    if (rc || dft_comm_size() == 1)
        return rc;
    for (size_t i = 0; i < source->located.capacity; i++) {
        const struct dft_map_slot *slot = &source->located.slots[i];
        uint64_t pair[2] = {slot->key, slot->value};

        if (slot->key)
            dft_pack_put(&pack, pair, sizeof pair);
    }
    return dft_pack_exchange(&pack, take_located, source);
}
