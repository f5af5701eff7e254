/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: who is slow and since when, who came late.
 *
 * WHEN SOMETHING BEGAN. Takes, per bucket, how much longer the rank took than the others, and sums
 * the differences from the mean of this series (cumulative sums). The sum is lowest where the level
 * rises for good, and highest where it falls again. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/ranks_job.h"

#define SLOW_TIMES      1.5   /* the median's I/O time */
#define SLOW_SHARE      0.01  /* of the wall time, at least */
#define LAGS_TIMES      1.5   /* the others' time, all in all */
#define LAGS_WHILE      3.0   /* ... while it lags, where it does not all in all */
#define LAGS_SHARE      0.1   /* of the others' time in all, that it takes beyond theirs meanwhile */
#define LAGS_WALL       0.001 /* of the wall time, at least: what is less is nobody's trouble */
#define LAGS_BUCKETS    5u    /* fewer are a hiccup */
#define LAGS_DEVIATIONS 6.0
#define LAST_BUCKETS    2u /* are seldom full */
#define LATE_SHARE      0.05

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* The lower one, of an even number: of two ranks the quieter. */
static uint64_t median(uint64_t *numbers, uint32_t count)
{
    if (!count)
        return 0;
    qsort(numbers, count, sizeof *numbers, by_number);
    return numbers[(count - 1) / 2];
}

/* --- lag -------------------------------------------------------------------------------------- */

static double mean_of(const double *x, uint32_t from, uint32_t to)
{
    double sum = 0;

    for (uint32_t i = from; i < to; i++)
        sum += x[i];
    return to > from ? sum / (to - from) : 0;
}

static void find_lag(const double *x, uint32_t count, struct dft_lag *lag)
{
    double mean = mean_of(x, 0, count), sum = 0, lowest = 0, highest;

    *lag = (struct dft_lag){.from = 0, .to = count};
    for (uint32_t i = 0; i < count; i++) {
        sum += x[i] - mean;
        if (sum < lowest) {
            lowest = sum;
            lag->from = i + 1;
        }
    }
    highest = sum = 0;
    for (uint32_t i = lag->from; i < count; i++) {
        sum += x[i] - mean;
        if (sum >= highest) {
            highest = sum;
            lag->to = i + 1;
        }
    }
    lag->before = mean_of(x, 0, lag->from);
    lag->within = mean_of(x, lag->from, lag->to);
    if (lag->to + LAST_BUCKETS >= count || mean_of(x, lag->to, count) > lag->within / 2)
        lag->to = count;
    if (!lag->from || lag->before > lag->within / 2)
        *lag = (struct dft_lag){.from = DFT_NO_BUCKET, .to = count, .within = mean};
}

static uint64_t io_of(const struct dft_rank_cell *cell)
{
    return (uint64_t)cell->part_ns[DFT_LOST_META] + (uint64_t)cell->part_ns[DFT_LOST_DATA];
}

struct judging {
    struct dft_ranks_job *job;
    uint64_t *numbers; /* one a rank */
    double *series;    /* one a bucket */
    uint64_t *medians; /* one a bucket */
};

/* How many standard deviations the level while it lags lies above that of other times (or, without
 * such, above nothing). */
static double deviations(const double *x, uint32_t count, uint32_t from, uint32_t to)
{
    double within = mean_of(x, from, to), n = to - from, rest = count - n, before = 0, squares = 0;

    for (uint32_t b = 0; b < count; b++)
        before += b < from || b >= to ? x[b] / rest : 0;
    for (uint32_t b = 0; b < count; b++) {
        double off = x[b] - (b < from || b >= to ? before : within);

        squares += off * off;
    }
    if (count < 3 || squares <= 0)
        return within > before ? LAGS_DEVIATIONS : 0;
    return (within - before) / sqrt(squares / (count - 2) * (1 / n + (rest > 0 ? 1 / rest : 0)));
}

/* Is it more than chance? Who takes much longer than the others all in all lags; who does not, but
 * did for a while, where that stands out. `beyond` is the difference to the mean of the others, by
 * bucket; `least` is what it must be together. */
static int is_enough(const struct dft_lag *lag, uint32_t count, const uint64_t *own, const double *beyond, double least)
{
    uint32_t from = lag->from == DFT_NO_BUCKET ? 0 : lag->from, slow = 0;
    double more = 0, others = 0, all_more = 0, all = 0;

    for (uint32_t b = 0; b < count; b++) {
        double other = (double)own[b] - beyond[b];

        all += other;
        all_more += beyond[b];
        others += b >= from && b < lag->to ? other : 0;
        more += b >= from && b < lag->to ? beyond[b] : 0;
    }
    if (more < least)
        return 0;
    if (all_more > 0 && all_more >= (LAGS_TIMES - 1) * all)
        return 1;
    for (uint32_t b = from; b < lag->to; b++)
        slow += beyond[b] * (lag->to - from) > (LAGS_TIMES - 1) * others;
    return slow >= LAGS_BUCKETS && 2 * slow >= lag->to - from && more > 0 && more >= (LAGS_WHILE - 1) * others &&
           more >= LAGS_SHARE * all && deviations(beyond, count, from, lag->to) >= LAGS_DEVIATIONS;
}

