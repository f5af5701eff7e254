/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: the search for the first cause over what traces measure.
 *
 * VALUES. Per rank and bucket in which it is active:
 *   latency   time in reads and writes beyond `beyond` times the usual for as many calls of their sizes
 *   metadata  the same of metadata calls
 *   bytes     bytes moved beyond twice those of the median rank in the same bucket
 * `beyond` is twice what the quieter quarter of the job's buckets takes against the usual, so
 * that ordinary scatter is none. The middle value of five buckets in a row stands: one or two
 * that stick out are a hiccup, no cause. Before its first bucket a rank has lost nothing. Ranks
 * that lose less than a tenth of what the worst does take no part. The floor is 2 % of a bucket's
 * length (1 MiB), and a fifth of what the worst rank loses in a bucket of its bad time. */
#include "ranks/ranks_first.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/ranks_confidence.h"
#include "ranks/ranks_equals.h"

#define RATIO_BINS   640u
#define FLOOR_BYTES  (INT64_C(1) << 20)
#define FLOOR_BUCKET 50 /* a bucket's length through this */
#define FLOOR_WORST  5
#define PART_WORST   10
#define WINDOW_MIN   5u
#define WINDOW_MAX   15u
#define CHANCE       0.01
#define OUTWEIGHED   4u /* times what the suspect lost */
#define NEAR         6u /* buckets; or ... */
#define NEAR_SHARE   5u /* ... a fifth of the bad time */
#define VALUE_MAX    (INT64_C(1) << 60)

struct measuring {
    struct dft_ranks_job *job;
    enum dft_ranks_measure measure;
    struct dft_measured *measured;
    uint64_t *medians;                /* of bytes, one a bucket */
    struct dft_metric_series *series; /* `rank` is the position in job->ranks */
    struct dft_sample *samples;       /* of all */
    uint64_t *lost;                   /* by series */
    uint32_t count;
};

const char *dft_ranks_measure_name(enum dft_ranks_measure measure)
{
    static const char *const names[] = {"latency", "metadata", "bytes"};

    return names[measure];
}

static int kind_of(enum dft_ranks_measure measure)
{
    return measure == DFT_RANKS_METADATA ? DFT_LOST_META : DFT_LOST_DATA;
}

/* The 25th percentile, over all buckets with calls, of what they took against the usual, weighted
 * by what is usual: a slow rank fills many buckets with few calls, when the others have long
 * ended. The quieter part of the job is the measure: when one rank has drawn all others with it,
 * most of the job is slow. */
static double quiet_ratio(const struct dft_ranks_job *job, int kind)
{
    double bins[RATIO_BINS] = {0}, all = 0, sum;
    uint32_t b = 0;

    for (size_t i = 0; i < (size_t)job->nranks * job->nbuckets; i++) {
        const struct dft_rank_cell *cell = &job->cells[i];
        double at;

        if (!cell->usual_ns[kind] || cell->part_ns[kind] <= 0)
            continue;
        at = RATIO_BINS / 2 + 16 * log2((double)cell->part_ns[kind] / (double)cell->usual_ns[kind]);
        bins[at < 0 ? 0 : at >= RATIO_BINS ? RATIO_BINS - 1 : (uint32_t)at] += (double)cell->usual_ns[kind];
        all += (double)cell->usual_ns[kind];
    }
    for (sum = bins[0]; b + 1 < RATIO_BINS && 4 * sum < all;)
        sum += bins[++b];
    return all > 0 ? exp2(((double)b + 0.5 - RATIO_BINS / 2) / 16) : 1;
}

/* --- samples ---------------------------------------------------------------------------------- */

static int64_t capped(double value)
{
    return value <= 0 ? 0 : value >= (double)VALUE_MAX ? VALUE_MAX : (int64_t)value;
}

static int is_active(const struct measuring *measuring, const struct dft_rank_cell *cell)
{
    int kind = kind_of(measuring->measure);

    if (measuring->measure == DFT_RANKS_BYTES)
        return cell->bytes != 0;
    return cell->part_ns[kind] || cell->usual_ns[kind];
}

