/* SPDX-License-Identifier: MIT */
/* Ranks that stand out from their equals; see ranks_outliers.h. */
#include "ranks/ranks_outliers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS         120u /* at most */
#define PERMUTATIONS   999u
#define GAP            2.0 /* times the largest of the others */
#define FEW            3u
#define CORRELATED     0.1  /* an autocorrelation that is none any more */
#define DEVIATIONS     2.0  /* of it by chance */
#define DEVIATIONS_ONE 0.5  /* ... of one of many */
#define GAP_ALONE      10.0 /* times the others, beyond which no test is needed */
#define TRIMS          3u

struct table {
    const double *values;
    const uint64_t *hosts;
    uint32_t nranks, nintervals;
    double alone;
    uint32_t width, nblocks;    /* intervals a block */
    double *blocks;             /* by block, then rank; NAN: nothing was done */
    double *centered;           /* the same, without the mean */
    double *means;              /* one a block */
    struct dft_outlier *scores; /* by rank; later largest first */
};

/* --- blocks ----------------------------------------------------------------------------------- */

/* Sums of the values over blocks of `width`. */
static void make_blocks(struct table *table, uint32_t width)
{
    table->width = width;
    table->nblocks = (table->nintervals + width - 1) / width;
    for (uint32_t b = 0; b < table->nblocks; b++)
        for (uint32_t r = 0; r < table->nranks; r++) {
            double sum = NAN;

            for (uint32_t i = b * width; i < (b + 1) * width && i < table->nintervals; i++) {
                double value = table->values[(size_t)r * table->nintervals + i];

                if (!isnan(value))
                    sum = isnan(sum) ? value : sum + value;
            }
            table->blocks[(size_t)b * table->nranks + r] = sum;
        }
}

/* Takes the mean of a block off; that of its active ranks where these are most. Where few are active the
 * others have lost nothing. */
static void center(const struct table *table, const double *block, double *into)
{
    uint32_t active = 0;
    double sum = 0, mean;
    int most;

    for (uint32_t r = 0; r < table->nranks; r++) {
        active += !isnan(block[r]);
        sum += isnan(block[r]) ? 0 : block[r];
    }
    most = 2 * active > table->nranks;
    mean = sum / (most ? active : table->nranks);
    for (uint32_t r = 0; r < table->nranks; r++)
        into[r] = !isnan(block[r]) ? block[r] - mean : most ? NAN : -mean;
}

/* --- scores ----------------------------------------------------------------------------------- */

/* The largest sum over blocks in a row, of centered values by block less `level` (Kadane). */
static struct dft_outlier score_of(const struct table *table, uint32_t rank, double level)
{
    struct dft_outlier best = {.rank = rank};
    double sum = 0;
    uint32_t from = 0;

    for (uint32_t b = 0; b < table->nblocks; b++) {
        double value = table->centered[(size_t)b * table->nranks + rank];

        sum += (isnan(value) ? 0 : value) - level;
        if (sum <= 0) {
            sum = 0;
            from = b + 1;
        } else if (sum > best.score) {
            best.score = sum;
            best.from = from * table->width;
            best.to = (b + 1) * table->width;
        }
    }
    best.to = best.to < table->nintervals ? best.to : table->nintervals;
    return best;
}

/* The bad time of a rank: without ends in which it is less than half as bad as it is all in all. */
static struct dft_outlier trim(const struct table *table, struct dft_outlier found)
{
    struct dft_outlier best = found;

    for (unsigned n = 0; n < TRIMS && best.to > best.from; n++) {
        double sum = 0;

        for (uint32_t b = best.from / table->width; b * table->width < best.to; b++) {
            double value = table->centered[(size_t)b * table->nranks + found.rank];

            sum += isnan(value) ? 0 : value;
        }
        best = score_of(table, found.rank, sum / (best.to - best.from) * table->width / 2);
    }
    best.score = found.score;
    return best.to > best.from ? best : found;
}

static int by_score(const void *left, const void *right)
{
    const struct dft_outlier *a = left, *b = right;

    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static void center_all(struct table *table)
{
    for (uint32_t b = 0; b < table->nblocks; b++)
        center(table, &table->blocks[(size_t)b * table->nranks], &table->centered[(size_t)b * table->nranks]);
}

static void score_all(struct table *table)
{
    center_all(table);
    for (uint32_t r = 0; r < table->nranks; r++)
        table->scores[r] = score_of(table, r, 0);
    qsort(table->scores, table->nranks, sizeof *table->scores, by_score);
}

/* Are the first `count` all ranks of their hosts? */
static int are_hosts(const struct table *table, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = count; k < table->nranks; k++)
            if (table->hosts[table->scores[i].rank] == table->hosts[table->scores[k].rank])
                return 0;
    return 1;
}

/* How many are far above the others; 0: none is. */
static uint32_t count_far(const struct table *table)
{
    uint32_t best = 0;
    double most = GAP;

    for (uint32_t k = 1; 2 * k <= table->nranks || k == 1; k++) {
        double own = table->scores[k - 1].score, other = k < table->nranks ? table->scores[k].score : 0;

        if (own <= 0 || own < most * other || (k > FEW && !are_hosts(table, k)))
            continue;
        best = k;
        if (other <= 0)
            break;
        most = own / other;
    }
    return best;
}

/* --- how long trouble lasts ------------------------------------------------------------------- */

