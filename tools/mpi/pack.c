/* SPDX-License-Identifier: MIT */
/* Packs bytes for another rank. */
#include "mpi/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void dft_pack_put(struct dft_pack *pack, const void *bytes, size_t length)
{
    if (!pack->rc)
        pack->rc = DFT_ARRAY_RESERVE(pack->bytes, pack->capacity, pack->length + length);
    if (pack->rc || !length)
        return;
    memcpy(pack->bytes + pack->length, bytes, length);
    pack->length += length;
}

void dft_pack_text(struct dft_pack *pack, struct dft_text text)
{
    dft_pack_put(pack, &text.length, sizeof text.length);
    dft_pack_put(pack, text.bytes, text.length);
}

void dft_pack_string(struct dft_pack *pack, const char *string)
{
    const size_t length = string ? strlen(string) + 1 : 0;

    dft_pack_put(pack, &length, sizeof length);
    dft_pack_put(pack, string, length);
}

static int share(struct dft_pack *pack, int (*how)(const void *, size_t, dft_comm_take_fn *, void *),
                 dft_comm_take_fn *take, void *context)
{
    int rc = dft_comm_agree(pack->rc);

    if (!rc)
        rc = how(pack->bytes, pack->length, take, context);
    free(pack->bytes);
    *pack = (struct dft_pack){.rc = rc};
    return rc;
}

int dft_pack_exchange(struct dft_pack *pack, dft_comm_take_fn *take, void *context)
{
    return share(pack, dft_comm_exchange, take, context);
}

int dft_pack_gather(struct dft_pack *pack, dft_comm_take_fn *take, void *context)
{
    return share(pack, dft_comm_gather, take, context);
}

/* The results point into the packed bytes. */
static const void *take(struct dft_unpack *unpack, size_t length)
{
    const void *here = unpack->at;

    /* The other rank runs another version of the program: none of its bytes can be trusted. */
    if (length > (size_t)(unpack->end - unpack->at))
        abort();
    unpack->at += length;
    return here;
}

void dft_unpack_get(struct dft_unpack *unpack, void *bytes, size_t length)
{
    if (length)
        memcpy(bytes, take(unpack, length), length);
}

struct dft_text dft_unpack_text(struct dft_unpack *unpack)
{
    struct dft_text text;

    dft_unpack_get(unpack, &text.length, sizeof text.length);
    text.bytes = take(unpack, text.length);
    return text;
}

const char *dft_unpack_string(struct dft_unpack *unpack)
{
    size_t length;

    dft_unpack_get(unpack, &length, sizeof length);
    return length ? take(unpack, length) : NULL;
}
