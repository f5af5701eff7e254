/* SPDX-License-Identifier: MIT */
/* The numbers of an item in both runs, and the test whether they differ by more than each run
 * within itself. */
#include "compare/compare_spread.h"
#include "base/array.h"
#include "compare/compare_alone.h"
#include "compare/compare_repeated.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COST, FIRST_PERCENTILE, KINDS = FIRST_PERCENTILE + 3 };
static const double percents[3] = {50, 95, 99};

/* The units of an item in one run: for each kind of number, its values in no order. */
struct units {
    uint64_t *values[KINDS];
    uint32_t count;
    int has_percentiles;
};

/* What both runs did of one call: in a line that gathers several. */
struct kind {
    uint64_t count[2], time_ns[2];
};

struct dft_spread_scratch {
    struct dft_group_map map; /* of kinds: cat, name, class */
    struct kind *kinds;
    uint32_t nkinds_max;
    struct units units[2];
    uint32_t capacity; /* of each list of values */
    uint64_t counts[DFT_BINS];
    struct dft_bin bins[DFT_BINS];
};

/* Sum of the groups of some cells. */
struct sum {
    uint64_t count, time_ns, bytes, min, max;
    uint64_t percentiles[3];
};

void dft_spread_free(struct dft_spread_scratch *scratch)
{
    if (scratch) {
        free(scratch->units[0].values[0]);
        free(scratch->kinds);
    }
    free(scratch);
}

static int reserve(struct dft_spread_scratch *scratch, uint32_t count)
{
    uint64_t *values;

    if (count <= scratch->capacity)
        return 0;
    values = calloc(count, 2 * KINDS * sizeof *values);
    if (!values)
        return -ENOMEM;
    free(scratch->units[0].values[0]);
    for (unsigned i = 0; i < 2 * KINDS; i++)
        scratch->units[i / KINDS].values[i % KINDS] = values + (size_t)i * count;
    scratch->capacity = count;
    return 0;
}

static void take_percentiles(struct dft_spread_scratch *scratch, const struct dft_cell *cells, uint32_t count,
                             struct sum *sum)
{
    uint32_t n = 0;

    memset(scratch->counts, 0, sizeof scratch->counts);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t b = 0; b < cells[i].group->nbins; b++)
            scratch->counts[cells[i].group->bins[b].bin] += cells[i].group->bins[b].count;
    for (uint32_t b = 0; b < DFT_BINS; b++)
        if (scratch->counts[b])
            scratch->bins[n++] = (struct dft_bin){.bin = b, .count = scratch->counts[b]};
    for (unsigned p = 0; p < 3; p++)
        sum->percentiles[p] = dft_percentile(scratch->bins, n, percents[p], sum->min, sum->max);
}

/* Only where all that was counted is in histograms. */
static int has_percentiles(const struct dft_cell *cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (cells[i].group->metrics.samples && !cells[i].group->nbins)
            return 0;
    return count != 0;
}

static struct sum sum_of(struct dft_spread_scratch *scratch, const struct dft_cell *cells, uint32_t count,
                         int percentiles)
{
    struct sum sum = {.min = UINT64_MAX};

    for (uint32_t i = 0; i < count; i++) {
        const struct dft_metrics *m = &cells[i].group->metrics;

        sum.count += m->count;
        sum.time_ns += m->dur_sum;
        sum.bytes += m->bytes;
        sum.min = m->dur_min < sum.min ? m->dur_min : sum.min;
        sum.max = m->dur_max > sum.max ? m->dur_max : sum.max;
    }
    if (percentiles)
        take_percentiles(scratch, cells, count, &sum);
    return sum;
}

/* --- units ------------------------------------------------------------------------------------ */

/* Cells of an item are sorted by process, then time. */
static uint32_t processes_of(const struct dft_cell *cells, uint32_t count)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++)
        n += !i || cells[i].group->key.process_group != cells[i - 1].group->key.process_group;
    return n;
}

static int same_unit(const struct dft_group *a, const struct dft_group *b, int by_process)
{
    return a->key.process_group == b->key.process_group && (by_process || a->key.time == b->key.time);
}