static int64_t value_of(const struct measuring *measuring, const struct dft_rank_cell *cell, uint32_t bucket)
{
    int kind = kind_of(measuring->measure);

    if (measuring->measure == DFT_RANKS_BYTES)
        return capped((double)cell->bytes - measuring->measured->beyond * (double)measuring->medians[bucket]);
    return capped((double)cell->part_ns[kind] - measuring->measured->beyond * (double)cell->usual_ns[kind]);
}

/* The middle value of each and its neighbours; beyond the ends nothing was lost. */
static void smooth(struct dft_sample *samples, uint32_t count, uint32_t window)
{
    int64_t ring[WINDOW_MAX] = {0}; /* the values before smoothing, of the last ones and those to come */

    for (uint32_t i = 0; i < window / 2 && i < count; i++)
        ring[(window / 2 + 1 + i) % window] = samples[i].value;
    for (uint32_t i = 0; i < count; i++) {
        int64_t sorted[WINDOW_MAX];
        uint32_t ahead = i + window / 2;

        ring[(ahead + window / 2 + 1) % window] = ahead < count ? samples[ahead].value : 0;
        for (uint32_t k = 0; k < window; k++) {
            uint32_t at = k;

            for (; at && sorted[at - 1] > ring[k]; at--)
                sorted[at] = sorted[at - 1];
            sorted[at] = ring[k];
        }
        samples[i].value = sorted[window / 2];
    }
}

/* Returns how many samples there are of a rank, one of them before its first bucket; 0: it is never
 * active. */
