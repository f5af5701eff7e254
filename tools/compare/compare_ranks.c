/* SPDX-License-Identifier: MIT */
/* Groups of ranks: those that both runs have (or just one) and that do about as much: sorted by the
 * number of calls, and within that by bytes, a new group begins where the next number is more than
 * twice the last. Run A decides, where it has the rank. Ranks of a group whose cost of a call
 * changed otherwise are parted from the rest: where that change is more than a factor of two away
 * from the group's median change, or from the next smaller one. */

#include "compare/compare_ranks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX (1u << 24) /* a rank beyond it is not believed */

struct rank {
    uint32_t rank;
    uint32_t group;
    uint8_t in; /* mask of the runs that have it */
    uint64_t calls[2], bytes[2], time_ns[2];
    double change; /* of the cost of a call: that of B through that of A; 1: not known */
};

static int rank_of(const struct dft_answer *answer, const struct dft_group *group, uint32_t *rank)
{
    struct dft_key_value value;

    dft_group_value(answer, group, DFT_BY_RANK, &value);
    *rank = (uint32_t)value.number;
    return value.type == DFT_KEY_UINT && value.number < RANKS_MAX;
}

static uint32_t count_ranks(const struct dft_compared_run *run)
{
    uint32_t most = 0, rank;

    for (uint32_t i = 0; i < run->ranks.count; i++)
        if (rank_of(&run->ranks, &run->ranks.groups[i], &rank) && rank >= most)
            most = rank + 1;
    return most;
}

static void collect(struct rank *ranks, const struct dft_compared_run *run, int side)
{
    uint32_t rank;

    for (uint32_t i = 0; i < run->ranks.count; i++) {
        const struct dft_group *group = &run->ranks.groups[i];

        if (!dft_is_io(group->key.class) || !rank_of(&run->ranks, group, &rank))
            continue;
        ranks[rank].in |= (uint8_t)(1u << side);
        ranks[rank].calls[side] += group->metrics.count;
        ranks[rank].bytes[side] += group->metrics.bytes;
        ranks[rank].time_ns[side] += group->metrics.dur_sum;
    }
}

static uint64_t calls_of(const struct rank *rank)
{
    return rank->calls[!(rank->in & 1)];
}

static uint64_t bytes_of(const struct rank *rank)
{
    return rank->bytes[!(rank->in & 1)];
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_calls(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    int order = compare(a->in, b->in);

    order = order ? order : compare(calls_of(a), calls_of(b));
    return order ? order : compare(a->rank, b->rank);
}

static int by_group_and_bytes(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    int order = compare(a->group, b->group);

    order = order ? order : compare(bytes_of(a), bytes_of(b));
    return order ? order : compare(a->rank, b->rank);
}

static int by_rank(const void *left, const void *right)
{
    return compare(((const struct rank *)left)->rank, ((const struct rank *)right)->rank);
}

static int is_far(uint64_t last, uint64_t next)
{
    return next - last > last;
}

static double change_of(const struct rank *rank)
{
    double a = (double)rank->time_ns[0] * (double)rank->calls[1], b = (double)rank->time_ns[1] * (double)rank->calls[0];

    return a > 0 && b > 0 ? b / a : 1;
}

static int by_group_and_change(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    int order = compare(a->group, b->group);

    order = order ? order : (a->change > b->change) - (a->change < b->change);
    return order ? order : compare(a->rank, b->rank);
}

/* Where a change lies: -1 far below the median, 1 far above, 0 near. */
static int side_of(double change, double median)
{
    return (change > 2 * median) - (2 * change < median);
}

/* Parts groups by how the cost of a call changed. */
static void part_by_change(struct rank *ranks, uint32_t count)
{
    uint32_t group = 0;

    for (uint32_t i = 0; i < count; i++)
        ranks[i].change = change_of(&ranks[i]);
    qsort(ranks, count, sizeof *ranks, by_group_and_change);
    for (uint32_t from = 0, to; from < count; from = to, group++) {
        uint32_t own = ranks[from].group;
        double median;

        for (to = from; to < count && ranks[to].group == own; to++)
            ;
        median = ranks[from + (to - from - 1) / 2].change;
        for (uint32_t i = from; i < to; i++) {
            double change = ranks[i].change, last = ranks[i > from ? i - 1 : i].change;

            group += side_of(change, median) != side_of(last, median) || change > 2 * last;
            ranks[i].group = group;
        }
    }
}

/* Numbers the groups, in order of their lowest ranks. Returns how many. */
static uint32_t make_groups(struct rank *ranks, uint32_t count, uint32_t *numbers)
{
    uint32_t group = 0, n = 0, before;

    qsort(ranks, count, sizeof *ranks, by_calls);
    for (uint32_t i = 0; i < count; i++) {
        group += i && (ranks[i].in != ranks[i - 1].in || is_far(calls_of(&ranks[i - 1]), calls_of(&ranks[i])));
        ranks[i].group = group;
    }
    qsort(ranks, count, sizeof *ranks, by_group_and_bytes);
    group = before = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t own = ranks[i].group;

        group += i && (own != before || is_far(bytes_of(&ranks[i - 1]), bytes_of(&ranks[i])));
        before = own;
        ranks[i].group = group;
    }
    part_by_change(ranks, count);
    qsort(ranks, count, sizeof *ranks, by_rank);
    memset(numbers, 0, (count + 1u) * sizeof *numbers);
    for (uint32_t i = 0; i < count; i++) {
        if (!numbers[ranks[i].group])
            numbers[ranks[i].group] = ++n;
        ranks[i].group = numbers[ranks[i].group];
    }
    return n;
}

