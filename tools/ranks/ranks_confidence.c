/* SPDX-License-Identifier: MIT */
/* How sure the first cause is; see ranks_confidence.h. */
#include "ranks/ranks_confidence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define BUCKETS_HIGH   5u
#define BUCKETS_MEDIUM 3u
#define LEAD_HIGH      2
#define SHARE_HIGH     4u /* one in so many of the suspect's active buckets */
#define SHARE_OVER     2u
#define SHARE_MEDIUM   10u
#define END_NEAR       2u /* buckets */
#define TIMES_HIGH     5.0
#define OTHERS_HIGH    4.0
#define TIMES_MEDIUM   3.0
#define OTHERS_MEDIUM  2.0
#define BUCKETS_STEADY 10u /* of who is slow by little, but for long */
#define TIMES_STEADY   1.3
#define LITTLE         100u /* who lost less than this part of the job is known for little */

uint32_t dft_ranks_together(const struct dft_first_cause *cause)
{
    uint32_t n = 0;

    while (n < cause->nsuspects && cause->suspects[n].aligned_ns == cause->suspects->aligned_ns)
        n++;
    return n;
}

/* What stands for and against the suspect. */
struct evidence {
    uint32_t from, to, onset; /* buckets of the bad time; where the next rank began, or `to` */
    uint32_t bad, active;     /* of these: beyond the usual, active */
    uint32_t all, last;       /* active ones of the whole job; the last of these */
    double times, others;
};

static double own_of(const struct dft_searched *searched, const struct dft_rank_cell *cell)
{
    return searched->medians ? (double)cell->bytes : (double)cell->part_ns[searched->kind];
}

static double usual_of(const struct dft_searched *searched, const struct dft_rank_cell *cell, uint32_t bucket)
{
    return searched->medians ? (double)searched->medians[bucket] : (double)cell->usual_ns[searched->kind];
}

/* What a rank took in buckets [from, to) through what is usual; 0: it was not there. */
static double times_of(const struct dft_searched *searched, uint32_t rank, uint32_t from, uint32_t to)
{
    const struct dft_rank_cell *cells = dft_rank_cells(searched->job, rank);
    double own = 0, usual = 0;

    for (uint32_t b = from; b < to; b++) {
        own += own_of(searched, &cells[b]);
        usual += usual_of(searched, &cells[b], b);
    }
    return own <= 0 ? 0 : own / (usual > 0 ? usual : own);
}

static uint32_t bucket_of(const struct dft_searched *searched, int64_t time)
{
    return dft_rank_bucket(searched->job, (uint64_t)time);
}

/* The bucket behind the last one of the suspect's bad time: the longest of whose samples three of
 * four are beyond. */
static uint32_t end_of(const struct dft_searched *searched, const struct dft_measured *measured)
{
    const struct dft_suspect *suspect = measured->cause.suspects;
    uint32_t end = bucket_of(searched, suspect->aligned_ns) + 1;

    for (uint32_t r = 0; r < searched->count; r++) {
        const struct dft_metric_series *series = &searched->series[r];

        if (series->rank != suspect->rank)
            continue;
        for (uint32_t i = 0, all = 0, beyond = 0; i < series->count; i++) {
            if (series->samples[i].time_ns < suspect->time_ns)
                continue;
            all++;
            beyond += series->samples[i].value >= measured->floor;
            if (beyond * 4 >= all * 3)
                end = bucket_of(searched, series->samples[i].time_ns) + 1;
        }
    }
    return end;
}

static struct evidence gather(const struct dft_searched *searched, const struct dft_measured *measured)
{
    const struct dft_ranks_job *job = searched->job;
    const struct dft_first_cause *cause = &measured->cause;
    uint32_t suspect = cause->suspects->rank;
    const struct dft_rank_cell *cells = dft_rank_cells(job, suspect);
    struct evidence evidence = {.from = bucket_of(searched, cause->suspects->aligned_ns),
                                .to = end_of(searched, measured)};

    if (measured->nblamed && measured->blamed->to > evidence.to)
        evidence.to = measured->blamed->to;
    evidence.onset = cause->has_onset ? bucket_of(searched, cause->onset_ns) : evidence.to;
    evidence.onset = evidence.onset < evidence.to ? evidence.onset : evidence.to;
    for (uint32_t b = 0; b < job->nbuckets; b++) {
        double own = own_of(searched, &cells[b]);
        int is_in = own > 0 && b >= evidence.from && b < evidence.to;

        evidence.all += own > 0;
        evidence.last = own > 0 ? b : evidence.last;
        evidence.active += (uint32_t)is_in;
        evidence.bad += is_in && own > measured->beyond * usual_of(searched, &cells[b], b);
    }
    evidence.times = times_of(searched, suspect, evidence.from, evidence.to);
    for (uint32_t r = 0; r < job->nranks; r++) {
        double other = r == suspect ? 0 : times_of(searched, r, evidence.from, evidence.onset);

        evidence.others = other > evidence.others ? other : evidence.others;
    }
    return evidence;
}