static uint32_t sample(const struct measuring *measuring, uint32_t rank, struct dft_sample *samples)
{
    const struct dft_ranks_job *job = measuring->job;
    const struct dft_rank_cell *cells = dft_rank_cells(job, rank);
    uint32_t n = 1;

    for (uint32_t b = 0; b < job->nbuckets; b++)
        if (is_active(measuring, &cells[b]))
            samples[n++] =
                (struct dft_sample){(int64_t)(job->origin_ns + b * job->bucket_ns), value_of(measuring, &cells[b], b)};
    if (n == 1)
        return 0;
    samples[0] = (struct dft_sample){samples[1].time_ns - (int64_t)job->bucket_ns, 0};
    return n;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

static int medians_of_bytes(struct measuring *measuring)
{
    const struct dft_ranks_job *job = measuring->job;
    uint64_t *numbers = malloc((job->nranks + 1u) * sizeof *numbers);

    if (!numbers)
        return -ENOMEM;
    for (uint32_t b = 0; b < job->nbuckets; b++) {
        for (uint32_t r = 0; r < job->nranks; r++)
            numbers[r] = dft_rank_cells(job, r)[b].bytes;
        qsort(numbers, job->nranks, sizeof *numbers, by_number);
        measuring->medians[b] = numbers[(job->nranks - 1) / 2];
    }
    free(numbers);
    return 0;
}

static int64_t least_floor(const struct measuring *measuring)
{
    return measuring->measure == DFT_RANKS_BYTES ? FLOOR_BYTES : (int64_t)(measuring->job->bucket_ns / FLOOR_BUCKET);
}

/* How many buckets must be looked at together. What is slow for a while is so in one bucket after
 * another: those that stick out alone tell how often chance does that. */
static uint32_t choose_window(const struct measuring *measuring)
{
    int64_t floor = least_floor(measuring);
    double alone = 0, quiet = 0, p;
    uint32_t window = WINDOW_MIN;

    for (uint32_t r = 0; r < measuring->count; r++) {
        const struct dft_metric_series *series = &measuring->series[r];

        for (uint32_t i = 1; i < series->count; i++)
            if (series->samples[i].value <= floor)
                quiet++;
            else
                alone += series->samples[i - 1].value <= floor &&
                         (i + 1 == series->count || series->samples[i + 1].value <= floor);
    }
    p = alone / (alone + quiet + 1);
    for (; window < WINDOW_MAX; window += 2) {
        double most = (window + 1) / 2, expected = (alone + quiet) * pow(p, most);

        for (double k = 1; k <= most; k++) /* so many ways to choose them */
            expected *= (window - most + k) / k;
        if (expected < CHANCE)
            break;
    }
    return window;
}

static void sample_all(struct measuring *measuring)
{
    struct dft_sample *next = measuring->samples;
    uint32_t window;

    for (uint32_t r = 0; r < measuring->job->nranks; r++) {
        uint32_t n = sample(measuring, r, next);

        if (n)
            measuring->series[measuring->count++] = (struct dft_metric_series){.rank = r, .count = n, .samples = next};
        next += n;
    }
    window = choose_window(measuring);
    next = measuring->samples;
    for (uint32_t i = 0; i < measuring->count; next += measuring->series[i++].count) {
        smooth(next + 1, measuring->series[i].count - 1, window);
        measuring->lost[i] = 0;
        for (uint32_t k = 0; k < measuring->series[i].count; k++)
            measuring->lost[i] += (uint64_t)next[k].value;
    }
}

/* Sets the floor by the rank that lost most, and leaves out those that lost little. */
static void set_floor(struct measuring *measuring)
{
    uint32_t worst = 0, bad = 0;
    struct dft_sample *next = measuring->samples;
    int64_t floor;

    for (uint32_t i = 1; i < measuring->count; i++)
        if (measuring->lost[i] > measuring->lost[worst])
            worst = i;
    for (uint32_t i = 0; measuring->count && i < measuring->series[worst].count; i++)
        bad += measuring->series[worst].samples[i].value > 0;
    floor = bad ? (int64_t)(measuring->lost[worst] / bad / FLOOR_WORST) : 0;
    measuring->measured->floor = least_floor(measuring);
    if (measuring->measured->floor < floor)
        measuring->measured->floor = floor;
    for (uint32_t i = 0; i < measuring->count; next += measuring->series[i++].count)
        for (uint32_t s = 0; measuring->lost[i] < measuring->lost[worst] / PART_WORST && s < measuring->series[i].count;
             s++)
            next[s].value = 0;
}

/* Who was as usual again when the next one became slow has hardly drawn it along: those are two
 * things, and which came first says little. */
static void doubt(struct measuring *measuring)
{
    struct dft_measured *measured = measuring->measured;
    int64_t onset = measured->cause.onset_ns, near = 2 * (int64_t)measuring->job->bucket_ns;

    if (!measured->cause.has_onset || !measured->cause.nsuspects)
        return;
    measured->over_before = 1;
    for (uint32_t r = 0; r < measuring->count; r++) {
        const struct dft_metric_series *series = &measuring->series[r];

        for (uint32_t i = 0; series->rank == measured->cause.suspects->rank && i < series->count; i++)
            if (series->samples[i].time_ns >= onset - near && series->samples[i].time_ns <= onset &&
                series->samples[i].value >= measured->floor)
                measured->over_before = 0;
    }
}

/* --- suspects --------------------------------------------------------------------------------- */

/* Its spike where that begins its bad time; else the bad time begins it. */
static struct dft_suspect suspect_of(const struct dft_ranks_job *job, const struct dft_first_cause *cause,
                                     const struct dft_blamed *blamed)
{
    uint32_t near = (blamed->to - blamed->from) / NEAR_SHARE;
    int64_t time = (int64_t)(job->origin_ns + blamed->from * job->bucket_ns);

    near = near > NEAR ? near : NEAR;
    for (uint32_t i = 0; i < cause->candidates; i++)
        if (cause->suspects[i].rank == blamed->rank &&
            llabs(cause->suspects[i].aligned_ns - time) <= (int64_t)(near * job->bucket_ns))
            return cause->suspects[i];
    return (struct dft_suspect){
        .rank = blamed->rank, .time_ns = time, .aligned_ns = time, .delta = (int64_t)blamed->lost};
}

/* The first of those blamed becomes the first suspect. */
static void suspect_blamed(const struct dft_ranks_job *job, struct dft_measured *measured)
{
    struct dft_suspect first;

    if (!measured->nblamed)
        return;
    first = suspect_of(job, &measured->cause, measured->blamed);
    dft_first_cause_lead(&measured->cause, &first);
}

static int measure(struct measuring *measuring)
{
    struct dft_ranks_job *job = measuring->job;
    struct dft_measured *measured = measuring->measured;
    int is_bytes = measuring->measure == DFT_RANKS_BYTES;
    int rc = is_bytes ? medians_of_bytes(measuring) : 0;

    if (rc)
        return rc;
    measured->beyond = is_bytes ? 2 : 2 * fmax(1, quiet_ratio(job, kind_of(measuring->measure)));
    sample_all(measuring);
    set_floor(measuring);
    rc = dft_first_cause_find(measuring->series, measuring->count, measured->floor, (int64_t)job->bucket_ns,
                              job->nmissing != 0, &measured->cause);
    rc = rc ? rc : dft_ranks_blame(job, measuring->measure, measured);
    if (!rc) {
        const struct dft_searched searched = {.job = job,
                                              .medians = is_bytes ? measuring->medians : NULL,
                                              .kind = kind_of(measuring->measure),
                                              .series = measuring->series,
                                              .count = measuring->count};

        suspect_blamed(job, measured);
        doubt(measuring);
        rc = dft_ranks_confide(&searched, measured);
    }
    return rc;
}

/* --- all measures ----------------------------------------------------------------------------- */

/* Another rank spends so much more time in I/O that what the suspect lost is little. That rank may
 * do more, rather than be slower at it, and then no measure sees it. */
static int is_outweighed(const struct dft_ranks_job *job, enum dft_ranks_measure measure)
{
    const struct dft_measured *measured = &job->measured[measure];

    if (!job->nslow || !job->slow_stands || job->slow[0] == measured->cause.suspects->rank)
        return 0;
    return measure == DFT_RANKS_BYTES ||
           job->ranks[job->slow[0]].io_ns - job->median_io_ns > OUTWEIGHED * measured->lost;
}

/* The one by which those blamed lost most, unless half of the ranks began together: that is no
 * rank's doing. Bytes alone when nothing was slow. */
static void choose_headline(struct dft_ranks_job *job)
{
    job->headline = -1;
    for (int m = 0; m < DFT_RANKS_MEASURES; m++) {
        const struct dft_measured *measured = &job->measured[m];

        if (!measured->nblamed || 2 * dft_ranks_together(&measured->cause) > job->nranks)
            continue;
        if (job->headline < 0 || (m != DFT_RANKS_BYTES && measured->lost > job->measured[job->headline].lost))
            job->headline = m;
    }
    if (job->headline >= 0 && is_outweighed(job, (enum dft_ranks_measure)job->headline))
        job->headline = -1;
}

int dft_ranks_first(struct dft_ranks_job *job)
{
    struct measuring measuring = {.job = job};
    int rc = -ENOMEM;

    measuring.medians = malloc((job->nbuckets + 1u) * sizeof *measuring.medians);
    measuring.series = malloc((job->nranks + 1u) * sizeof *measuring.series);
    measuring.lost = malloc((job->nranks + 1u) * sizeof *measuring.lost);
    measuring.samples = malloc(((size_t)job->nranks * (job->nbuckets + 1u) + 1) * sizeof *measuring.samples);
    if (measuring.medians && measuring.series && measuring.lost && measuring.samples)
        rc = 0;
    for (int m = 0; !rc && m < DFT_RANKS_MEASURES; m++) {
        measuring.measure = (enum dft_ranks_measure)m;
        measuring.measured = &job->measured[m];
        measuring.count = 0;
        rc = measure(&measuring);
    }
    rc = rc ? rc : dft_ranks_blame_slow(job);
    if (!rc)
        choose_headline(job);
    free(measuring.medians);
    free(measuring.series);
    free(measuring.lost);
    free(measuring.samples);
    return rc;
}
