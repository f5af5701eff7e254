/* SPDX-License-Identifier: MIT */
/* Sorts starts and ends, and follows how many intervals go on. */
#include "sweep/levels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FEW        48u /* numbers that are sorted by insertion */
#define DIGIT_BITS 8
#define DIGITS     (1u << DIGIT_BITS)

/* --- sorting ---------------------------------------------------------------------------------- */

static void sort_few(uint64_t *numbers, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t number = numbers[i];
        size_t at = i;

        for (; at && numbers[at - 1] > number; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = number;
    }
}

static void sort_digit(const uint64_t *from, uint64_t *to, size_t count, uint64_t least, unsigned shift)
{
    size_t places[DIGITS] = {0}, sum = 0;

    for (size_t i = 0; i < count; i++)
        places[(from[i] - least) >> shift & (DIGITS - 1)]++;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t n = places[d];

        places[d] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++)
        to[places[(from[i] - least) >> shift & (DIGITS - 1)]++] = from[i];
}

static void sort_numbers(uint64_t *numbers, size_t count, uint64_t *scratch)
{
    uint64_t least = UINT64_MAX, most = 0, *from = numbers, *to = scratch;
    int sorted = 1;

    for (size_t i = 0; i < count; i++) {
        sorted &= !i || numbers[i] >= numbers[i - 1];
        least = numbers[i] < least ? numbers[i] : least;
        most = numbers[i] > most ? numbers[i] : most;
    }
    if (sorted)
        return;
    if (count <= FEW) {
        sort_few(numbers, count);
        return;
    }
    for (unsigned shift = 0; shift < 64 && (most - least) >> shift; shift += DIGIT_BITS) {
        uint64_t *swap = from;

        sort_digit(from, to, count, least, shift);
        from = to;
        to = swap;
    }
    if (from != numbers)
        memcpy(numbers, from, count * sizeof *numbers);
}

/* `old` before `new`, both sorted, into `new`, which has room for both: from the back. */
static void join(const uint64_t *old, size_t nold, uint64_t *new, size_t nnew)
{
    size_t at = nold + nnew;

    while (nold)
        new[--at] = nnew &&new[nnew - 1] > old[nold - 1] ? new[--nnew] : old[--nold];
}

/* --- the sweep -------------------------------------------------------------------------------- */

struct at {
    struct dft_levels *levels;
    struct dft_levels_visit *visit;
    const uint64_t *ends;
    size_t next, all; /* of the ends */
    size_t level;
};

static void end_until(struct at *at, uint64_t now)
{
    while (at->level && at->next < at->all && at->ends[at->next] <= now) {
        at->level--;
        if (!at->level)
            at->visit->busy(at->visit->context, at->levels->busy_from, at->ends[at->next]);
        at->next++;
    }
}

/* On to `part`: what still goes on when a part begins is in flight there. */
static void walk(struct at *at, uint64_t part)
{
    struct dft_levels *levels = at->levels;
    struct dft_levels_visit *visit = at->visit;

    while (at->level && levels->part < part && visit->walked < visit->walk_most) {
        levels->part++;
        visit->walked++;
        end_until(at, levels->part * visit->width_ns);
        if (at->level)
            visit->level(visit->context, levels->part, at->level);
    }
    levels->part = part;
}

/* What has not ended stays for the next window. */
static int keep_ends(struct dft_levels *levels, const uint64_t *ends, size_t count)
{
    uint64_t *kept = NULL;

    if (count) {
        kept = malloc(count * sizeof *kept);
        if (!kept)
            return -ENOMEM;
        memcpy(kept, ends, count * sizeof *kept);
    }
    free(levels->ends);
    levels->ends = kept;
    levels->count = (uint32_t)count;
    return 0;
}

int dft_levels_sweep(struct dft_levels *levels, struct dft_levels_visit *visit, uint64_t *starts, uint64_t *ends,
                     size_t count, uint64_t *scratch)
{
    struct at at = {
        .levels = levels, .visit = visit, .ends = ends, .all = count + levels->count, .level = levels->count};

    sort_numbers(starts, count, scratch);
    sort_numbers(ends, count, scratch);
    join(levels->ends, levels->count, ends, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t part = visit->width_ns ? starts[i] / visit->width_ns : 0;

        walk(&at, part);
        end_until(&at, starts[i]);
        if (!at.level++)
            levels->busy_from = starts[i];
        visit->level(visit->context, part, at.level);
    }
    return keep_ends(levels, ends + at.next, at.all - at.next);
}

void dft_levels_finish(struct dft_levels *levels, struct dft_levels_visit *visit)
{
    struct at at = {
        .levels = levels, .visit = visit, .ends = levels->ends, .all = levels->count, .level = levels->count};

    if (visit->width_ns)
        walk(&at, UINT64_MAX / visit->width_ns);
    end_until(&at, UINT64_MAX);
}