/* A large part of the whole; that of what is over again must be larger. */
static int lasts(const struct evidence *evidence)
{
    uint32_t share = evidence->to + END_NEAR > evidence->last ? SHARE_HIGH : SHARE_OVER;

    return evidence->active * share >= evidence->all;
}

static int stands_out(const struct evidence *evidence, double times, double others)
{
    return evidence->times >= times && evidence->times >= others * evidence->others;
}

/* By the numbers alone. */
static enum dft_confidence weigh(const struct dft_searched *searched, const struct dft_measured *measured,
                                 const struct evidence *evidence)
{
    const struct dft_first_cause *cause = &measured->cause;
    int leads = !cause->has_onset || cause->suspects->lead_ns >= LEAD_HIGH * (int64_t)searched->job->bucket_ns;

    if (leads && evidence->active >= BUCKETS_HIGH && lasts(evidence) && evidence->bad * 4 >= evidence->active * 3 &&
        stands_out(evidence, TIMES_HIGH, OTHERS_HIGH))
        return DFT_CONFIDENCE_HIGH;
    if (evidence->active >= BUCKETS_MEDIUM && evidence->active * SHARE_MEDIUM >= evidence->all &&
        stands_out(evidence, TIMES_MEDIUM, OTHERS_MEDIUM))
        return DFT_CONFIDENCE_MEDIUM;
    if (evidence->active >= BUCKETS_STEADY && evidence->active * SHARE_HIGH >= evidence->all &&
        stands_out(evidence, TIMES_STEADY, TIMES_STEADY))
        return DFT_CONFIDENCE_MEDIUM;
    return DFT_CONFIDENCE_LOW;
}

/* What keeps the answer from being sure, whatever the numbers; NULL: nothing. Lowers *confidence by
 * that. */
static const char *limit_of(const struct dft_searched *searched, const struct dft_measured *measured,
                            enum dft_confidence *confidence)
{
    enum dft_confidence most = DFT_CONFIDENCE_LOW;
    const char *limit = NULL;

    if (!measured->nblamed) {
        limit = "others lose as much by chance";
    } else if (dft_ranks_together(&measured->cause) > 1) {
        limit = "others began in the same bucket";
    } else if (measured->over_before) {
        limit = "as usual again when the next one began";
    } else if (searched->job->nranks < 3) {
        limit = "only two: no third says which is unusual";
        most = DFT_CONFIDENCE_MEDIUM;
    } else if (searched->job->nmissing) {
        limit = "ranks are missing, and one of these may have been first";
        most = DFT_CONFIDENCE_MEDIUM;
    } else if (!searched->medians && measured->lost < searched->job->wall_ns / LITTLE) {
        limit = "what it lost is less than 1 % of the job's time";
        most = DFT_CONFIDENCE_MEDIUM;
    }
    if (limit && *confidence > most)
        *confidence = most;
    return limit;
}

static int set_reason(const struct dft_searched *searched, struct dft_measured *measured,
                      const struct evidence *evidence, const char *limit)
{
    size_t length;
    FILE *out = open_memstream(&measured->reason, &length);

    if (!out)
        return -ENOMEM;
    if (limit)
        fprintf(out, "%s; ", limit);
    fprintf(out, "%.*f times %s in ", evidence->times < 9.95, evidence->times,
            searched->medians ? "the median" : "the usual");
    if (2 * evidence->bad >= evidence->active) /* else it is more all in all, and seldom alone */
        fprintf(out, "%" PRIu32 " of ", evidence->bad);
    fprintf(out, "%" PRIu32 " buckets", evidence->active);
    if (evidence->active < evidence->all)
        fprintf(out, " (of %" PRIu32 " in all)", evidence->all);
    if (evidence->others > 0)
        fprintf(out, ", no other %s above %.1f%s", searched->job->by_rank ? "rank" : "process", evidence->others,
                evidence->onset < evidence->to ? " until the next one began" : "");
    return fclose(out) ? -ENOMEM : 0;
}

int dft_ranks_confide(const struct dft_searched *searched, struct dft_measured *measured)
{
    struct dft_first_cause *cause = &measured->cause;
    enum dft_confidence confidence;
    struct evidence evidence;
    const char *limit;

    if (!cause->nsuspects)
        return 0;
    evidence = gather(searched, measured);
    confidence = weigh(searched, measured, &evidence);
    limit = limit_of(searched, measured, &confidence);
    for (uint32_t i = 0; i < cause->nsuspects; i++)
        cause->suspects[i].confidence =
            cause->suspects[i].aligned_ns == cause->suspects->aligned_ns ? confidence : DFT_CONFIDENCE_LOW;
    return set_reason(searched, measured, &evidence, limit);
}
