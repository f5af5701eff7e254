/* SPDX-License-Identifier: MIT */
/* Owns what several repetitions say about all lines: medians, ranges, and whether sides differ by
 * more than repetitions do. */

#include "compare/compare_repeated.h"

#include <stdlib.h>

#include "compare/compare_spread.h"
#include "compare/compare_verdict.h"
#include "compare/family.h"

#define PART       100 /* a line is tested that has one in so many of all I/O */
#define EXACT_RUNS 3u  /* of each side: two alike may be so by chance, where others vary */

/* One measure of all lines. */
struct testing {
    const struct dft_comparison *comparison;
    enum dft_measure measure;
    struct dft_family family;
    struct dft_run_number *runs; /* of the line at hand */
    int lossy;                   /* ... and so what is counted is not known */
    int is_steady;               /* all I/O is the same in all runs of each side */
};

void dft_compare_repeated(const struct dft_comparison *comparison, struct dft_item *item,
                          const struct dft_measured_item *measured)
{
    for (int m = 0; m < DFT_MEASURES; m++)
        for (int side = 0; side < 2; side++) {
            struct dft_change *change = &item->changes[m];
            uint64_t values[DFT_REPETITIONS_MAX];
            struct dft_repeated of;
            uint32_t n = 0;

            for (uint32_t run = 0; run < comparison->nruns; run++)
                if (comparison->runs[run].side == side && measured[run].known[m])
                    values[n++] = measured[run].value[m];
            of = dft_repeated_of(values, n);
            change->value[side] = of.median;
            change->low[side] = of.low;
            change->high[side] = of.high;
            change->known[side] = of.n != 0;
        }
}

struct dft_repeated dft_compare_wall(const struct dft_comparison *comparison, int side)
{
    uint64_t walls[DFT_REPETITIONS_MAX];
    uint32_t n = 0;

    for (uint32_t run = 0; run < comparison->nruns; run++)
        if (comparison->runs[run].side == side)
            walls[n++] = comparison->runs[run].job.wall_ns;
    return dft_repeated_of(walls, n);
}

/* --- what is tested --------------------------------------------------------------------------- */

static const struct dft_measured_item *measured_of(const struct testing *testing, enum dft_compared table,
                                                   uint32_t item)
{
    const struct dft_comparison *comparison = testing->comparison;

    return &comparison->tables[table].measured[(size_t)item * comparison->nruns];
}

static void take(struct testing *testing, const struct dft_measured_item *measured)
{
    for (uint32_t run = 0; run < testing->comparison->nruns; run++)
        testing->runs[run] =
            (struct dft_run_number){measured[run].value[testing->measure], testing->comparison->runs[run].side,
                                    measured[run].known[testing->measure]};
}

/* What decides whether a line is tested must not know which runs are A's, or the chance would be another: what the line
 * has at most, and all I/O usually. For percentiles it is the time. */
static enum dft_measure part_of(const struct testing *testing)
{
    return testing->measure >= DFT_MEASURE_P50 ? DFT_MEASURE_TIME : testing->measure;
}

static uint64_t usual_total(const struct testing *testing)
{
    uint64_t all[2 * DFT_REPETITIONS_MAX];

    if (!testing->comparison->tables[DFT_COMPARED_TOTAL].count)
        return 0;
    for (uint32_t run = 0; run < testing->comparison->nruns; run++)
        all[run] = measured_of(testing, DFT_COMPARED_TOTAL, 0)[run].value[part_of(testing)];
    return dft_repeated_of(all, testing->comparison->nruns).median;
}

static uint64_t most_of(const struct testing *testing, const struct dft_measured_item *measured)
{
    uint64_t most = 0;

    for (uint32_t run = 0; run < testing->comparison->nruns; run++)
        if (measured[run].value[part_of(testing)] > most)
            most = measured[run].value[part_of(testing)];
    return most;
}

/* Calls on files are named by the headline only; they are not tested by themselves. */
static int add_all(struct testing *testing)
{
    uint64_t total = usual_total(testing);
    int rc = 0;

    for (int t = DFT_COMPARED_TOTAL; t < DFT_COMPARED_COUNT; t++)
        for (uint32_t i = 0; !rc && t != DFT_COMPARED_FILE_CALLS && i < testing->comparison->tables[t].count; i++) {
            const struct dft_measured_item *measured = measured_of(testing, (enum dft_compared)t, i);

            take(testing, measured);
            if ((unsigned __int128)most_of(testing, measured) * PART >= total)
                rc = dft_family_add(&testing->family, testing->runs, testing->comparison->nruns,
                                    t == DFT_COMPARED_TOTAL ? DFT_FAMILY_WHOLE : DFT_FAMILY_LINE);
        }
    return rc;
}

/* --- verdicts --------------------------------------------------------------------------------- */

static int is_constant(const struct dft_change *change, int side)
{
    return change->low[side] == change->high[side];
}

