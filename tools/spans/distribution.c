/* SPDX-License-Identifier: MIT */
/* Counts distributions. */
#include "spans/distribution.h"

#include <errno.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/write_text.h"

static int by_value(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    DFT_ORDER(*a, *b);
    return 0;
}

int64_t dft_spans_mean(__int128 sum, uint64_t count)
{
    __int128 twice = 2 * (__int128)count, up = 2 * sum + (__int128)count;

    return count ? (int64_t)(up / twice - (up % twice < 0)) : 0;
}

static int64_t percentile(const int64_t *values, size_t count, unsigned p)
{
    return values[(count * p + 99) / 100 - 1];
}

int dft_spans_distribution_make(struct dft_spans_distribution *distribution, const struct dft_spans_point *points,
                                size_t count)
{
    int64_t *values = malloc((count + 1) * sizeof *values);
    __int128 sum = 0;

    *distribution = (struct dft_spans_distribution){.n = count};
    if (!values)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        values[i] = points[i].y;
        sum += values[i];
    }
    qsort(values, count, sizeof *values, by_value);
    if (count)
        *distribution = (struct dft_spans_distribution){count,
                                                        values[0],
                                                        dft_spans_mean(sum, count),
                                                        percentile(values, count, 50),
                                                        percentile(values, count, 95),
                                                        percentile(values, count, 99),
                                                        values[count - 1]};
    free(values);
    return 0;
}

void dft_spans_distribution_json(struct dft_json *json, const struct dft_spans_distribution *distribution)
{
    int known = distribution->n > 0;

    dft_json_uint(json, "n", distribution->n);
    dft_json_known_int(json, "min_ns", known, distribution->min);
    dft_json_known_int(json, "mean_ns", known, distribution->mean);
    dft_json_known_int(json, "p50_ns", known, distribution->p50);
    dft_json_known_int(json, "p95_ns", known, distribution->p95);
    dft_json_known_int(json, "p99_ns", known, distribution->p99);
    dft_json_known_int(json, "max_ns", known, distribution->max);
}

const char *dft_spans_duration_text(char *text, int64_t ns)
{
    *text = '-';
    dft_text_ns(text + (ns < 0), ns < 0 ? (uint64_t)-ns : (uint64_t)ns);
    return text;
}

void dft_spans_distribution_text(char text[DFT_SPANS_SENTENCE], const struct dft_spans_distribution *distribution)
{
    char count[DFT_TEXT_ROOM], numbers[6][DFT_TEXT_ROOM + 1];

    snprintf(
        text, DFT_SPANS_SENTENCE, "n %s, min %s, mean %s, p50 %s, p95 %s, p99 %s, max %s",
        dft_text_count(count, distribution->n), dft_spans_duration_text(numbers[0], distribution->min),
        dft_spans_duration_text(numbers[1], distribution->mean), dft_spans_duration_text(numbers[2], distribution->p50),
        dft_spans_duration_text(numbers[3], distribution->p95), dft_spans_duration_text(numbers[4], distribution->p99),
        dft_spans_duration_text(numbers[5], distribution->max));
}
