/* SPDX-License-Identifier: MIT */
/* Starts and ends of a series in order, and what follows from them.
 *
 * Which end belongs to which start does not matter for how many are going on: both are sorted by
 * themselves. At the same instant ends come first. With time as a key all is cut at the bounds of
 * the intervals. */
#include "query/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/group_map.h"
#include "query/query_types.h"

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
    struct dft_sweeping *sweeping;
    const struct dft_group_key *key;
    struct dft_series *series;
    const uint64_t *ends;
    size_t next, all; /* of the ends */
    size_t level;     /* calls going on */
    struct dft_group *group;
    uint64_t group_interval;
    int has_group;
};

static struct dft_group *group_of(struct at *at, uint64_t interval)
{
    struct dft_group_key key = *at->key;
    int64_t number;

    if (at->has_group && at->group_interval == interval)
        return at->group;
    key.time = interval;
    number = dft_group_map_find(&at->sweeping->map, &key);
    at->group = number < 0 ? NULL : &at->sweeping->answer->groups[number];
    at->group_interval = interval;
    at->has_group = 1;
    return at->group;
}

static void note_level(struct at *at, uint64_t interval)
{
    struct dft_group *group = group_of(at, interval);

    if (group && at->level > group->in_flight_max)
        group->in_flight_max = at->level;
}

/* At least one was going on in [from, to). */
static void add_union(struct at *at, uint64_t from, uint64_t to)
{
    struct dft_sweeping *sweeping = at->sweeping;
    uint64_t width = sweeping->width_ns;

    while (from < to && sweeping->walked < DFT_WALK_MAX) {
        uint64_t interval = width ? from / width : 0, end = to;
        struct dft_group *group = group_of(at, interval);

        if (width && (to - 1) / width > interval)
            end = (interval + 1) * width;
        if (group)
            group->busy_union_ns += end - from;
        from = end;
        sweeping->walked += width != 0;
    }
}

static void end_until(struct at *at, uint64_t now)
{
    while (at->level && at->next < at->all && at->ends[at->next] <= now) {
        at->level--;
        if (!at->level)
            add_union(at, at->series->busy_from, at->ends[at->next]);
        at->next++;
    }
}

/* On to `interval`: what is still going on when an interval begins is in flight there. */
static void walk(struct at *at, uint64_t interval)
{
    struct dft_series *series = at->series;

    while (at->level && series->interval < interval && at->sweeping->walked < DFT_WALK_MAX) {
        series->interval++;
        at->sweeping->walked++;
        end_until(at, series->interval * at->sweeping->width_ns);
        if (at->level)
            note_level(at, series->interval);
    }
    series->interval = interval;
}

/* What has not ended stays for the next window. */
static int keep_ends(struct dft_series *series, const uint64_t *ends, size_t count)
{
    uint64_t *kept = NULL;

    if (count) {
        kept = malloc(count * sizeof *kept);
        if (!kept)
            return -ENOMEM;
        memcpy(kept, ends, count * sizeof *kept);
    }
    free(series->ends);
    series->ends = kept;
    series->count = (uint32_t)count;
    return 0;
}

int dft_series_sweep(struct dft_sweeping *sweeping, const struct dft_group_key *key, struct dft_series *series,
                     uint64_t *starts, uint64_t *ends, size_t count, uint64_t *scratch)
{
    struct at at = {.sweeping = sweeping,
                    .key = key,
                    .series = series,
                    .ends = ends,
                    .all = count + series->count,
                    .level = series->count};

    sort_numbers(starts, count, scratch);
    sort_numbers(ends, count, scratch);
    join(series->ends, series->count, ends, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t interval = sweeping->width_ns ? starts[i] / sweeping->width_ns : 0;

        walk(&at, interval);
        end_until(&at, starts[i]);
        if (!at.level++)
            series->busy_from = starts[i];
        note_level(&at, interval);
    }
    return keep_ends(series, ends + at.next, at.all - at.next);
}

void dft_series_finish(struct dft_sweeping *sweeping, const struct dft_group_key *key, struct dft_series *series)
{
    struct at at = {.sweeping = sweeping,
                    .key = key,
                    .series = series,
                    .ends = series->ends,
                    .all = series->count,
                    .level = series->count};

    if (sweeping->width_ns)
        walk(&at, UINT64_MAX / sweeping->width_ns);
    end_until(&at, UINT64_MAX);
}
