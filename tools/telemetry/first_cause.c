/* SPDX-License-Identifier: MIT */
/* The search for the first cause; see first_cause.h. */
#include "telemetry/first_cause.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int64_t threshold_of(const struct dft_metric_series *series, int64_t floor)
{
    int64_t largest = 0;

    for (uint32_t i = 0; i < series->count; i++)
        if (series->samples[i].value > largest)
            largest = series->samples[i].value;
    return largest / 10 > floor ? largest / 10 : floor;
}

/* Returns 1 with the spike, or 0 without one. */
static int find_spike(const struct dft_metric_series *series, int64_t floor, struct dft_suspect *spike)
{
    int64_t threshold = threshold_of(series, floor), sum = 0;
    uint32_t length = 0;

    for (uint32_t i = 1; i < series->count; i++) {
        int64_t rise = series->samples[i].value - series->samples[i - 1].value;

        if (rise <= 0) {
            sum = 0;
            length = 0;
            continue;
        }
        sum += rise;
        length++;
        if (sum < threshold)
            continue;
        *spike = (struct dft_suspect){.rank = series->rank,
                                      .time_ns = series->samples[i].time_ns,
                                      .aligned_ns = series->samples[i].time_ns - series->offset_ns,
                                      .delta = sum,
                                      .samples = length};
        return 1;
    }
    return 0;
}

static int by_time(const void *left, const void *right)
{
    const struct dft_suspect *a = left, *b = right;

    if (a->aligned_ns != b->aligned_ns)
        return a->aligned_ns < b->aligned_ns ? -1 : 1;
    if (a->delta != b->delta)
        return a->delta > b->delta ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static enum dft_confidence confidence_of(const struct dft_first_cause *found, const struct dft_suspect *suspect,
                                         int64_t interval_ns, int sparse)
{
    const struct dft_suspect *first = found->suspects;
    int alone = found->nsuspects < 2 || first[1].aligned_ns != first->aligned_ns;

    if (found->candidates < 2 || suspect->aligned_ns != first->aligned_ns)
        return DFT_CONFIDENCE_LOW;
    if (sparse)
        return DFT_CONFIDENCE_LOW;
    if (alone && (interval_ns <= 0 || suspect->lead_ns >= interval_ns))
        return DFT_CONFIDENCE_HIGH;
    return DFT_CONFIDENCE_MEDIUM;
}

/* The onset, and who is a suspect by it, of candidates in order of time. */
static void set_onset(struct dft_first_cause *found)
{
    int64_t last;

    found->has_onset = found->candidates > 1;
    last = found->suspects[found->has_onset].aligned_ns;
    found->onset_ns = found->has_onset ? last : 0;
    found->nsuspects = 0;
    while (found->nsuspects < found->candidates && found->suspects[found->nsuspects].aligned_ns <= last)
        found->nsuspects++;
    for (uint32_t i = 0; i < found->nsuspects; i++)
        found->suspects[i].lead_ns = found->has_onset ? last - found->suspects[i].aligned_ns : 0;
}

int dft_first_cause_find(const struct dft_metric_series *series, uint32_t count, int64_t floor, int64_t interval_ns,
                         int missing, struct dft_first_cause *found)
{
    memset(found, 0, sizeof *found);
    found->suspects = malloc((count + 1u) * sizeof *found->suspects);
    found->short_ranks = malloc((count + 1u) * sizeof *found->short_ranks);
    if (!found->suspects || !found->short_ranks) {
        dft_first_cause_fini(found);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (series[i].count < 2)
            found->short_ranks[found->nshort++] = series[i].rank;
        found->candidates += (uint32_t)find_spike(&series[i], floor, &found->suspects[found->candidates]);
    }
    if (!found->candidates || count < 2) {
        found->candidates = 0;
        return 0;
    }
    qsort(found->suspects, found->candidates, sizeof *found->suspects, by_time);
    set_onset(found);
    for (uint32_t i = 0; i < found->nsuspects; i++)
        found->suspects[i].confidence =
            confidence_of(found, &found->suspects[i], interval_ns, missing || found->nshort);
    return 0;
}

void dft_first_cause_lead(struct dft_first_cause *found, const struct dft_suspect *first)
{
    uint32_t later = 0;

    for (uint32_t i = 0; i < found->candidates; i++)
        if (found->suspects[i].rank != first->rank && found->suspects[i].aligned_ns >= first->aligned_ns)
            found->suspects[later++] = found->suspects[i];
    memmove(found->suspects + 1, found->suspects, later * sizeof *found->suspects);
    found->suspects[0] = *first;
    found->candidates = later + 1;
    set_onset(found);
}

void dft_first_cause_fini(struct dft_first_cause *found)
{
    free(found->suspects);
    free(found->short_ranks);
    memset(found, 0, sizeof *found);
}

const char *dft_confidence_name(enum dft_confidence confidence)
{
    static const char *const names[] = {"low", "medium", "high"};

    return names[confidence];
}