/* What each of the ranks but the first `far` loses beyond the others of these: into `centered`, by rank then block. */
static void center_rest(const struct table *table, uint32_t far)
{
    uint32_t rest = table->nranks - far;

    for (uint32_t b = 0; b < table->nblocks; b++) {
        table->means[b] = 0;
        for (uint32_t k = far; k < table->nranks; k++) {
            double value = table->blocks[(size_t)b * table->nranks + table->scores[k].rank];

            table->means[b] += isnan(value) ? 0 : value / rest;
        }
    }
    for (uint32_t k = far; k < table->nranks; k++) {
        double *row = &table->centered[(size_t)(k - far) * table->nblocks], sum = 0;

        for (uint32_t b = 0; b < table->nblocks; b++) {
            double own = table->blocks[(size_t)b * table->nranks + table->scores[k].rank];

            row[b] = isnan(own) ? 0 : own - (rest > 1 ? table->means[b] : 0);
            sum += row[b];
        }
        for (uint32_t b = 0; b < table->nblocks; b++)
            row[b] -= sum / table->nblocks;
    }
}

/* The correlation over `count` rows together. */
static double correlation(const struct table *table, const double *rows, uint32_t count, uint32_t lag)
{
    double sum = 0, squares = 0;

    for (uint32_t k = 0; k < count; k++, rows += table->nblocks)
        for (uint32_t b = 0; b < table->nblocks; b++) {
            squares += rows[b] * rows[b];
            sum += b + lag < table->nblocks ? rows[b] * rows[b + lag] : 0;
        }
    return squares > 0 ? sum / squares : 0;
}

/* For how many blocks in a row what a rank loses hangs together, of the ranks but the first `far`: of all together,
 * and of one where that is more than chance among so many. */
static uint32_t lasts(const struct table *table, uint32_t far)
{
    uint32_t rest = table->nranks - far, lag = 1;
    double together = CORRELATED + DEVIATIONS / sqrt((double)table->nblocks * rest);
    double alone = (DEVIATIONS_ONE + sqrt(2 * log(rest))) / sqrt(table->nblocks);

    center_rest(table, far);
    while (lag < table->nblocks && correlation(table, table->centered, rest, lag) > together)
        lag++;
    for (uint32_t k = 0; k < rest; k++)
        while (lag < table->nblocks &&
               correlation(table, &table->centered[(size_t)k * table->nblocks], 1, lag) > fmax(alone, together))
            lag++;
    return lag;
}

/* --- chance ----------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void permute(double *values, uint32_t count, uint64_t *state)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t k = (uint32_t)(((next_random(state) >> 32) * i) >> 32);
        double moving = values[k];

        values[k] = values[i - 1];
        values[i - 1] = moving;
    }
}

/* Has no permutation a score as large? */
static int is_beyond_chance(struct table *table, double score)
{
    uint64_t state = 1;

    for (uint32_t n = 0; n < PERMUTATIONS; n++) {
        for (uint32_t b = 0; b < table->nblocks; b++)
            permute(&table->centered[(size_t)b * table->nranks], table->nranks, &state);
        for (uint32_t r = 0; r < table->nranks; r++)
            if (score_of(table, r, 0).score >= score)
                return 0;
    }
    return 1;
}

/* One after another, the largest first, each without those before it. Those found must be far above all others. */
static uint32_t count_beyond_chance(struct table *table, uint32_t far)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < far; i++) {
        center_all(table);
        if (!is_beyond_chance(table, score_of(table, table->scores[i].rank, 0).score))
            break;
        count = i + 1 == far || table->scores[i].score >= GAP * table->scores[i + 1].score ? i + 1 : count;
        for (uint32_t b = 0; b < table->nblocks; b++)
            table->blocks[(size_t)b * table->nranks + table->scores[i].rank] = NAN;
    }
    return count;
}

static int by_time(const void *left, const void *right)
{
    const struct dft_outlier *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return by_score(left, right);
}

static uint32_t find(struct table *table)
{
    uint32_t width = (table->nintervals + BLOCKS - 1) / BLOCKS, far, length;

    make_blocks(table, width);
    score_all(table);
    far = count_far(table);
    length = far ? lasts(table, far) : 1;
    if (length > 1) {
        make_blocks(table, 2 * length * width);
        score_all(table);
        far = count_far(table);
    } else {
        center_all(table);
    }
    for (uint32_t i = 0; i < far; i++)
        table->scores[i] = trim(table, table->scores[i]);
    if (far && far < table->nranks &&
        table->scores[far - 1].score >= table->alone * (table->nranks - 1) / table->nranks &&
        table->scores[far - 1].score >= GAP_ALONE * table->scores[far].score)
        return far;
    return count_beyond_chance(table, far);
}

int dft_outliers_find(const double *values, uint32_t nranks, uint32_t nintervals, const uint64_t *hosts, double alone,
                      struct dft_outlier *found, uint32_t *count)
{
    struct table table = {.values = values, .hosts = hosts, .nranks = nranks, .nintervals = nintervals, .alone = alone};
    size_t size = (size_t)nranks * (nintervals < BLOCKS ? nintervals : BLOCKS);
    int rc = -ENOMEM;

    *count = 0;
    if (nranks < 2 || !nintervals)
        return 0;
    table.blocks = malloc(size * sizeof *table.blocks);
    table.centered = malloc(size * sizeof *table.centered);
    table.means = malloc(BLOCKS * sizeof *table.means);
    table.scores = malloc(nranks * sizeof *table.scores);
    if (table.blocks && table.centered && table.means && table.scores) {
        *count = find(&table);
        memcpy(found, table.scores, *count * sizeof *found);
        qsort(found, *count, sizeof *found, by_time);
        rc = 0;
    }
    free(table.blocks);
    free(table.centered);
    free(table.means);
    free(table.scores);
    return rc;
}