/* Sides that do not meet, of a line that is not tested: nobody knows. */
static enum dft_spread untested(const struct dft_change *change)
{
    return change->low[0] <= change->high[1] && change->low[1] <= change->high[0] ? DFT_SPREAD_WITHIN
                                                                                  : DFT_SPREAD_UNKNOWN;
}

static enum dft_spread tested(const struct dft_family_member *member, const struct dft_change *change)
{
    int higher = (change->value[1] > change->value[0]) - (change->value[1] < change->value[0]);

    return member->chance <= DFT_REPEATED_LEVEL && higher && member->higher == higher ? DFT_SPREAD_BEYOND
                                                                                      : DFT_SPREAD_WITHIN;
}

/* Is what the runs have no matter of chance? Whether a run does something at all has two answers, which three runs
 * easily have alike. */
static int is_certain(const struct testing *testing, const struct dft_repeated_sides *sides,
                      const struct dft_change *change)
{
    int counted = testing->measure <= DFT_MEASURE_BYTES;
    uint32_t least = change->value[0] && change->value[1] ? EXACT_RUNS : DFT_FAMILY_RUNS_MIN;
    int enough = testing->is_steady || (sides->n[0] >= least && sides->n[1] >= least);

    return is_constant(change, 0) && is_constant(change, 1) &&
           (change->value[0] == change->value[1] || (counted && enough));
}

static void judge(const struct testing *testing, struct dft_change *change)
{
    const struct dft_family_member *member;
    struct dft_repeated_sides sides;
    int counted = testing->measure <= DFT_MEASURE_BYTES;

    change->spread = DFT_SPREAD_UNKNOWN;
    change->sure = DFT_REPEATED_LOW;
    dft_family_sides(testing->runs, testing->comparison->nruns, &sides);
    if (!sides.n[0] || !sides.n[1] || sides.n[0] + sides.n[1] < 3 || (counted && testing->lossy))
        return;
    if (is_certain(testing, &sides, change)) {
        change->spread = change->value[0] == change->value[1] ? DFT_SPREAD_SAME : DFT_SPREAD_BEYOND;
        change->sure = (uint8_t)dft_repeated_sure_beyond(&sides, 0);
        change->is_exact = change->spread == DFT_SPREAD_BEYOND;
        return;
    }
    member = dft_family_find(&testing->family, testing->runs, testing->comparison->nruns);
    change->spread = (uint8_t)(member ? tested(member, change) : untested(change));
    if (!member)
        return;
    if (!counted && change->spread == DFT_SPREAD_BEYOND && dft_change_is_below_floor(change))
        change->spread = DFT_SPREAD_WITHIN;
    change->is_tested = 1;
    change->chance = member->chance;
    change->interval = dft_repeated_interval(&sides);
    change->sure =
        (uint8_t)(change->spread == DFT_SPREAD_BEYOND ? dft_repeated_sure_beyond(&sides, change->chance)
                                                      : dft_repeated_sure_within(&change->interval, change->value[0]));
}

static int judge_measure(struct testing *testing)
{
    const struct dft_compared_items *totals = &testing->comparison->tables[DFT_COMPARED_TOTAL];
    const struct dft_change *total = totals->count ? &totals->items[0].changes[testing->measure] : NULL;
    int rc = add_all(testing);

    testing->is_steady = !total || (is_constant(total, 0) && is_constant(total, 1));
    dft_family_correct(&testing->family);
    for (int t = 0; !rc && t < DFT_COMPARED_COUNT; t++)
        for (uint32_t i = 0; i < testing->comparison->tables[t].count; i++) {
            take(testing, measured_of(testing, (enum dft_compared)t, i));
            judge(testing, &testing->comparison->tables[t].items[i].changes[testing->measure]);
        }
    dft_family_fini(&testing->family);
    return rc;
}

/* Another number of calls, the same in all runs of a side, is no chance; nor is the time that it makes. */
static void explain(struct dft_item *item)
{
    struct dft_change *time = &item->changes[DFT_MEASURE_TIME];

    item->by_cost = time->spread == DFT_SPREAD_BEYOND;
    if (!item->by_cost && item->changes[DFT_MEASURE_COUNT].is_exact && dft_compare_calls_explain(item) &&
        !dft_change_is_below_floor(time)) {
        time->spread = DFT_SPREAD_BEYOND;
        time->sure = item->changes[DFT_MEASURE_COUNT].sure;
    }
}

int dft_compare_test(const struct dft_comparison *comparison)
{
    struct dft_run_number runs[2 * DFT_REPETITIONS_MAX];
    int rc = 0, lossy = 0;

    for (uint32_t run = 0; run < comparison->nruns; run++)
        lossy |= comparison->runs[run].lossy;
    for (int m = 0; !rc && m < DFT_MEASURES; m++) {
        struct testing testing = {
            .comparison = comparison, .measure = (enum dft_measure)m, .runs = runs, .lossy = lossy};

        rc = judge_measure(&testing);
    }
    for (int t = 0; !rc && t < DFT_COMPARED_COUNT; t++)
        for (uint32_t i = 0; i < comparison->tables[t].count; i++)
            explain(&comparison->tables[t].items[i]);
    return rc;
}
