/* SPDX-License-Identifier: MIT */
/* How long calls usually take; see ranks_usual.h. */
#include "ranks/ranks_usual.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static uint32_t bin_of(uint64_t ns)
{
    uint32_t e;

    if (ns < 8)
        return (uint32_t)ns;
    e = 60u - (uint32_t)__builtin_clzll(ns); /* ns >> e is in [8, 16) */
    return 8 * e + (uint32_t)(ns >> e);
}

static uint64_t middle_of(uint32_t bin)
{
    uint32_t e = bin < 16 ? 0 : bin / 8 - 1;

    return bin < 8 ? bin : ((uint64_t)(bin - 8 * e) << e) + ((UINT64_C(1) << e) - 1) / 2;
}

static struct dft_usual_kind *kind_of(struct dft_usual *usual, uint64_t call, uint32_t size)
{
    uint64_t *number = dft_map_put(&usual->numbers, dft_map_join(call, size));
    struct dft_usual_kind *kind;

    if (!number)
        return NULL;
    if (*number)
        return usual->kinds[*number - 1];
    kind = calloc(1, sizeof *kind);
    if (!kind || DFT_ARRAY_PUSH(usual->kinds, usual->capacity, usual->count, kind)) {
        free(kind);
        return NULL;
    }
    kind->call = call;
    kind->size = size;
    *number = usual->count;
    return kind;
}

int dft_usual_add(struct dft_usual *usual, uint64_t call, uint32_t size, uint64_t samples, uint64_t ns)
{
    struct dft_usual_kind *kind = samples ? kind_of(usual, call, size) : NULL;

    if (kind)
        kind->bins[bin_of(ns / samples)] += samples;
    return kind || !samples ? 0 : -ENOMEM;
}

void dft_usual_finish(struct dft_usual *usual)
{
    for (uint32_t i = 0; i < usual->count; i++) {
        struct dft_usual_kind *kind = usual->kinds[i];
        uint64_t all = 0, sum = 0;
        uint32_t b = 0;

        for (uint32_t n = 0; n < DFT_USUAL_BINS; n++)
            all += kind->bins[n];
        for (sum = kind->bins[0]; b + 1 < DFT_USUAL_BINS && (double)sum < 0.25 * (double)all;)
            sum += kind->bins[++b];
        kind->usual_ns = middle_of(b);
    }
}

uint64_t dft_usual_ns(const struct dft_usual *usual, uint64_t call, uint32_t size)
{
    const uint64_t *number = dft_map_find(&usual->numbers, dft_map_join(call, size));

    return number ? usual->kinds[*number - 1]->usual_ns : 0;
}

void dft_usual_fini(struct dft_usual *usual)
{
    for (uint32_t i = 0; i < usual->count; i++)
        free(usual->kinds[i]);
    free(usual->kinds);
    dft_map_fini(&usual->numbers);
    memset(usual, 0, sizeof *usual);
}