static void make_units(struct dft_spread_scratch *scratch, const struct dft_item *item, int side, int by_process,
                       int percentiles)
{
    struct units *units = &scratch->units[side];
    const struct dft_cell *cells = item->cells[side];
    uint32_t count = item->ncells[side];

    units->count = 0;
    units->has_percentiles = percentiles;
    for (uint32_t i = 0, end; i < count; i = end) {
        struct sum sum;

        for (end = i + 1; end < count && same_unit(cells[i].group, cells[end].group, by_process); end++)
            ;
        sum = sum_of(scratch, cells + i, end - i, percentiles);
        if (!sum.count)
            continue;
        units->values[COST][units->count] = sum.time_ns / sum.count;
        for (unsigned p = 0; p < 3; p++)
            units->values[FIRST_PERCENTILE + p][units->count] = sum.percentiles[p];
        units->count++;
    }
}

/* --- the test --------------------------------------------------------------------------------- */

static int direction(const struct dft_change *change)
{
    return change->value[1] > change->value[0] ? 1 : change->value[1] < change->value[0] ? -1 : 0;
}

/* What a test says about a change: its direction must be that of the change. */
static uint8_t judge(const struct dft_change *change, int tested)
{
    if (change->known[0] && change->known[1] && !direction(change))
        return DFT_SPREAD_SAME;
    if (tested == 2 || !change->known[0] || !change->known[1])
        return DFT_SPREAD_UNKNOWN;
    return tested && tested == direction(change) ? DFT_SPREAD_BEYOND : DFT_SPREAD_WITHIN;
}

/* --- what the number of calls explains -------------------------------------------------------- */

static int add_kinds(struct dft_spread_scratch *scratch, const struct dft_item *item, int side)
{
    for (uint32_t i = 0; i < item->ncells[side]; i++) {
        const struct dft_group *group = item->cells[side][i].group;
        struct dft_group_key key = {.cat = group->key.cat, .name = group->key.name, .class = group->key.class};
        uint32_t number, before = scratch->map.count;

        if (dft_group_map_get(&scratch->map, &key, &number))
            return -ENOMEM;
        if (DFT_ARRAY_RESERVE(scratch->kinds, scratch->nkinds_max, number + (size_t)1))
            return -ENOMEM;
        if (number == before)
            scratch->kinds[number] = (struct kind){0};
        scratch->kinds[number].count[side] += group->metrics.count;
        scratch->kinds[number].time_ns[side] += group->metrics.dur_sum;
    }
    return 0;
}

/* What the change of time would be if every call of a kind cost in B what it did in A; calls that A
 * does not make cost what they do. */
static int explain(struct dft_spread_scratch *scratch, struct dft_item *item)
{
    __int128 all = 0;
    int rc = add_kinds(scratch, item, 0);

    if (!rc)
        rc = add_kinds(scratch, item, 1);
    for (uint32_t i = 0; i < scratch->map.count && !rc; i++) {
        const struct kind *kind = &scratch->kinds[i];

        if (kind->count[0])
            all += ((__int128)kind->count[1] - kind->count[0]) * kind->time_ns[0] / kind->count[0];
        else
            all += (__int128)kind->time_ns[1] - kind->time_ns[0];
    }
    item->explained_ns = all > INT64_MAX ? INT64_MAX : all < -INT64_MAX ? -INT64_MAX : (int64_t)all;
    dft_group_map_fini(&scratch->map);
    return rc;
}

int dft_compare_calls_explain(const struct dft_item *item)
{
    const struct dft_change *time = &item->changes[DFT_MEASURE_TIME];
    __int128 change = (__int128)time->value[1] - time->value[0], part = item->explained_ns;

    return change < 0 ? 2 * part <= change : change > 0 && 2 * part >= change;
}

int dft_change_is_below_floor(const struct dft_change *change)
{
    uint64_t a = change->value[0], b = change->value[1];

    return change->known[0] && change->known[1] && a != b &&
           (__int128)(a > b ? a - b : b - a) * DFT_FLOOR_PART < (__int128)a;
}

