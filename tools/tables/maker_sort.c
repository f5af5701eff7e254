/* SPDX-License-Identifier: MIT */
/* Puts the rows of a batch into the order of time. Those of one thread mostly are in it already. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/timed.h"
#include "tables/maker.h"

/* The least time and the width of all; returns 1 where they ascend. */
static int measure(const int64_t *times, uint32_t count, uint64_t *from, uint64_t *width)
{
    int64_t least = count ? times[0] : 0, most = least;
    int ascends = 1;

    for (uint32_t i = 1; i < count; i++) {
        ascends &= times[i] >= times[i - 1];
        least = times[i] < least ? times[i] : least;
        most = times[i] > most ? times[i] : most;
    }
    *from = (uint64_t)least;
    *width = (uint64_t)most - (uint64_t)least;
    return ascends;
}

static void move64(void *cells, void *spare, const struct dft_timed *places, uint32_t count)
{
    uint64_t *from = cells, *to = spare;

    if (!cells)
        return;
    for (uint32_t i = 0; i < count; i++)
        to[i] = from[places[i].item];
    memcpy(from, to, count * sizeof *to);
}

static void move32(void *cells, void *spare, const struct dft_timed *places, uint32_t count)
{
    uint32_t *from = cells, *to = spare;

    if (!cells)
        return;
    for (uint32_t i = 0; i < count; i++)
        to[i] = from[places[i].item];
    memcpy(from, to, count * sizeof *to);
}

static void move(struct dft_maker *maker, const struct dft_timed *places, void *spare)
{
    for (unsigned i = 0; i < maker->ncolumns; i++) {
        move64(maker->integers[i], spare, places, maker->count);
        move64(maker->reals[i], spare, places, maker->count);
        move32(maker->codes[i], spare, places, maker->count);
    }
}

int dft_maker_sort(struct dft_maker *maker, unsigned column)
{
    const int64_t *times = maker->integers[column];
    struct dft_timed *list, *other, *sorted;
    uint64_t from, width;
    uint32_t count = maker->count;

    if (measure(times, count, &from, &width))
        return 0;
    list = malloc(count * sizeof *list);
    other = malloc(count * sizeof *other);
    if (list && other) {
        for (uint32_t i = 0; i < count; i++)
            list[i] = (struct dft_timed){.time = (uint64_t)times[i], .item = i};
        sorted = dft_timed_sort(list, other, count, from, width);
        move(maker, sorted, sorted == list ? other : list);
    }
    free(list);
    free(other);
    return list && other ? 0 : -ENOMEM;
}
