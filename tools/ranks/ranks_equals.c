/* SPDX-License-Identifier: MIT */
/* Whom to blame; see ranks_equals.h. */
#include "ranks/ranks_equals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/hash.h"
#include "ranks/ranks_outliers.h"
#include "ranks/ranks_tables.h"

#define TIMES_TIME   1.3
#define TIMES_BYTES  2.0
#define TIMES_BEFORE 2.0
#define FAIR_BEFORE  2u   /* buckets */
#define SHARE_TIME   0.01 /* of the wall time */
#define SHARE_ALONE  0.04
#define SHARE_ALL    0.02
#define BUCKETS_ALL  5u
#define LEAST_BYTES  (1 << 20)

enum equals_kind { EQUALS_META = DFT_LOST_META, EQUALS_DATA = DFT_LOST_DATA, EQUALS_BYTES, EQUALS_IO };

struct equals {
    const struct dft_ranks_job *job;
    enum equals_kind kind;
    double quiet, typical; /* times the usual: of the quieter part of the job; of the rank in the middle */
    double *values;        /* by rank, then bucket */
    double *numbers;       /* one a rank */
    uint64_t *hosts;
    struct dft_outlier *found;
    uint32_t count;
};

/* --- what ranks took -------------------------------------------------------------------------- */

static double own_of(const struct equals *equals, const struct dft_rank_cell *cell)
{
    if (equals->kind == EQUALS_BYTES)
        return (double)cell->bytes;
    if (equals->kind == EQUALS_IO)
        return (double)(cell->part_ns[DFT_LOST_META] + cell->part_ns[DFT_LOST_DATA]);
    return (double)cell->part_ns[equals->kind];
}

/* What as many calls usually take. Bytes, and time whatever it was spent on, are compared as they are: each
 * rank is to have the same. */
static double usual_of(const struct equals *equals, const struct dft_rank_cell *cell)
{
    return equals->kind == EQUALS_META || equals->kind == EQUALS_DATA ? (double)cell->usual_ns[equals->kind] : 0;
}