/* What a process alone says that the test of all units does not see; and the floor. */
static void amend(const struct dft_item *item, struct dft_change *change)
{
    uint64_t slow = change->value[item->alone.side], other = change->value[!item->alone.side];
    int is_far = change == &item->changes[DFT_MEASURE_TIME] || slow > DFT_ALONE_TIMES * other;

    if (item->alone.count && slow > other && is_far && change->known[0] && change->known[1]) {
        if (item->alone.sure)
            change->spread = DFT_SPREAD_BEYOND;
        else if (change->spread == DFT_SPREAD_WITHIN)
            change->spread = DFT_SPREAD_UNKNOWN;
    }
    if (dft_change_is_below_floor(change))
        change->spread = DFT_SPREAD_WITHIN;
}

static void judge_all(struct dft_item *item, struct dft_spread_scratch *scratch, int lossy)
{
    struct units *a = &scratch->units[0], *b = &scratch->units[1];
    struct dft_change *changes = item->changes, *time = &changes[DFT_MEASURE_TIME];
    int tested = dft_rank_test(a->values[COST], a->count, b->values[COST], b->count);

    for (int m = DFT_MEASURE_COUNT; m <= DFT_MEASURE_BYTES; m++)
        changes[m].spread = !direction(&changes[m]) ? DFT_SPREAD_SAME : lossy ? DFT_SPREAD_UNKNOWN : DFT_SPREAD_BEYOND;
    time->spread = judge(time, tested);
    dft_compare_alone(item);
    amend(item, time);
    item->by_cost = time->spread == DFT_SPREAD_BEYOND;
    if (!lossy && dft_compare_calls_explain(item) && !dft_change_is_below_floor(time))
        time->spread = DFT_SPREAD_BEYOND;
    for (int p = 0; p < 3; p++) {
        int kind = FIRST_PERCENTILE + p;

        tested = a->has_percentiles && b->has_percentiles
                     ? dft_rank_test(a->values[kind], a->count, b->values[kind], b->count)
                     : 2;
        changes[DFT_MEASURE_P50 + p].spread = judge(&changes[DFT_MEASURE_P50 + p], tested);
        amend(item, &changes[DFT_MEASURE_P50 + p]);
    }
}

static int begin(struct dft_spread_scratch **scratch)
{
    if (!*scratch)
        *scratch = calloc(1, sizeof **scratch);
    return *scratch ? 0 : -ENOMEM;
}

int dft_compare_measure(const struct dft_cell *cells, uint32_t count, struct dft_measured_item *measured,
                        struct dft_spread_scratch **scratch)
{
    int percentiles = has_percentiles(cells, count);
    struct sum sum;

    if (begin(scratch))
        return -ENOMEM;
    sum = sum_of(*scratch, cells, count, percentiles);
    *measured = (struct dft_measured_item){
        {sum.count, sum.bytes, sum.time_ns, sum.percentiles[0], sum.percentiles[1], sum.percentiles[2]},
        {1, 1, 1, percentiles != 0, percentiles != 0, percentiles != 0}};
    return 0;
}

int dft_compare_item(const struct dft_comparison *comparison, struct dft_item *item,
                     const struct dft_measured_item *measured, struct dft_spread_scratch **in_scratch)
{
    const struct dft_compared_run *runs = comparison->runs;
    struct dft_spread_scratch *scratch;
    int by_process = processes_of(item->cells[0], item->ncells[0]) >= DFT_UNITS_MIN &&
                     processes_of(item->cells[1], item->ncells[1]) >= DFT_UNITS_MIN;

    if (begin(in_scratch))
        return -ENOMEM;
    scratch = *in_scratch;
    if (reserve(scratch, 1 + (item->ncells[0] > item->ncells[1] ? item->ncells[0] : item->ncells[1])))
        return -ENOMEM;
    for (int side = 0; side < 2; side++) {
        const struct dft_measured_item *own = &measured[side];

        for (int m = 0; m < DFT_MEASURES; m++) {
            struct dft_change *change = &item->changes[m];

            change->value[side] = change->low[side] = change->high[side] = own->value[m];
            change->known[side] = own->known[m];
            change->unsaid |= own->value[DFT_MEASURE_COUNT] && !own->known[m];
        }
        make_units(scratch, item, side, by_process, has_percentiles(item->cells[side], item->ncells[side]));
    }
    if (explain(scratch, item))
        return -ENOMEM;
    judge_all(item, scratch, runs[0].lossy || runs[1].lossy);
    if (dft_compared_is_repeated(comparison))
        dft_compare_repeated(comparison, item, measured);
    return 0;
}
