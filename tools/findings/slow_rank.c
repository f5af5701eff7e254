/* SPDX-License-Identifier: MIT */
/* Finds the rank that takes longest, class by class. */
#include "findings/slow_rank.h"

#include <stdlib.h>
#include <string.h>

#include "findings/facts_ranks.h"

const char *dft_slow_rank_word(unsigned class)
{
    static const char *const words[DFT_IO_COUNT] = {
        [DFT_IO_READ] = "read", [DFT_IO_WRITE] = "write", [DFT_IO_SYNC] = "sync", [DFT_IO_META] = "metadata"};

    return class < DFT_IO_COUNT ? words[class] : NULL;
}

/* Calls of a class by each rank. Those inside collective calls of MPI-IO are made for the
 * others. */
static int sum_ranks(const struct dft_facts *facts, unsigned class, struct dft_rank_sums *sums)
{
    const struct dft_answer *processes = &facts->answers[DFT_FACT_PROCESSES];
    const struct dft_answer *inside = &facts->answers[DFT_FACT_RANK_REGIONS];
    int rc = 0;

    for (uint32_t i = 0; !rc && i < processes->count; i++)
        if (processes->groups[i].key.class == class)
            rc = dft_rank_sums_add(sums, dft_facts_rank(processes, &processes->groups[i]),
                                   &processes->groups[i].metrics);
    for (uint32_t i = 0; !rc && dft_facts_has(facts, DFT_FACT_RANK_REGIONS) && i < inside->count; i++)
        if (inside->groups[i].key.class == class && dft_facts_in_collective(inside, &inside->groups[i]))
            dft_rank_sums_take(sums, dft_facts_rank(inside, &inside->groups[i]), &inside->groups[i].metrics);
    dft_rank_sums_sort(sums);
    return rc;
}

/* Ranks that are not in the sums have no such calls, or were left out because others have more. */
static struct dft_rank_sum middle_of(const struct dft_facts *facts, const struct dft_rank_sums *sums)
{
    const struct dft_answer *processes = &facts->answers[DFT_FACT_PROCESSES];
    const size_t middle = facts->ranks / 2;

    if (middle < sums->count)
        return sums->list[middle];
    return processes->found > processes->count ? sums->list[sums->count - 1] : (struct dft_rank_sum){.rank = -1};
}

/* Two slow ranks may have been slow one after the other; with more it is no rank's own trouble. */
static struct dft_rank_sum next_of(const struct dft_facts *facts, const struct dft_rank_sums *sums, uint64_t least_ns)
{
    if (facts->ranks < 4 || sums->count < 3 || sums->list[1].time_ns < least_ns || sums->list[2].time_ns >= least_ns)
        return (struct dft_rank_sum){.rank = -1};
    return sums->list[1];
}

int dft_slow_rank_find(const struct dft_facts *facts, uint64_t factor, struct dft_slow_rank *slow)
{
    int rc = 0;

    memset(slow, 0, sizeof *slow);
    for (unsigned class = 0; !rc && class < DFT_IO_COUNT; class ++) {
        struct dft_rank_sums sums = {0};
        struct dft_rank_sum top, median;

        rc = dft_slow_rank_word(class) ? sum_ranks(facts, class, &sums) : 0;
        if (!rc && sums.count) {
            top = sums.list[0];
            median = middle_of(facts, &sums);
            if (top.time_ns >= median.time_ns / 1000 * factor &&
                top.time_ns - median.time_ns > slow->rank.time_ns - slow->median.time_ns)
                *slow =
                    (struct dft_slow_rank){class, top, median, next_of(facts, &sums, median.time_ns / 1000 * factor)};
        }
        free(sums.list);
    }
    return rc;
}
