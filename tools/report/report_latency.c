/* SPDX-License-Identifier: MIT */
/* Histograms of durations for the page: of calls by process, time, region and file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/order.h"
#include "query/answer_pages.h"
#include "query/query.h"
#include "report/report.h"

#define ROWS   400000u            /* of one table */
#define EVENTS UINT64_C(20000000) /* with more, only what aggregates answer is asked */

/* One bin of a group. */
struct row {
    uint32_t first, call, bin; /* first: value of the other dimension */
    uint64_t count;
};

static const struct {
    enum dft_by by;
    enum dft_dimension dimension;
    int needs_events;
    const char *what;
} tables[DFT_REPORT_LATENCIES] = {
    {DFT_BY_PROCESS, DFT_DIMENSION_WHO, 0, "process"},
    {DFT_BY_REGION, DFT_DIMENSION_REGION, 0, "region"},
    {DFT_BY_TIME, DFT_DIMENSION_TIME, 1, "time"},
    {DFT_BY_FILE, DFT_DIMENSION_FILE, 1, "file"},
};

static uint32_t value_of(const struct dft_report *report, const struct dft_answer *answer,
                         const struct dft_group *group, enum dft_by by)
{
    const struct dft_group_key *key = &group->key;
    uint64_t time = answer->query.base_ns + key->time * answer->query.width_ns;

    switch (by) {
    case DFT_BY_PROCESS:
        return report->who_of[answer->process_group[key->process_group - 1]->number];
    case DFT_BY_REGION:
        return dft_report_region(report, key->region);
    case DFT_BY_TIME:
        return time > report->base_ns ? (uint32_t)((time - report->base_ns) / report->width_ns) : 0;
    default:
        return dft_report_value(&report->file_of, key->file);
    }
}

static int by_place(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    DFT_ORDER(a->first, b->first);
    DFT_ORDER(a->call, b->call);
    DFT_ORDER(a->bin, b->bin);
    return 0;
}

/* Puts rows of one place together. Returns how many there are then. */
static size_t merge(struct row *rows, size_t count)
{
    size_t n = 0;

    if (count)
        qsort(rows, count, sizeof *rows, by_place);
    for (size_t i = 0; i < count; i++) {
        if (n && !by_place(&rows[n - 1], &rows[i]))
            rows[n - 1].count += rows[i].count;
        else
            rows[n++] = rows[i];
    }
    return n;
}

static size_t list_rows(const struct dft_report *report, const struct dft_answer *answer, enum dft_by by,
                        struct row *rows)
{
    size_t n = 0;

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        uint32_t first = value_of(report, answer, group, by);
        uint32_t call = dft_report_call(report, group->key.cat, group->key.name, group->key.class);

        if (by == DFT_BY_PROCESS && first == DFT_WHO_MAX)
            continue;
        for (uint32_t b = 0; b < group->nbins; b++)
            rows[n++] = (struct row){first, call, group->bins[b].bin, group->bins[b].count};
    }
    return n;
}

static void put_rows(struct dft_report *report, unsigned table, const struct row *rows, size_t count, unsigned sub)
{
    struct dft_report_part *part = &report->latencies[report->nlatencies];
    struct dft_page_data *data = &report->data;

    part->dimensions = 1u << tables[table].dimension | 1u << DFT_DIMENSION_CALL;
    part->sub = sub;
    snprintf(part->table, sizeof part->table, "latency%u", report->nlatencies++);
    dft_data_begin_table(data, part->table, count);
    dft_data_begin_column(data, dft_dimension_name(tables[table].dimension), DFT_DATA_DELTA);
    for (size_t i = 0; i < count; i++)
        dft_data_put(data, rows[i].first);
    dft_data_begin_column(data, dft_dimension_name(DFT_DIMENSION_CALL), DFT_DATA_UNSIGNED);
    for (size_t i = 0; i < count; i++)
        dft_data_put(data, rows[i].call);
    dft_data_begin_column(data, "bin", DFT_DATA_UNSIGNED);
    for (size_t i = 0; i < count; i++)
        dft_data_put(data, rows[i].bin);
    dft_data_begin_column(data, "n", DFT_DATA_UNSIGNED);
    for (size_t i = 0; i < count; i++)
        dft_data_put(data, rows[i].count);
}

/* With too many rows, the bins of an octave stand together. */
static int put_answer(struct dft_report *report, unsigned table, const struct dft_answer *answer)
{
    size_t count = answer->nbins + 1;
    struct row *rows = calloc(count, sizeof *rows);
    unsigned sub = 32;
    int rc = 0;

    if (!rows)
        return -ENOMEM;
    count = merge(rows, list_rows(report, answer, tables[table].by, rows));
    if (count > ROWS) {
        for (size_t i = 0; i < count; i++)
            rows[i].bin = rows[i].bin < 64 ? rows[i].bin : rows[i].bin / 32 * 32;
        count = merge(rows, count);
        sub = 1;
    }
    if (count > ROWS)
        rc = dft_report_thinned(report, "latency", 0, count, "durations are not told apart by %s: too many histograms",
                                tables[table].what);
    else
        put_rows(report, table, rows, count, sub);
    if (!rc && sub == 1 && count <= ROWS)
        rc = dft_report_thinned(report, "latency", count, answer->nbins,
                                "durations by %s are known by powers of two: their percentiles are approximate",
                                tables[table].what);
    free(rows);
    return rc;
}

static int ask(struct dft_report *report, unsigned table)
{
    struct dft_query query = {.by = {(uint8_t)tables[table].by, DFT_BY_CAT, DFT_BY_NAME, DFT_BY_CLASS},
                              .nby = 4,
                              .percentiles = 1,
                              .bins = 1,
                              .bounded = 1};
    struct dft_answer answer = {.count = 0};
    int rc;

    query.width_ns = tables[table].by == DFT_BY_TIME ? report->width_ns : 0;
    rc = dft_query_run(report->source, &report->options->filter, &query, &answer);
    if (rc == -E2BIG)
        return dft_report_thinned(report, "latency", 0, 0,
                                  "durations are not told apart by %s: their histograms take too much memory",
                                  tables[table].what);
    if (rc)
        return rc;
    if (answer.has_percentiles)
        rc = put_answer(report, table, &answer);
    dft_answer_fini(&answer);
    return rc;
}

/* Are there too many events for a question that only events answer? */
static int is_too_much(const struct dft_report *report)
{
    return report->events > EVENTS || dft_source_kept(report->source) != DFT_KEPT_ALL;
}

int dft_report_latency(struct dft_report *report)
{
    int rc = 0;

    for (unsigned i = 0; i < DFT_REPORT_LATENCIES && !rc; i++) {
        if (!tables[i].needs_events || !is_too_much(report))
            rc = ask(report, i);
        else
            rc = dft_report_thinned(report, "latency", 0, 0, "durations are not told apart by %s: %s", tables[i].what,
                                    report->events > EVENTS ? "there are too many events"
                                                            : "events were not kept for all calls");
    }
    return rc;
}