static void call_lags(struct judging *judging)
{
    struct dft_ranks_job *job = judging->job;
    uint32_t followed = job->ncalls < DFT_RANKS_CALLS ? job->ncalls : DFT_RANKS_CALLS;

    for (uint32_t c = 0; c < followed; c++)
        for (uint32_t s = 0; s < job->calls[c].nslowest; s++) {
            const uint64_t *all = &job->call_ns[(size_t)c * job->nbuckets];
            const uint64_t *own = &job->slow_ns[((size_t)c * DFT_RANKS_SLOWEST + s) * job->nbuckets];

            for (uint32_t b = 0; b < job->nbuckets; b++)
                judging->series[b] =
                    (double)own[b] - (job->nranks > 1 ? (double)(all[b] - own[b]) / (job->nranks - 1) : 0);
            find_lag(judging->series, job->nbuckets, &job->calls[c].lags[s]);
            job->calls[c].lags[s].lags =
                job->nranks > 1 && is_enough(&job->calls[c].lags[s], job->nbuckets, own, judging->series,
                                             LAGS_WALL * (double)job->wall_ns);
        }
}

static uint64_t excess_of(const struct dft_ranks_job *job, uint32_t rank)
{
    uint64_t io = job->ranks[rank].io_ns;

    return io > job->median_io_ns ? io - job->median_io_ns : 0;
}

/* Sorts positions of ranks by a number of each, largest first. */
static void sort_ranks(uint32_t *list, uint32_t count, const struct dft_ranks_job *job,
                       uint64_t (*number)(const struct dft_ranks_job *job, uint32_t rank))
{
    for (uint32_t gap = count / 2; gap;
         gap /= 2) /* Shell's: without context for qsort, and stable enough with ties by rank */
        for (uint32_t i = gap; i < count; i++) {
            uint32_t moving = list[i], j = i;
            uint64_t n = number(job, moving);

            for (; j >= gap; j -= gap) {
                uint64_t other = number(job, list[j - gap]);

                if (other > n || (other == n && list[j - gap] < moving))
                    break;
                list[j] = list[j - gap];
            }
            list[j] = moving;
        }
}

static int find_slow(struct judging *judging)
{
    struct dft_ranks_job *job = judging->job;

    for (uint32_t r = 0; r < job->nranks; r++)
        judging->numbers[r] = job->ranks[r].io_ns;
    job->median_io_ns = median(judging->numbers, job->nranks);
    job->slow = calloc(job->nranks + 1u, sizeof *job->slow);
    if (!job->slow)
        return -ENOMEM;
    for (uint32_t b = 0; b < job->nbuckets; b++) {
        for (uint32_t r = 0; r < job->nranks; r++)
            judging->numbers[r] = io_of(&dft_rank_cells(job, r)[b]);
        judging->medians[b] = median(judging->numbers, job->nranks);
    }
    for (uint32_t r = 0; job->nranks > 1 && r < job->nranks; r++)
        if ((double)job->ranks[r].io_ns > SLOW_TIMES * (double)job->median_io_ns &&
            (double)excess_of(job, r) >= SLOW_SHARE * (double)job->wall_ns)
            job->slow[job->nslow++] = r;
    sort_ranks(job->slow, job->nslow, job, excess_of);
    for (uint32_t i = 0; i < job->nslow; i++) {
        const struct dft_rank_cell *cells = dft_rank_cells(job, job->slow[i]);

        for (uint32_t b = 0; b < job->nbuckets; b++)
            judging->series[b] = (double)io_of(&cells[b]) - (double)judging->medians[b];
        find_lag(judging->series, job->nbuckets, &job->ranks[job->slow[i]].lag);
        job->ranks[job->slow[i]].lag.lags = 1;
    }
    return 0;
}

static uint64_t late_of(const struct dft_ranks_job *job, uint32_t rank)
{
    uint64_t end = job->ranks[rank].end_ns;

    return end > job->median_end_ns ? end - job->median_end_ns : 0;
}

/* Stragglers end behind the median by a twentieth of the wall time, and by four times what ranks
 * mostly differ. */
static int find_stragglers(struct judging *judging)
{
    struct dft_ranks_job *job = judging->job;
    uint64_t spread;

    for (uint32_t r = 0; r < job->nranks; r++)
        judging->numbers[r] = job->ranks[r].start_ns;
    job->median_start_ns = median(judging->numbers, job->nranks);
    for (uint32_t r = 0; r < job->nranks; r++)
        judging->numbers[r] = job->ranks[r].end_ns;
    job->median_end_ns = median(judging->numbers, job->nranks);
    for (uint32_t r = 0; r < job->nranks; r++)
        judging->numbers[r] = (uint64_t)llabs((int64_t)(job->ranks[r].end_ns - job->median_end_ns));
    spread = median(judging->numbers, job->nranks);
    job->stragglers = calloc(job->nranks + 1u, sizeof *job->stragglers);
    if (!job->stragglers)
        return -ENOMEM;
    for (uint32_t r = 0; job->nranks > 1 && r < job->nranks; r++)
        if ((double)late_of(job, r) > LATE_SHARE * (double)job->wall_ns &&
            (double)late_of(job, r) > 4.0 * (double)spread)
            job->stragglers[job->nstragglers++] = r;
    sort_ranks(job->stragglers, job->nstragglers, job, late_of);
    return 0;
}

int dft_ranks_judge(struct dft_ranks_job *job)
{
    struct judging judging = {.job = job};
    int rc = -ENOMEM;

    judging.numbers = malloc((job->nranks + 1u) * sizeof *judging.numbers);
    judging.series = malloc((job->nbuckets + 1u) * sizeof *judging.series);
    judging.medians = malloc((job->nbuckets + 1u) * sizeof *judging.medians);
    if (judging.numbers && judging.series && judging.medians)
        rc = find_slow(&judging);
    if (!rc)
        rc = find_stragglers(&judging);
    if (!rc)
        call_lags(&judging);
    free(judging.numbers);
    free(judging.series);
    free(judging.medians);
    return rc;
}
