/* SPDX-License-Identifier: MIT */
/* Owns the verdict on a number that repetitions of two sides have. */
#include "compare/repeated.h"

#include <math.h>
#include <stdlib.h>

#include "compare/rank_test.h"

#define OUTLIER_FAR  5u    /* times the range of the rest */
#define OUTLIER_PART 4u    /* of the median, one in so many */
#define SURE         0.01  /* a chance */
#define SURE_FEW     0.001 /* ... that takes the noise for lognormal */
#define NARROW       0.05  /* parts of the median */
#define WIDE         0.25
#define SOME         0.9 /* a confidence: that of three and three */

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Finds the outlier of sorted values: the end that is further from its neighbour. */
static void find_outlier(const uint64_t *values, uint32_t n, struct dft_repeated *of)
{
    uint64_t below = values[1] - values[0], above = values[n - 1] - values[n - 2];
    uint64_t gap = above > below ? above : below;
    uint64_t low = above > below ? values[0] : values[1], high = above > below ? values[n - 2] : values[n - 1];

    if (gap / OUTLIER_FAR < high - low || gap < of->median / OUTLIER_PART || !gap)
        return;
    of->outlier = above > below ? 1 : -1;
    of->rest_low = low;
    of->rest_high = high;
}

struct dft_repeated dft_repeated_of(uint64_t *values, uint32_t n)
{
    struct dft_repeated of = {.n = n};

    if (!n)
        return of;
    qsort(values, n, sizeof *values, ascending);
    of.low = of.rest_low = values[0];
    of.high = of.rest_high = values[n - 1];
    of.median = values[(n - 1) / 2] + (values[n / 2] - values[(n - 1) / 2]) / 2;
    if (n >= 3)
        find_outlier(values, n, &of);
    return of;
}

double dft_repeated_apart(uint32_t n, uint32_t m)
{
    uint32_t least = n < m ? n : m;
    double ways = 1;

    for (uint32_t i = 1; i <= least; i++)
        ways = ways * (n + m - least + i) / i;
    return 2 / ways;
}

/* --- so few runs that ranks cannot tell ------------------------------------------------------- */

/* How often |t| is as large, by the series of Abramowitz and Stegun (26.7.3 and 26.7.4). */
static double student(double t, uint32_t freedom)
{
    double angle = atan(fabs(t) / sqrt(freedom)), c = cos(angle), term = 1, sum = 1;
    uint32_t odd = freedom % 2;

    for (uint32_t k = 2 + odd; k + 2 <= freedom; k += 2) {
        term *= c * c * (k - 1) / k;
        sum += term;
    }
    if (!odd)
        return 1 - sin(angle) * sum;
    return 1 - (angle + (freedom > 1 ? sin(angle) * c * sum : 0)) * 2 / acos(-1);
}

static double mean_of(const uint64_t *values, uint32_t n, double *squares)
{
    double mean = 0;

    for (uint32_t i = 0; i < n; i++)
        mean += log1p((double)values[i]) / n;
    for (uint32_t i = 0; i < n; i++)
        *squares += pow(log1p((double)values[i]) - mean, 2);
    return mean;
}

static double few_chance(const struct dft_repeated_sides *sides, int *higher)
{
    const uint64_t *a = sides->of[0], *b = sides->of[1];
    uint32_t n = sides->n[0], m = sides->n[1];
    double squares = 0, off, error;

    *higher = a[n - 1] < b[0] ? 1 : b[m - 1] < a[0] ? -1 : 0;
    if (!*higher || n + m < 3)
        return 1;
    off = mean_of(b, m, &squares) - mean_of(a, n, &squares);
    error = sqrt(squares / (n + m - 2) * (1.0 / n + 1.0 / m));
    return error > 0 ? fmax(0, student(off / error, n + m - 2)) : 0;
}

double dft_repeated_chance(const struct dft_repeated_sides *sides, int *higher)
{
    *higher = 0;
    if (!sides->n[0] || !sides->n[1])
        return 1;
    if (dft_repeated_apart(sides->n[0], sides->n[1]) > DFT_REPEATED_LEVEL)
        return few_chance(sides, higher);
    return dft_rank_chance(sides->of[0], sides->n[0], sides->of[1], sides->n[1], higher);
}

/* --- the interval, and how sure --------------------------------------------------------------- */

static int ascending_signed(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

static int64_t difference(uint64_t a, uint64_t b)
{
    uint64_t off = a < b ? b - a : a - b;
    int64_t size = off > INT64_MAX ? INT64_MAX : (int64_t)off;

    return a < b ? size : -size;
}

struct dft_repeated_interval dft_repeated_interval(const struct dft_repeated_sides *sides)
{
    int64_t pairs[DFT_REPETITIONS_MAX * DFT_REPETITIONS_MAX];
    struct dft_repeated_interval interval;
    uint32_t count = 0, trim = dft_rank_trim(sides->n[0], sides->n[1], &interval.confidence);

    for (uint32_t i = 0; i < sides->n[0]; i++)
        for (uint32_t k = 0; k < sides->n[1]; k++)
            pairs[count++] = difference(sides->of[0][i], sides->of[1][k]);
    qsort(pairs, count, sizeof *pairs, ascending_signed);
    interval.low = pairs[trim];
    interval.high = pairs[count - 1 - trim];
    return interval;
}

enum dft_repeated_sure dft_repeated_sure_beyond(const struct dft_repeated_sides *sides, double chance)
{
    uint32_t least = sides->n[0] < sides->n[1] ? sides->n[0] : sides->n[1];
    int by_ranks = dft_repeated_apart(sides->n[0], sides->n[1]) <= DFT_REPEATED_LEVEL;
    int is_sure = chance <= (by_ranks ? SURE : SURE_FEW);

    if (least >= 3)
        return is_sure ? DFT_REPEATED_HIGH : DFT_REPEATED_MEDIUM;
    return least == 2 && is_sure ? DFT_REPEATED_MEDIUM : DFT_REPEATED_LOW;
}

enum dft_repeated_sure dft_repeated_sure_within(const struct dft_repeated_interval *interval, uint64_t median)
{
    double most = fmax(fabs((double)interval->low), fabs((double)interval->high));

    if (most <= NARROW * (double)median && interval->confidence >= 1 - DFT_REPEATED_LEVEL)
        return DFT_REPEATED_HIGH;
    return most <= WIDE * (double)median && interval->confidence >= SOME ? DFT_REPEATED_MEDIUM : DFT_REPEATED_LOW;
}

const char *dft_repeated_sure_name(enum dft_repeated_sure sure)
{
    static const char *const names[] = {"low", "medium", "high"};

    return names[sure];
}
