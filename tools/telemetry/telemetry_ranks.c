/* SPDX-License-Identifier: MIT */
/* Telemetry across ranks: which samples count, how clocks of ranks are aligned, and what is
 * noted. */
#include "base/array.h"
#include "telemetry/telemetry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKEW_INTERVALS 5 /* a start is noted when it is farther off than this many intervals */
#define SPIKE_BYTES    (INT64_C(64) << 20)

/* A sample that counts, before it goes into a series. */
struct picked {
    const struct dft_telemetry_event *event;
    const char *host;
    size_t number; /* position in the input */
};

static int add_note(struct dft_cross_rank *result, char *text)
{
    if (!text || DFT_ARRAY_RESERVE(result->notes, result->notes_capacity, result->nnotes + 1)) {
        free(text);
        return -ENOMEM;
    }
    for (size_t i = 0; i < result->nnotes; i++)
        if (!strcmp(result->notes[i], text)) {
            free(text);
            return 0;
        }
    result->notes[result->nnotes++] = text;
    return 0;
}

static int note(struct dft_cross_rank *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int note(struct dft_cross_rank *result, const char *format, ...)
{
    va_list arguments;
    char *text;
    int n;

    va_start(arguments, format);
    n = vasprintf(&text, format, arguments);
    va_end(arguments);
    return add_note(result, n < 0 ? NULL : text);
}

/* Adds a note such as "TEXT: 1, 3." */
static int note_ranks(struct dft_cross_rank *result, const char *text, const uint32_t *ranks, uint32_t count)
{
    size_t length;
    char *line = NULL;
    FILE *out = open_memstream(&line, &length);

    if (!out)
        return -ENOMEM;
    fprintf(out, "%s: ", text);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%s%" PRIu32, i ? ", " : "", ranks[i]);
    fputc('.', out);
    if (fclose(out)) {
        free(line);
        return -ENOMEM;
    }
    return add_note(result, line);
}

/* --- selection -------------------------------------------------------------------------------- */

/* Finds the most common job of the samples, as number of its text + 1; 0: none. */
static int common_job(const struct dft_telemetry *telemetry, uint32_t *job, int *several)
{
    struct seen {
        uint64_t count;
        size_t first;
    } *seen = calloc(telemetry->ntexts + 1u, sizeof *seen);

    *job = 0;
    *several = 0;
    if (!seen)
        return -ENOMEM;
    for (size_t i = 0; i < telemetry->count; i++) {
        const struct dft_telemetry_event *event = &telemetry->events[i];

        if (!event->is_sample || !event->job)
            continue;
        if (!seen[event->job].count++)
            seen[event->job].first = i;
    }
    for (uint32_t j = 1; j <= telemetry->ntexts; j++) {
        if (!seen[j].count)
            continue;
        *several = *job != 0;
        if (!*job || seen[j].count > seen[*job].count ||
            (seen[j].count == seen[*job].count && seen[j].first < seen[*job].first))
            *job = j;
    }
    free(seen);
    return 0;
}

static int select_samples(const struct dft_telemetry *telemetry, struct dft_cross_rank *result, struct picked *picked,
                          size_t *count)
{
    uint32_t job;
    size_t samples = 0;
    int several, rc = common_job(telemetry, &job, &several);

    *count = 0;
    if (rc)
        return rc;
    for (size_t i = 0; i < telemetry->count; i++) {
        const struct dft_telemetry_event *event = &telemetry->events[i];

        samples += event->is_sample;
        if (event->is_sample && (!several || event->job == job))
            picked[(*count)++] = (struct picked){event, telemetry->texts[event->host - 1], i};
    }
    if (samples < telemetry->count)
        rc = note(result, "Ignored non-sample events during cross-rank analysis.");
    if (!telemetry->count)
        rc = note(result, "No telemetry events were provided.");
    if (!rc && !samples)
        rc = note(result, "No sample telemetry events were available for distributed analysis.");
    if (!rc && several)
        rc = note(result, "Multiple job_id values were observed; filtering to the most common value.");
    result->job = job ? telemetry->texts[job - 1] : NULL;
    return rc;
}

/* --- merge ------------------------------------------------------------------------------------ */

static int by_rank_and_time(const void *left, const void *right)
{
    const struct picked *a = left, *b = right;
    int order;

    if (a->event->rank != b->event->rank)
        return a->event->rank < b->event->rank ? -1 : 1;
    if (a->event->time_ns != b->event->time_ns)
        return a->event->time_ns < b->event->time_ns ? -1 : 1;
    if (a->event->pid != b->event->pid)
        return a->event->pid < b->event->pid ? -1 : 1;
    order = strcmp(a->host, b->host);
    return order ? order : a->number < b->number ? -1 : 1;
}

struct first_seen {
    size_t number;
    uint32_t position;
};

static int by_first_seen(const void *left, const void *right)
{
    const struct first_seen *a = left, *b = right;

    return a->number < b->number ? -1 : 1;
}

static int make_series(struct dft_cross_rank *result, struct picked *picked, size_t count)
{
    struct first_seen *seen;
    uint32_t ranks = 0;

    qsort(picked, count, sizeof *picked, by_rank_and_time);
    for (size_t i = 0; i < count; i++)
        ranks += !i || picked[i].event->rank != picked[i - 1].event->rank;
    result->samples = malloc((count + 1) * sizeof *result->samples);
    result->series = calloc(ranks + 1u, sizeof *result->series);
    result->appearance = calloc(ranks + 1u, sizeof *result->appearance);
    seen = calloc(ranks + 1u, sizeof *seen);
    if (!result->samples || !result->series || !result->appearance || !seen) {
        free(seen);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        struct dft_metric_series *series = &result->series[result->nseries];

        result->samples[i] = (struct dft_sample){picked[i].event->time_ns, picked[i].event->used_bytes};
        if (!i || picked[i].event->rank != picked[i - 1].event->rank) {
            seen[result->nseries] = (struct first_seen){picked[i].number, result->nseries};
            *series = (struct dft_metric_series){.rank = picked[i].event->rank, .samples = &result->samples[i]};
            result->nseries++;
        }
        series = &result->series[result->nseries - 1];
        series->count++;
        if (picked[i].number < seen[result->nseries - 1].number)
            seen[result->nseries - 1].number = picked[i].number;
    }
    qsort(seen, ranks, sizeof *seen, by_first_seen);
    for (uint32_t i = 0; i < ranks; i++)
        result->appearance[i] = seen[i].position;
    free(seen);
    return 0;
}

static int by_number(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

static int64_t median(int64_t *numbers, size_t count)
{
    if (!count)
        return 0;
    qsort(numbers, count, sizeof *numbers, by_number);
    if (count % 2)
        return numbers[count / 2];
    return numbers[count / 2 - 1] + (numbers[count / 2] - numbers[count / 2 - 1]) / 2;
}

static int find_interval(struct dft_cross_rank *result, const struct picked *picked, size_t count)
{
    int64_t *numbers = malloc((count + 1) * sizeof *numbers);
    size_t n = 0, claims = 0;

    if (!numbers)
        return -ENOMEM;
    for (size_t i = 1; i < count; i++)
        if (picked[i].event->rank == picked[i - 1].event->rank &&
            picked[i].event->time_ns > picked[i - 1].event->time_ns)
            numbers[n++] = picked[i].event->time_ns - picked[i - 1].event->time_ns;
    for (size_t i = 0; !n && i < count; i++) {
        int64_t ms = picked[i].event->interval_ms;

        if (ms > 0)
            numbers[claims++] = ms < DFT_TELEMETRY_TIME_END / 1000000 ? ms * 1000000 : DFT_TELEMETRY_TIME_END;
    }
    result->interval_ns = median(numbers, n ? n : claims);
    free(numbers);
    return 0;
}

static int by_world(const void *left, const void *right)
{
    const struct dft_telemetry_event *a = (*(const struct picked *const *)left)->event,
                                     *b = (*(const struct picked *const *)right)->event;

    if (a->world_size != b->world_size)
        return a->world_size < b->world_size ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Finds the size above 1 that most samples claim; the first seen wins a tie. The size is never
 * below the highest rank. */
static int find_world(struct dft_cross_rank *result, const struct picked *picked, size_t count)
{
    const struct picked **claims = malloc((count + 1) * sizeof *claims);
    const struct dft_telemetry_event *first_of_most = NULL;
    size_t n = 0, most = 0, run;

    if (!claims)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (picked[i].event->world_size > 1)
            claims[n++] = &picked[i];
    qsort(claims, n, sizeof *claims, by_world);
    for (size_t i = 0; i < n; i += run) {
        for (run = 1; i + run < n && claims[i + run]->event->world_size == claims[i]->event->world_size; run++)
            ;
        if (run > most || (run == most && claims[i]->event < first_of_most)) {
            most = run;
            first_of_most = claims[i]->event;
        }
    }
    result->world_size = first_of_most ? first_of_most->world_size : 1;
    if (result->series[result->nseries - 1].rank >= result->world_size)
        result->world_size = result->series[result->nseries - 1].rank + 1;
    free(claims);
    return 0;
}

static int find_missing(struct dft_cross_rank *result)
{
    uint32_t next = 0;

    result->missing = malloc((result->world_size + 1u) * sizeof *result->missing);
    if (!result->missing)
        return -ENOMEM;
    for (uint32_t rank = 0; rank < result->world_size; rank++)
        if (next < result->nseries && result->series[next].rank == rank)
            next++;
        else
            result->missing[result->nmissing++] = rank;
    return result->nmissing ? note_ranks(result, "Missing rank data for ranks", result->missing, result->nmissing) : 0;
}

/* The anchor is the first series: rank 0, or the lowest rank present. */
static int align(struct dft_cross_rank *result)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && i < result->nseries; i++) {
        struct dft_metric_series *series = &result->series[i];
        int64_t offset = series->samples->time_ns - result->series->samples->time_ns;

        series->offset_ns = offset;
        if (result->interval_ns > 0 && offset && (llabs(offset) - 1) / SKEW_INTERVALS >= result->interval_ns)
            rc = note(result,
                      "Rank %" PRIu32 " starts %" PRId64
                      " ns from the anchor; first-sample alignment may be approximate.",
                      series->rank, offset);
    }
    return rc;
}

/* --- first cause ------------------------------------------------------------------------------ */

static int find_cause(struct dft_cross_rank *result)
{
    int rc = dft_first_cause_find(result->series, result->nseries, SPIKE_BYTES, result->interval_ns,
                                  result->nmissing != 0, &result->cause);

    if (rc)
        return rc;
    if (result->nseries < 2)
        return note(result, "At least two ranks are required for cross-rank first-cause analysis.");
    if (result->cause.nshort)
        rc = note_ranks(result, "Some ranks have fewer than two samples and cannot contribute to spike detection",
                        result->cause.short_ranks, result->cause.nshort);
    if (!rc && !result->cause.candidates)
        rc = note(result, "No qualifying cross-rank spikes were detected.");
    if (!rc && result->cause.candidates == 1)
        rc = note(result, "Only one rank produced a qualifying spike; confidence is limited.");
    return rc;
}

static int analyse(struct dft_cross_rank *result, struct picked *picked, size_t count)
{
    int rc = make_series(result, picked, count);

    if (!rc)
        rc = find_interval(result, picked, count);
    if (!rc)
        rc = find_world(result, picked, count);
    if (!rc)
        rc = find_missing(result);
    if (!rc)
        rc = align(result);
    return rc ? rc : find_cause(result);
}

int dft_cross_rank_analyse(const struct dft_telemetry *telemetry, struct dft_cross_rank *result)
{
    struct picked *picked = malloc((telemetry->count + 1) * sizeof *picked);
    size_t count = 0;
    int rc;

    memset(result, 0, sizeof *result);
    if (!picked)
        return -ENOMEM;
    rc = select_samples(telemetry, result, picked, &count);
    if (!rc && count)
        rc = analyse(result, picked, count);
    free(picked);
    return rc;
}

void dft_cross_rank_fini(struct dft_cross_rank *result)
{
    dft_first_cause_fini(&result->cause);
    for (size_t i = 0; i < result->nnotes; i++)
        free(result->notes[i]);
    free(result->notes);
    free(result->series);
    free(result->appearance);
    free(result->missing);
    free(result->samples);
    memset(result, 0, sizeof *result);
}