/* "0-3,7": the ranks of a group, by rank. NULL: no memory. */
static char *label_of(const struct rank *ranks, uint32_t count, uint32_t group)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    const char *comma = "";

    if (!out)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t last = i;

        if (ranks[i].group != group)
            continue;
        while (last + 1 < count && ranks[last + 1].group == group && ranks[last + 1].rank == ranks[last].rank + 1)
            last++;
        fprintf(out, last > i ? "%s%u-%u" : "%s%u", comma, ranks[i].rank, ranks[last].rank);
        comma = ",";
        i = last;
    }
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

static int keep(struct dft_comparison *comparison, const struct rank *ranks, uint32_t count, uint32_t ngroups)
{
    comparison->rank_groups = calloc(ngroups + 1u, sizeof *comparison->rank_groups);
    if (!comparison->rank_groups)
        return -ENOMEM;
    comparison->nrank_groups = ngroups;
    for (uint32_t i = 0; i < count; i++)
        comparison->group_of_rank[ranks[i].rank] = ranks[i].group;
    for (uint32_t g = 0; g < ngroups; g++) {
        comparison->rank_groups[g].label = label_of(ranks, count, g + 1);
        if (!comparison->rank_groups[g].label)
            return -ENOMEM;
    }
    return 0;
}

int dft_compare_ranks(struct dft_comparison *comparison)
{
    uint32_t a = count_ranks(&comparison->runs[0]), b = count_ranks(&comparison->runs[1]), n = 0;
    uint32_t all = a > b ? a : b, *numbers;
    struct rank *ranks;
    int rc;

    if (!all)
        return 0;
    comparison->nranks = all;
    comparison->group_of_rank = calloc(all, sizeof *comparison->group_of_rank);
    numbers = malloc((all + 1u) * sizeof *numbers);
    ranks = calloc(all, sizeof *ranks);
    rc = comparison->group_of_rank && numbers && ranks ? 0 : -ENOMEM;
    if (!rc) {
        for (uint32_t i = 0; i < all; i++)
            ranks[i].rank = i;
        collect(ranks, &comparison->runs[0], 0);
        collect(ranks, &comparison->runs[1], 1);
        for (uint32_t i = 0; i < all; i++)
            if (ranks[i].in)
                ranks[n++] = ranks[i];
        rc = keep(comparison, ranks, n, make_groups(ranks, n, numbers));
    }
    free(numbers);
    free(ranks);
    return rc;
}
