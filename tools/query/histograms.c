/* SPDX-License-Identifier: MIT */
/* Histograms: one query by the keys of --by and by size class, whose bins and sums are put
 * together for each group. */
#include "query/histograms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/histogram.h"
#include "query/answer_pages.h"
#include "query/answer_sort.h"
#include "query/query.h"

#define SIZE_BITS (UINT32_C(15) << 16) /* of facets: as dft_facets_of has them */

static int has_key(const struct dft_query *query, enum dft_by by)
{
    return memchr(query->by, by, query->nby) != NULL;
}

/* The key of the group that a part belongs to. */
static struct dft_group_key group_key(const struct dft_group *part, const struct dft_query *groups)
{
    struct dft_group_key key = part->key;

    if (!has_key(groups, DFT_BY_SIZE))
        key.facets &= ~SIZE_BITS;
    return key;
}

static int compare_parts(const void *left, const void *right, void *query)
{
    struct dft_group_key a = group_key(left, query), b = group_key(right, query);

    return memcmp(&a, &b, sizeof a);
}

static int compare_bins(const void *left, const void *right)
{
    const struct dft_bin *a = left, *b = right;

    return (a->bin > b->bin) - (a->bin < b->bin);
}

/* Sorts bins, and puts those of the same number together. Returns how many there are then. */
static uint32_t join_bins(struct dft_bin *bins, uint32_t count)
{
    uint32_t used = 0;

    if (count)
        qsort(bins, count, sizeof *bins, compare_bins);
    for (uint32_t i = 0; i < count; i++) {
        if (used && bins[used - 1].bin == bins[i].bin)
            bins[used - 1].count += bins[i].count;
        else
            bins[used++] = bins[i];
    }
    return used;
}

static uint64_t durations_in(const struct dft_group *group)
{
    uint64_t durations = 0;

    for (uint32_t i = 0; i < group->nbins; i++)
        durations += group->bins[i].count;
    return durations;
}

static void set_percentiles(struct dft_group *group)
{
    const struct dft_metrics *m = &group->metrics;
    int known = group->nbins && durations_in(group) == m->samples;

    group->p50 = known ? dft_percentile(group->bins, group->nbins, 50, m->dur_min, m->dur_max) : DFT_PERCENTILE_UNKNOWN;
    group->p95 = known ? dft_percentile(group->bins, group->nbins, 95, m->dur_min, m->dur_max) : DFT_PERCENTILE_UNKNOWN;
    group->p99 = known ? dft_percentile(group->bins, group->nbins, 99, m->dur_min, m->dur_max) : DFT_PERCENTILE_UNKNOWN;
}

/* Makes one group of parts [from, to); its bins begin at `bins`. */
static struct dft_group join_parts(const struct dft_histograms *histograms, uint32_t from, uint32_t to,
                                   struct dft_bin *bins)
{
    const struct dft_group *parts = histograms->parts.groups;
    struct dft_group group = parts[from];

    group.key = group_key(&parts[from], &histograms->groups.query);
    group.bins = bins;
    group.nbins = 0;
    for (uint32_t i = from; i < to; i++) {
        if (i > from)
            dft_metrics_merge(&group.metrics, &parts[i].metrics);
        if (parts[i].nbins)
            memcpy(bins + group.nbins, parts[i].bins, parts[i].nbins * sizeof *bins);
        group.nbins += parts[i].nbins;
    }
    group.nbins = join_bins(bins, group.nbins);
    set_percentiles(&group);
    return group;
}

static int join_all(struct dft_histograms *histograms)
{
    struct dft_answer *parts = &histograms->parts, *groups = &histograms->groups;
    struct dft_bin *bins = calloc(parts->nbins + 1, sizeof *bins);
    struct dft_group *list = calloc(parts->count + 1u, sizeof *list);

    histograms->bins = bins;
    groups->groups = list;
    groups->count = 0;
    if (!bins || !list)
        return -ENOMEM;
    if (parts->count)
        qsort_r(parts->groups, parts->count, sizeof *parts->groups, compare_parts, &groups->query);
    for (uint32_t from = 0, to; from < parts->count; from = to) {
        for (to = from; to < parts->count && !compare_parts(&parts->groups[from], &parts->groups[to], &groups->query);)
            to++;
        list[groups->count] = join_parts(histograms, from, to, bins);
        bins += list[groups->count++].nbins;
    }
    groups->found = groups->count;
    return 0;
}

int dft_histograms_ask(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                       int is_one, const struct dft_order *order, struct dft_histograms *histograms)
{
    int chosen = dft_filter_has_names(filter) || dft_filter_has(filter, DFT_FILTER_OP) ||
                 dft_filter_has(filter, DFT_FILTER_CLASS);
    struct dft_query parts = *query;
    int rc;

    *histograms = (struct dft_histograms){0};
    if (is_one) {
        parts.nby = 0;
        parts.classes = chosen ? 0 : DFT_CLASSES_IO;
    }
    if (!has_key(&parts, DFT_BY_SIZE))
        parts.by[parts.nby++] = DFT_BY_SIZE;
    parts.percentiles = parts.bins = parts.bounded = 1;
    rc = dft_query_run(source, filter, &parts, &histograms->parts);
    if (rc)
        return rc;
    histograms->groups = histograms->parts;
    histograms->groups.query.nby = is_one ? 0 : query->nby;
    rc = join_all(histograms);
    return rc ? rc : dft_answer_sort(&histograms->groups, order->column, order->top);
}

void dft_histograms_fini(struct dft_histograms *histograms)
{
    free(histograms->groups.groups);
    free(histograms->bins);
    dft_answer_fini(&histograms->parts);
}

static unsigned octave_of(uint64_t ns)
{
    return ns < 2 ? 0 : 63u - (unsigned)__builtin_clzll(ns);
}

void dft_histogram_of(const struct dft_histograms *histograms, const struct dft_group *group,
                      struct dft_histogram *histogram)
{
    const struct dft_answer *parts = &histograms->parts;
    struct dft_query query = histograms->groups.query;

    *histogram = (struct dft_histogram){0};
    for (uint32_t i = 0; i < group->nbins; i++) {
        histogram->octaves[octave_of(dft_bin_low(group->bins[i].bin))] += group->bins[i].count;
        histogram->counted += group->bins[i].count;
    }
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct dft_group *part = &parts->groups[i];
        struct dft_totals *size = &histogram->sizes[(part->key.facets & SIZE_BITS) >> 16];

        if (compare_parts(part, group, &query))
            continue;
        size->count += part->metrics.count;
        size->time_ns += part->metrics.dur_sum;
        size->bytes += part->metrics.bytes;
    }
}