static int by_number(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

static double middle_of(const struct equals *equals)
{
    qsort(equals->numbers, equals->job->nranks, sizeof *equals->numbers, by_number);
    return fmax(equals->numbers[(equals->job->nranks - 1) / 2], equals->quiet);
}

/* Times the usual of the rank in the middle (of two the quieter), over the whole job. */
static double typical_of(const struct equals *equals)
{
    for (uint32_t r = 0; r < equals->job->nranks; r++) {
        const struct dft_rank_cell *cells = dft_rank_cells(equals->job, r);
        double own = 0, usual = 0;

        for (uint32_t b = 0; b < equals->job->nbuckets; b++) {
            own += own_of(equals, &cells[b]);
            usual += usual_of(equals, &cells[b]);
        }
        equals->numbers[r] = usual > 0 ? own / usual : 0;
    }
    return middle_of(equals);
}

/* The same in a bucket. Where most ranks make no calls, it is as in the whole job. */
static double pace_of(const struct equals *equals, uint32_t bucket)
{
    uint32_t nranks = equals->job->nranks, active = 0;

    for (uint32_t r = 0; r < nranks; r++) {
        const struct dft_rank_cell *cell = &dft_rank_cells(equals->job, r)[bucket];
        double usual = usual_of(equals, cell);

        active += usual > 0;
        equals->numbers[r] = usual > 0 ? own_of(equals, cell) / usual : equals->quiet;
    }
    return 2 * active <= nranks ? equals->typical : middle_of(equals);
}

static double mean_usual(const struct equals *equals, uint32_t bucket)
{
    double sum = 0;
    uint32_t active = 0;

    for (uint32_t r = 0; r < equals->job->nranks; r++) {
        double usual = usual_of(equals, &dft_rank_cells(equals->job, r)[bucket]);

        sum += usual;
        active += usual > 0;
    }
    return active ? sum / active : 0;
}

/* Fills in the time beyond the usual, had the job kept its pace. Where all are slow, chance is larger, too. */
static void fill_times(struct equals *equals, uint32_t bucket)
{
    const struct dft_ranks_job *job = equals->job;
    double mean = mean_usual(equals, bucket), pace = pace_of(equals, bucket);

    for (uint32_t r = 0; r < job->nranks; r++) {
        const struct dft_rank_cell *cell = &dft_rank_cells(job, r)[bucket];
        double own = own_of(equals, cell), usual = usual_of(equals, cell);
        double value = own * equals->quiet / pace - equals->quiet * usual;

        equals->values[(size_t)r * job->nbuckets + bucket] = own <= 0 && usual <= 0 ? NAN
                                                             : usual > mean         ? value * mean / usual
                                                                                    : value;
    }
}

/* A call that goes on through buckets is one, in that in which it starts: so many calls, so many chances. */
static void join_calls(struct equals *equals)
{
    const struct dft_ranks_job *job = equals->job;

    for (uint32_t r = 0; r < job->nranks; r++) {
        double *values = &equals->values[(size_t)r * job->nbuckets], *start = NULL;

        for (uint32_t b = 0; b < job->nbuckets; b++) {
            if (usual_of(equals, &dft_rank_cells(job, r)[b]) > 0) {
                start = &values[b];
            } else if (start && !isnan(values[b])) {
                *start += values[b];
                values[b] = 0;
            }
        }
    }
}

static void fill_amounts(struct equals *equals, uint32_t bucket)
{
    const struct dft_ranks_job *job = equals->job;

    for (uint32_t r = 0; r < job->nranks; r++)
        equals->values[(size_t)r * job->nbuckets + bucket] = own_of(equals, &dft_rank_cells(job, r)[bucket]);
}

/* The rank that ends last is alone then, however equal they are: all that time is one chance. */
static void join_end(struct equals *equals)
{
    const struct dft_ranks_job *job = equals->job;
    uint32_t end;

    for (uint32_t r = 0; r < job->nranks; r++) {
        uint32_t b = job->nbuckets;

        while (b && own_of(equals, &dft_rank_cells(job, r)[b - 1]) <= 0)
            b--;
        equals->numbers[r] = b;
    }
    end = (uint32_t)middle_of(equals);
    for (uint32_t r = 0; r < job->nranks; r++) {
        double *values = &equals->values[(size_t)r * job->nbuckets];

        for (uint32_t b = end + 1; b < job->nbuckets; b++) {
            values[end] += values[b];
            values[b] = 0;
        }
    }
}

/* --- what was lost ---------------------------------------------------------------------------- */

static int is_found(const struct equals *equals, uint32_t rank)
{
    for (uint32_t i = 0; i < equals->count; i++)
        if (equals->found[i].rank == rank)
            return 1;
    return 0;
}

/* What the rank would have taken in a bucket as one of the others. */
static double expected_of(const struct equals *equals, uint32_t rank, uint32_t bucket)
{
    const struct dft_ranks_job *job = equals->job;
    double own = 0, usual = 0, mine = usual_of(equals, &dft_rank_cells(job, rank)[bucket]);
    uint32_t others = 0, active = 0;

    for (uint32_t r = 0; r < job->nranks; r++) {
        const struct dft_rank_cell *cell = &dft_rank_cells(job, r)[bucket];

        if (is_found(equals, r))
            continue;
        others++;
        active += own_of(equals, cell) > 0;
        own += own_of(equals, cell);
        usual += usual_of(equals, cell);
    }
    if (equals->kind == EQUALS_BYTES || equals->kind == EQUALS_IO)
        return others ? own / others : 0;
    return mine * (2 * active >= others && usual > 0 ? own / usual : equals->typical);
}

/* What is less than a worse time behind it is bad nevertheless. */
static uint32_t begin_of(const struct equals *equals, const struct dft_outlier *outlier)
{
    const struct dft_rank_cell *cells = dft_rank_cells(equals->job, outlier->rank);
    uint32_t from = outlier->from;

    for (uint32_t b = from; b-- && from - b <= FAIR_BEFORE;)
        if (own_of(equals, &cells[b]) > TIMES_BEFORE * expected_of(equals, outlier->rank, b))
            from = b;
    return from;
}

static struct dft_blamed blame(const struct equals *equals, const struct dft_outlier *outlier)
{
    const struct dft_rank_cell *cells = dft_rank_cells(equals->job, outlier->rank);
    struct dft_blamed blamed = {.rank = outlier->rank, .from = outlier->from, .to = outlier->to};
    double own = 0, expected = 0;

    while (blamed.to < equals->job->nbuckets && own_of(equals, &cells[blamed.to]) > 0 &&
           usual_of(equals, &cells[blamed.to]) <= 0 && equals->kind != EQUALS_BYTES)
        blamed.to++; /* the last call goes on */
    blamed.from = begin_of(equals, outlier);
    for (uint32_t b = blamed.from; b < blamed.to; b++) {
        own += own_of(equals, &cells[b]);
        expected += expected_of(equals, outlier->rank, b);
    }
    blamed.lost = own > expected ? (uint64_t)(own - expected) : 0;
    blamed.times = expected > 0 ? own / expected : INFINITY;
    return blamed;
}

static int matters(const struct equals *equals, const struct dft_blamed *blamed)
{
    if (equals->kind == EQUALS_BYTES)
        return blamed->times >= TIMES_BYTES && blamed->lost >= LEAST_BYTES;
    return blamed->times >= TIMES_TIME && (double)blamed->lost >= SHARE_TIME * (double)equals->job->wall_ns;
}

/* --- all together ----------------------------------------------------------------------------- */

/* The buckets in which the ranks together lost most beyond what is usual still. */
static struct dft_all_slow worst_time(const struct equals *equals, double beyond)
{
    const struct dft_ranks_job *job = equals->job;
    struct dft_all_slow found = {0};
    double sum = 0, most = 0;
    uint32_t from = 0;

    for (uint32_t b = 0; b < job->nbuckets; b++) {
        for (uint32_t r = 0; r < job->nranks; r++) {
            const struct dft_rank_cell *cell = &dft_rank_cells(job, r)[b];

            sum += own_of(equals, cell) - beyond * usual_of(equals, cell);
        }
        if (sum <= 0) {
            sum = 0;
            from = b + 1;
        } else if (sum > most) {
            most = sum;
            found.from = from;
            found.to = b + 1;
        }
    }
    return found;
}

/* Buckets [from, to) in which a rank begins calls. */
static uint32_t count_active(const struct equals *equals, uint32_t rank, uint32_t from, uint32_t to)
{
    uint32_t active = 0;

    for (uint32_t b = from; b < to; b++)
        active += usual_of(equals, &dft_rank_cells(equals->job, rank)[b]) > 0;
    return active;
}

/* All ranks slowed down then, each of them: for some buckets, after some in which they had not. */
static struct dft_all_slow find_all_slow(const struct equals *equals, double beyond)
{
    const struct dft_ranks_job *job = equals->job;
    struct dft_all_slow found = worst_time(equals, beyond);

    found.least = UINT64_MAX;
    for (uint32_t r = 0; r < job->nranks; r++) {
        double own = 0, usual = 0, lost;

        for (uint32_t b = found.from; b < found.to; b++) {
            own += own_of(equals, &dft_rank_cells(job, r)[b]);
            usual += usual_of(equals, &dft_rank_cells(job, r)[b]);
        }
        lost = own - equals->quiet * usual;
        if (own < beyond * usual || lost < SHARE_ALL * (double)job->wall_ns ||
            count_active(equals, r, 0, found.from) < BUCKETS_ALL ||
            count_active(equals, r, found.from, found.to) < BUCKETS_ALL)
            return (struct dft_all_slow){0};
        found.least = (uint64_t)lost < found.least ? (uint64_t)lost : found.least;
        found.most = (uint64_t)lost > found.most ? (uint64_t)lost : found.most;
    }
    found.until_ns = found.to + DFT_RANKS_LAST_BUCKETS < job->nbuckets ? job->origin_ns + found.to * job->bucket_ns : 0;
    return found;
}

/* --- the search ------------------------------------------------------------------------------- */

static void equals_fini(struct equals *equals)
{
    free(equals->values);
    free(equals->numbers);
    free(equals->hosts);
    free(equals->found);
}

static int equals_find(struct equals *equals)
{
    const struct dft_ranks_job *job = equals->job;

    equals->values = malloc(((size_t)job->nranks * job->nbuckets + 1) * sizeof *equals->values);
    equals->hosts = malloc((job->nranks + 1u) * sizeof *equals->hosts);
    equals->found = malloc((job->nranks + 1u) * sizeof *equals->found);
    equals->numbers = malloc((job->nranks + 1u) * sizeof *equals->numbers);
    if (!equals->values || !equals->numbers || !equals->hosts || !equals->found)
        return -ENOMEM;
    equals->typical = typical_of(equals);
    for (uint32_t b = 0; b < job->nbuckets; b++)
        (equals->kind == EQUALS_BYTES || equals->kind == EQUALS_IO ? fill_amounts : fill_times)(equals, b);
    if (equals->kind == EQUALS_META || equals->kind == EQUALS_DATA)
        join_calls(equals);
    if (equals->kind == EQUALS_IO)
        join_end(equals);
    for (uint32_t r = 0; r < job->nranks; r++) {
        struct dft_text host = dft_ranks_process(job, r)->process.host;

        equals->hosts[r] = dft_name_id(host.bytes, host.length);
    }
    return dft_outliers_find(equals->values, job->nranks, job->nbuckets, equals->hosts,
                             equals->kind == EQUALS_BYTES ? INFINITY : SHARE_ALONE * (double)job->wall_ns,
                             equals->found, &equals->count);
}

int dft_ranks_blame(const struct dft_ranks_job *job, enum dft_ranks_measure measure, struct dft_measured *measured)
{
    struct equals equals = {.job = job,
                            .kind = measure == DFT_RANKS_BYTES      ? EQUALS_BYTES
                                    : measure == DFT_RANKS_METADATA ? EQUALS_META
                                                                    : EQUALS_DATA,
                            .quiet = measured->beyond / 2};
    int rc = equals_find(&equals);

    if (!rc && equals.count) {
        measured->blamed = calloc(equals.count, sizeof *measured->blamed);
        rc = measured->blamed ? 0 : -ENOMEM;
    }
    for (uint32_t i = 0; !rc && i < equals.count; i++) {
        struct dft_blamed blamed = blame(&equals, &equals.found[i]);

        if (!matters(&equals, &blamed))
            continue;
        measured->blamed[measured->nblamed++] = blamed;
        if (measured->nblamed == 1 || blamed.from >= measured->blamed[measured->nblamed - 2].to)
            measured->lost += blamed.lost;
        else if (blamed.lost > measured->lost) /* at the same time they cost the time of one */
            measured->lost = blamed.lost;
    }
    if (!measured->nblamed && equals.kind != EQUALS_BYTES)
        measured->all = find_all_slow(&equals, measured->beyond);
    equals_fini(&equals);
    return rc;
}

int dft_ranks_blame_slow(struct dft_ranks_job *job)
{
    struct equals equals = {.job = job, .kind = EQUALS_IO};
    int rc = job->nslow ? equals_find(&equals) : 0;

    job->slow_stands = !rc && job->nslow && is_found(&equals, job->slow[0]);
    equals_fini(&equals);
    return rc;
}
