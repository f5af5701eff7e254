/* SPDX-License-Identifier: MIT */
/* Ends that wait for their time, in a heap. */
#include "sweep/ends.h"

#include <errno.h>

#include "base/array.h"

int dft_ends_push(struct dft_sweep_ends *ends, struct dft_sweep_end end)
{
    size_t at = ends->count;

    if (DFT_ARRAY_RESERVE(ends->list, ends->capacity, ends->count + 1))
        return -ENOMEM;
    ends->count++;
    for (; at && ends->list[(at - 1) / 2].time > end.time; at = (at - 1) / 2)
        ends->list[at] = ends->list[(at - 1) / 2];
    ends->list[at] = end;
    return 0;
}

void dft_ends_replace(struct dft_sweep_ends *ends, struct dft_sweep_end end)
{
    size_t at = 0;

    for (size_t next; (next = 2 * at + 1) < ends->count; at = next) {
        if (next + 1 < ends->count && ends->list[next + 1].time < ends->list[next].time)
            next++;
        if (ends->list[next].time >= end.time)
            break;
        ends->list[at] = ends->list[next];
    }
    ends->list[at] = end;
}

void dft_ends_pop(struct dft_sweep_ends *ends)
{
    ends->count--;
    if (ends->count)
        dft_ends_replace(ends, ends->list[ends->count]);
}
