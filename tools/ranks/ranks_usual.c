/* How long calls usually take; see ranks_usual.h. */
#include "ranks/ranks_usual.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static struct dft_usual_kind **slot_of(const struct dft_usual *usual, uint64_t call, uint32_t size)
{
    uint64_t hash = (call ^ size * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);
    uint32_t i = (uint32_t)(hash >> 32) & (usual->nslots - 1);

    while (usual->slots[i] && (usual->slots[i]->call != call || usual->slots[i]->size != size))
        i = (i + 1) & (usual->nslots - 1);
    return &usual->slots[i];
}

static int grow(struct dft_usual *usual)
{
    struct dft_usual bigger = {.nslots = usual->nslots ? 2 * usual->nslots : 64};

    bigger.slots = calloc(bigger.nslots, sizeof(struct dft_usual_kind *));
    if (!bigger.slots)
        return -ENOMEM;
    for (uint32_t i = 0; i < usual->nslots; i++)
        if (usual->slots[i])
            *slot_of(&bigger, usual->slots[i]->call, usual->slots[i]->size) = usual->slots[i];
    free(usual->slots);
    usual->slots = bigger.slots;
    usual->nslots = bigger.nslots;
    return 0;
}

static struct dft_usual_kind *kind_of(struct dft_usual *usual, uint64_t call, uint32_t size)
{
    struct dft_usual_kind **slot;

    if (2 * usual->count >= usual->nslots && grow(usual))
        return NULL;
    slot = slot_of(usual, call, size);
    if (*slot)
        return *slot;
    *slot = calloc(1, sizeof **slot);
    if (!*slot)
        return NULL;
    usual->count++;
    (*slot)->call = call;
    (*slot)->size = size;
    return *slot;
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
    for (uint32_t i = 0; i < usual->nslots; i++) {
        struct dft_usual_kind *kind = usual->slots[i];
        uint64_t all = 0, sum = 0;
        uint32_t b = 0;

        if (!kind)
            continue;
        for (uint32_t n = 0; n < DFT_USUAL_BINS; n++)
            all += kind->bins[n];
        for (sum = kind->bins[0]; b + 1 < DFT_USUAL_BINS && (double)sum < 0.25 * (double)all;)
            sum += kind->bins[++b];
        kind->usual_ns = middle_of(b);
    }
}

uint64_t dft_usual_ns(const struct dft_usual *usual, uint64_t call, uint32_t size)
{
    const struct dft_usual_kind *kind = usual->nslots ? *slot_of(usual, call, size) : NULL;

    return kind ? kind->usual_ns : 0;
}

void dft_usual_fini(struct dft_usual *usual)
{
    for (uint32_t i = 0; i < usual->nslots; i++)
        free(usual->slots[i]);
    free(usual->slots);
    memset(usual, 0, sizeof *usual);
}
