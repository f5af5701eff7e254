/* SPDX-License-Identifier: MIT */
/* The tables of a comparison: the groups of both runs' answers under the keys of each table, and
 * what fails. */
#include "compare/compare_items.h"
#include "compare/compare_folded.h"
#include "compare/compare_repeated.h"
#include "compare/compare_spread.h"
#include "compare/comparison.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object/source_notes.h"

static int is_io(const struct dft_group *group)
{
    return dft_is_io(group->key.class);
}

/* The pattern of a file as A has it. */
static uint64_t pattern_of(const struct dft_compared_run *run, uint64_t file)
{
    const struct dft_group_key key = {.file = file};
    int64_t moved = dft_group_map_find(&run->moved, &key);

    return moved < 0 ? file : run->of_moved[moved].file;
}

static uint32_t rank_group_of(const struct dft_comparison *comparison, const struct dft_compared_run *run,
                              const struct dft_group *group)
{
    struct dft_key_value value;

    dft_group_value(&run->ranks, group, DFT_BY_RANK, &value);
    return value.type == DFT_KEY_UINT && value.number < comparison->nranks ? comparison->group_of_rank[value.number]
                                                                           : 0;
}

/* Where a group of a run belongs in a table. Returns 0: nowhere. */
static int key_of(const struct dft_comparison *comparison, enum dft_compared table, uint32_t run,
                  const struct dft_group *group, struct dft_group_key *key)
{
    *key = (struct dft_group_key){0};
    switch (table) {
    case DFT_COMPARED_TOTAL:
        return is_io(group);
    case DFT_COMPARED_CALLS:
    case DFT_COMPARED_REGIONS:
        key->cat = group->key.cat;
        key->name = group->key.name;
        return key->name && is_io(group) == (table == DFT_COMPARED_CALLS);
    case DFT_COMPARED_FILE_CALLS:
        key->cat = group->key.cat;
        key->name = group->key.name;
        key->file = pattern_of(&comparison->runs[run], group->key.file);
        return is_io(group) && key->name;
    case DFT_COMPARED_FILES:
        key->file = pattern_of(&comparison->runs[run], group->key.file);
        return is_io(group);
    default:
        key->process_group = rank_group_of(comparison, &comparison->runs[run], group);
        return is_io(group) && key->process_group;
    }
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* By item, process, time; and what else tells groups apart, so that the order is always the
 * same. */
static int by_item(const void *left, const void *right)
{
    const struct dft_cell *a = left, *b = right;
    int order = compare(a->item, b->item);

    order = order ? order : compare(a->group->key.process_group, b->group->key.process_group);
    order = order ? order : compare(a->group->key.time, b->group->key.time);
    order = order ? order : compare(a->group->key.cat, b->group->key.cat);
    order = order ? order : compare(a->group->key.name, b->group->key.name);
    order = order ? order : compare(a->group->key.file, b->group->key.file);
    return order ? order : compare(a->group->key.class, b->group->key.class);
}

static int collect(struct dft_comparison *comparison, enum dft_compared table, uint32_t run)
{
    const struct dft_answer *answer = dft_compare_answer(&comparison->runs[run], table);
    struct dft_compared_items *items = &comparison->tables[table];
    struct dft_cell *cells = items->cells[run] = malloc((answer->count + 1u) * sizeof *cells);
    uint32_t n = 0;

    if (!cells)
        return -ENOMEM;
    for (uint32_t i = 0; i < answer->count; i++) {
        struct dft_group_key key;

        if (!key_of(comparison, table, run, &answer->groups[i], &key))
            continue;
        cells[n].group = &answer->groups[i];
        if (dft_group_map_get(&items->map, &key, &cells[n++].item))
            return -ENOMEM;
    }
    qsort(cells, n, sizeof *cells, by_item);
    items->ncells[run] = n;
    return 0;
}

/* The numbers of all items in a run. What it has not is 0 of it. */
static int measure_run(const struct dft_comparison *comparison, struct dft_compared_items *items, uint32_t run,
                       struct dft_spread_scratch **scratch)
{
    const struct dft_cell *cells = items->cells[run];
    int rc = 0;

    for (uint32_t i = 0; i < items->count; i++)
        for (int m = 0; m < DFT_MEASURE_P50; m++)
            items->measured[(size_t)i * comparison->nruns + run].known[m] = 1;
    for (uint32_t from = 0, to; !rc && from < items->ncells[run]; from = to) {
        for (to = from + 1; to < items->ncells[run] && cells[to].item == cells[from].item; to++)
            ;
        rc = dft_compare_measure(cells + from, to - from,
                                 &items->measured[(size_t)cells[from].item * comparison->nruns + run], scratch);
    }
    return rc;
}

static int measure(struct dft_comparison *comparison, struct dft_compared_items *items)
{
    struct dft_spread_scratch *scratch = NULL;
    int rc = 0;

    items->count = items->map.count;
    items->items = calloc(items->count + 1u, sizeof *items->items);
    items->order = calloc(items->count + 1u, sizeof *items->order);
    items->measured = calloc((size_t)items->count * comparison->nruns + 1u, sizeof *items->measured);
    if (!items->items || !items->order || !items->measured)
        return -ENOMEM;
    for (uint32_t run = 0; !rc && run < comparison->nruns; run++)
        rc = measure_run(comparison, items, run, &scratch);
    for (int side = 0; side < 2; side++)
        for (uint32_t i = items->ncells[side]; i--;) {
            struct dft_item *item = &items->items[items->cells[side][i].item];

            item->cells[side] = &items->cells[side][i];
            item->ncells[side]++;
        }
    for (uint32_t i = 0; !rc && i < items->count; i++) {
        items->items[i].key = items->map.keys[i];
        rc = dft_compare_item(comparison, &items->items[i], &items->measured[(size_t)i * comparison->nruns], &scratch);
    }
    dft_spread_free(scratch);
    return rc;
}

/* --- order ------------------------------------------------------------------------------------ */

static uint64_t distance(const struct dft_change *change)
{
    uint64_t a = change->value[0], b = change->value[1];

    return a > b ? a - b : b - a;
}

static int compare_texts(const struct dft_comparison *comparison, uint64_t a, uint64_t b)
{
    char x_capacity[18], y_capacity[18];
    struct dft_text x = dft_compare_text(comparison, a, x_capacity), y = dft_compare_text(comparison, b, y_capacity);
    int order = memcmp(x.bytes, y.bytes, x.length < y.length ? x.length : y.length);

    return order ? order : compare(x.length, y.length);
}

struct ordering {
    const struct dft_comparison *comparison;
    const struct dft_compared_items *items;
};

/* Largest change of the requested metric first, then of time, of calls, of bytes; ties by the keys. */
static int by_change(const void *left, const void *right, void *context)
{
    const struct ordering *ordering = context;
    const enum dft_measure measures[] = {ordering->comparison->sort, DFT_MEASURE_TIME, DFT_MEASURE_COUNT,
                                         DFT_MEASURE_BYTES};
    const struct dft_item *a = &ordering->items->items[*(const uint32_t *)left];
    const struct dft_item *b = &ordering->items->items[*(const uint32_t *)right];
    int order = 0;

    for (unsigned m = 0; !order && m < 4; m++)
        order = compare(distance(&b->changes[measures[m]]), distance(&a->changes[measures[m]]));
    if (!order)
        order = compare_texts(ordering->comparison, a->key.cat, b->key.cat);
    if (!order)
        order = compare_texts(ordering->comparison, a->key.name, b->key.name);
    if (!order)
        order = compare_texts(ordering->comparison, a->key.file, b->key.file);
    return order ? order : compare(a->key.process_group, b->key.process_group);
}

static void sort(const struct dft_comparison *comparison, struct dft_compared_items *items)
{
    struct ordering ordering = {comparison, items};

    for (uint32_t i = 0; i < items->count; i++)
        items->order[i] = i;
    qsort_r(items->order, items->count, sizeof *items->order, by_change, &ordering);
}

static int all_have_ranks(const struct dft_comparison *comparison)
{
    int all = 1;

    for (uint32_t run = 0; run < comparison->nruns; run++)
        all &= comparison->runs[run].has_ranks;
    return all;
}

int dft_compare_items(struct dft_comparison *comparison)
{
    int rc = 0;

    for (int t = 0; !rc && t < DFT_COMPARED_COUNT; t++) {
        struct dft_compared_items *items = &comparison->tables[t];

        if (t == DFT_COMPARED_RANKS && !all_have_ranks(comparison))
            continue;
        items->cells = calloc(comparison->nruns, sizeof *items->cells);
        items->ncells = calloc(comparison->nruns, sizeof *items->ncells);
        rc = items->cells && items->ncells ? 0 : -ENOMEM;
        for (uint32_t run = 0; !rc && run < comparison->nruns; run++)
            rc = collect(comparison, (enum dft_compared)t, run);
        if (!rc)
            rc = measure(comparison, items);
        if (!rc)
            sort(comparison, items);
    }
    if (!rc && dft_compared_is_repeated(comparison))
        rc = dft_compare_test(comparison);
    return rc ? rc : dft_compare_folded(comparison, &comparison->tables[DFT_COMPARED_FILES]);
}

/* --- what got worse --------------------------------------------------------------------------- */

/* Is it large enough to matter: a hundredth of all I/O of the larger run? Of percentiles: of its
 * time. */
static int matters(const struct dft_comparison *comparison, const struct dft_item *item)
{
    const struct dft_compared_items *totals = &comparison->tables[DFT_COMPARED_TOTAL];
    enum dft_measure metric = comparison->metric >= DFT_MEASURE_P50 ? DFT_MEASURE_TIME : comparison->metric;
    const struct dft_change *change = &item->changes[metric], *total;
    unsigned __int128 part = comparison->metric >= DFT_MEASURE_P50 ? change->value[1] : distance(change);

    if (!totals->count)
        return 0;
    total = &totals->items[0].changes[metric];
    return part * 100 >= (total->value[0] > total->value[1] ? total->value[0] : total->value[1]);
}

/* By how much it grew for sure: of time whose cost did not, only as much as the number of calls
 * explains. */
static double growth(const struct dft_comparison *comparison, const struct dft_item *item)
{
    const struct dft_change *change = &item->changes[comparison->metric];

    if (change->spread != DFT_SPREAD_BEYOND || change->value[1] <= change->value[0])
        return 0;
    if (comparison->metric == DFT_MEASURE_TIME && !item->by_cost && item->explained_ns < (int64_t)distance(change))
        return (double)item->explained_ns;
    return (double)distance(change);
}

static int is_worse(const struct dft_comparison *comparison, const struct dft_item *item)
{
    double a = (double)item->changes[comparison->metric].value[0], grown = growth(comparison, item);

    return grown > 0 && grown > a * comparison->fail_over / 100 && matters(comparison, item);
}

/* ... and nobody knows whether by chance. */
static int is_unsure(const struct dft_comparison *comparison, const struct dft_item *item)
{
    const struct dft_change *change = &item->changes[comparison->metric];

    return change->spread == DFT_SPREAD_UNKNOWN && !change->unsaid && change->known[0] && change->known[1] &&
           change->value[1] > change->value[0] &&
           100 * (double)distance(change) > comparison->fail_over * (double)change->value[0] &&
           matters(comparison, item);
}

/* Is it unknown whether all I/O grew by more than the limit? */
static int is_untold(const struct dft_comparison *comparison)
{
    const struct dft_compared_items *totals = &comparison->tables[DFT_COMPARED_TOTAL];
    const struct dft_change *change = totals->count ? &totals->items[0].changes[comparison->metric] : NULL;

    if (!change || change->spread != DFT_SPREAD_UNKNOWN || !totals->items[0].changes[DFT_MEASURE_COUNT].value[1])
        return 0;
    if (!change->known[0] || !change->known[1])
        return 1;
    return change->value[1] > change->value[0] &&
           100 * (double)distance(change) > comparison->fail_over * (double)change->value[0];
}

/* The lines of a table that fail, and the first one of which nobody knows. */
static void fail(struct dft_comparison *comparison, enum dft_compared table)
{
    const struct dft_compared_items *items = &comparison->tables[table];

    for (uint32_t i = 0; i < items->count; i++) {
        const struct dft_failure failure = {(uint8_t)table, items->order[i]};

        if (is_worse(comparison, &items->items[failure.item])) {
            comparison->failures[comparison->nfailures++] = failure;
        } else if (!comparison->has_unsure && is_unsure(comparison, &items->items[failure.item])) {
            comparison->has_unsure = 1;
            comparison->unsure = failure;
        }
    }
}

int dft_compare_fail(struct dft_comparison *comparison)
{
    uint32_t all = 0;

    for (int t = 0; t < DFT_COMPARED_COUNT; t++)
        all += comparison->tables[t].count;
    comparison->failures = calloc(all + 1u, sizeof *comparison->failures);
    if (!comparison->failures)
        return -ENOMEM;
    comparison->untold = comparison->fail_over >= 0 && is_untold(comparison);
    if (comparison->untold)
        dft_source_note(comparison->runs[0].source, DFT_BAD_OTHER,
                        "whether all I/O of B is worse by more than %g %%, and not by chance, is not known",
                        comparison->fail_over);
    if (comparison->fail_over >= 0 && dft_compare_is_empty(comparison))
        dft_source_note(comparison->runs[0].source, DFT_BAD_OTHER,
                        "neither A nor B has an event that is asked for: nothing is compared");
    for (int t = 0; comparison->fail_over >= 0 && t < DFT_COMPARED_COUNT; t++)
        if (t != DFT_COMPARED_FILE_CALLS) /* shown nowhere by themselves */
            fail(comparison, (enum dft_compared)t);
    return 0;
}
