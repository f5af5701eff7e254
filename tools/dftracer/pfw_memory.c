/* SPDX-License-Identifier: MIT */
/* What every part of the conversion stands on: memory, and the way of whole blocks out. */
#include "dftracer/pfw_memory.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

int dft_pfw_grow(struct dft_pfw *pfw, void *array, uint32_t *capacity, uint32_t count, size_t size)
{
    size_t grown = count < *capacity ? *capacity : dft_array_grow(array, *capacity, count + (size_t)1, size);

    if (!grown) {
        pfw->error = -ENOMEM;
        return -ENOMEM;
    }
    *capacity = (uint32_t)grown;
    return 0;
}

char *dft_pfw_reserve(struct dft_pfw *pfw, size_t bytes)
{
    if (2 * bytes + 64 > pfw->buffer_bytes) {
        char *bigger = realloc(pfw->buffer, 4 * bytes + 4096);

        if (!bigger) {
            pfw->error = -ENOMEM;
            return NULL;
        }
        pfw->buffer = bigger;
        pfw->buffer_bytes = 4 * bytes + 4096;
    }
    return pfw->buffer;
}

void dft_pfw_put(struct dft_pfw *pfw, const void *block, long bytes)
{
    if (pfw->error || pfw->surveys)
        return;
    if (bytes > 0)
        pfw->error = pfw->job->put(pfw->job->context, block, (size_t)bytes);
    dft_pfw_choose_compression(pfw);
}

void dft_pfw_choose_compression(struct dft_pfw *pfw)
{
    dft_encoder_set_compression(pfw->encoder, pfw->job->plain && *pfw->job->plain ? DFT_STORE : DFT_DEFLATE);
}
