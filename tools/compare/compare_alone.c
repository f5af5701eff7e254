/* SPDX-License-Identifier: MIT */
/* Which processes of a run stand out from all of the other run, where the rank-sum test does not
 * see them: one among many moves no rank of the others. */
#include "compare/compare_alone.h"
#include "compare/comparison.h"

struct cost {
    uint64_t count, time_ns;
};

static double cost_of(const struct cost *cost)
{
    return cost->count ? (double)cost->time_ns / (double)cost->count : 0;
}

/* Adds the cells from `from` on that are of one process (`slice`: and of one slice of its time).
 * Returns where the next ones begin. Cells are sorted by process, then time. */
static uint32_t add_unit(const struct dft_cell *cells, uint32_t count, uint32_t from, int slice, struct cost *cost)
{
    const struct dft_group_key *key = &cells[from].group->key;
    uint32_t i = from;

    *cost = (struct cost){0};
    for (; i < count && cells[i].group->key.process_group == key->process_group &&
           (!slice || cells[i].group->key.time == key->time);
         i++) {
        cost->count += cells[i].group->metrics.count;
        cost->time_ns += cells[i].group->metrics.dur_sum;
    }
    return i;
}

/* The cost of the costliest process, or slice of a process. */
static double largest_cost(const struct dft_cell *cells, uint32_t count, int slice)
{
    double largest = 0;
    struct cost cost;

    for (uint32_t i = 0; i < count;) {
        i = add_unit(cells, count, i, slice, &cost);
        largest = cost_of(&cost) > largest ? cost_of(&cost) : largest;
    }
    return largest;
}

/* How many slices of processes cost more than `limit`. */
static uint32_t slices_beyond(const struct dft_cell *cells, uint32_t count, double limit)
{
    uint32_t beyond = 0;
    struct cost cost;

    for (uint32_t i = 0; i < count;) {
        i = add_unit(cells, count, i, 1, &cost);
        beyond += cost_of(&cost) > limit;
    }
    return beyond;
}

/* Since when the process stands out: its first slice that costs more than `limit`; and what its
 * calls cost behind that one, of which a part may be as usual. */
static void find_since(const struct dft_cell *cells, uint32_t count, double limit, struct dft_alone *alone)
{
    struct cost cost, since = {0}, rest = {0};

    alone->has_since = 0;
    for (uint32_t i = 0, end; i < count; i = end) {
        end = add_unit(cells, count, i, 1, &cost);
        if (!since.count && cost_of(&cost) <= limit)
            continue;
        if (!since.count) {
            alone->has_since = i != 0;
            alone->since_slice = cells[i].group->key.time;
        }
        rest = since.count ? (struct cost){rest.count + cost.count, rest.time_ns + cost.time_ns} : rest;
        since.count += cost.count;
    }
    if (rest.count)
        alone->cost_ns = cost_of(&rest);
}

/* The time (ns) of a process beyond what its calls would take at the usual cost; 0: they do not stand out. */
static double excess_of(const struct cost *cost, double usual)
{
    return cost_of(cost) > DFT_ALONE_TIMES * usual ? (double)cost->time_ns - (double)cost->count * usual : 0;
}

static double largest_excess(const struct dft_cell *cells, uint32_t count, double usual)
{
    double largest = 0, excess;
    struct cost cost;

    for (uint32_t i = 0; i < count;) {
        i = add_unit(cells, count, i, 0, &cost);
        excess = excess_of(&cost, usual);
        largest = excess > largest ? excess : largest;
    }
    return largest;
}

void dft_compare_alone(struct dft_item *item)
{
    const struct dft_change *calls = &item->changes[DFT_MEASURE_COUNT], *time = &item->changes[DFT_MEASURE_TIME];
    int side = time->value[1] > time->value[0];
    const struct dft_cell *own = item->cells[side], *others = item->cells[!side];
    uint32_t n = item->ncells[side], nothers = item->ncells[!side];
    double process = largest_cost(others, nothers, 0), slice = largest_cost(others, nothers, 1), most = 0;
    double least, excess;
    int enough = slices_beyond(others, nothers, 0) >= DFT_UNITS_MIN;
    struct cost cost;

    item->alone = (struct dft_alone){.side = (uint8_t)side};
    if (!calls->value[!side] || !time->value[!side] || !n || !own->group->key.process_group)
        return;
    least = DFT_ALONE_SHARE * largest_excess(own, n, process);
    for (uint32_t i = 0, end; i < n; i = end) {
        end = add_unit(own, n, i, 0, &cost);
        excess = excess_of(&cost, process);
        item->alone.processes++;
        if (!excess || excess < least)
            continue;
        item->alone.count++;
        item->alone.sure |= enough && slices_beyond(own + i, end - i, slice) >= DFT_UNITS_MIN;
        if (cost_of(&cost) <= most)
            continue;
        most = item->alone.cost_ns = cost_of(&cost);
        item->alone.who = own[i].group->key.process_group;
        find_since(own + i, end - i, slice, &item->alone);
    }
    if (item->alone.processes < 2)
        item->alone.count = 0; /* there the process is the run */
    item->alone.other_ns = (double)time->value[!side] / (double)calls->value[!side];
    item->alone.times = most / item->alone.other_ns;
}

const struct dft_process *dft_compare_alone_process(const struct dft_comparison *comparison, enum dft_compared table,
                                                    const struct dft_item *item)
{
    const struct dft_compared_run *run = &comparison->runs[item->alone.side];

    return item->alone.count ? &dft_compare_answer(run, table)->process_group[item->alone.who - 1]->process : NULL;
}
