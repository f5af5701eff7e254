/* SPDX-License-Identifier: MIT */
/* Histograms of durations for the page, by call and what else it may filter by.
 *
 * Two tables by all of that are tried first, and answer everything. Where a run has too many
 * histograms for them, tables by one dimension beside the call take their place. */
#include "report/report_latency.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/order.h"
#include "query/answer_pages.h"
#include "query/query.h"
#include "report/report_cubes.h"
#include "report/report_make.h"

#define ROWS   300000u            /* of one table */
#define EVENTS UINT64_C(20000000) /* with more, only what aggregates answer is queried */
#define WHOLE  UINT64_C(4000000)  /* with more events, a table by all dimensions would be too large */

#define T (1u << DFT_DIMENSION_TIME)
#define P (1u << DFT_DIMENSION_WHO)
#define C (1u << DFT_DIMENSION_CALL)
#define G (1u << DFT_DIMENSION_REGION)
#define F (1u << DFT_DIMENSION_FILE)

/* One bin of a group. */
struct row {
    uint64_t key; /* dft_cell_key */
    uint32_t bin;
    uint64_t count;
    /* of the bin with the least (the longest) duration of a group: how far that lies in it, + 1 */
    uint64_t least, most;
};

struct table {
    unsigned dimensions;
    const char *what; /* of one with parts of the dimensions; NULL: of all */
};

static const struct table of_calls[] = {{T | P | C | G, NULL}, {P | C, "process"}, {C | G, "region"}, {T | C, "time"}};
static const struct table of_files[] = {{T | P | C | G | F, NULL}, {C | F, "file"}};

/* --- rows --------------------------------------------------------------------------------------- */

static int by_place(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    DFT_ORDER(a->key, b->key);
    DFT_ORDER(a->bin, b->bin);
    return 0;
}

/* Puts the durations of another row of the same place into a row. */
static void add_row(struct row *row, const struct row *more)
{
    row->count += more->count;
    if (more->least && (!row->least || more->least < row->least))
        row->least = more->least;
    row->most = more->most > row->most ? more->most : row->most;
}

/* Puts rows of one place together. Returns how many there are then. */
static size_t merge(struct row *rows, size_t count)
{
    size_t n = 0;

    if (count)
        qsort(rows, count, sizeof *rows, by_place);
    for (size_t i = 0; i < count; i++) {
        if (n && !by_place(&rows[n - 1], &rows[i]))
            add_row(&rows[n - 1], &rows[i]);
        else
            rows[n++] = rows[i];
    }
    return n;
}

static uint64_t place_in(uint64_t ns, uint32_t bin)
{
    uint64_t low = dft_bin_low(bin);

    return ns >= low && ns - low < dft_bin_width(bin) ? ns - low + 1 : 0;
}

static struct row make_row(const struct dft_group *group, uint32_t b, uint64_t key)
{
    const struct dft_metrics *metrics = &group->metrics;
    struct row row = {.key = key, .bin = group->bins[b].bin, .count = group->bins[b].count};

    if (!b && dft_metrics_knows_dur_min(metrics))
        row.least = place_in(metrics->dur_min, row.bin);
    if (b + 1 == group->nbins && dft_metrics_knows_dur_max(metrics))
        row.most = place_in(metrics->dur_max, row.bin);
    return row;
}

/* How many durations there are, and how many of them lie in groups of which not all are known. */
struct durations {
    uint64_t all, unknown;
};

/* A histogram with only some durations of its group would mislead: it is left out. */
static size_t list_rows(const struct dft_report *report, const struct dft_answer *answer, unsigned dimensions,
                        struct row *rows, struct durations *durations)
{
    uint32_t at[DFT_DIMENSIONS];
    size_t n = 0;

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        int is_known = group->p50 != DFT_PERCENTILE_UNKNOWN;

        dft_report_values(report, answer, group, at);
        if (at[DFT_DIMENSION_WHO] == DFT_WHO_MAX)
            continue;
        durations->all += group->metrics.samples;
        durations->unknown += is_known ? 0 : group->metrics.samples;
        for (uint32_t b = 0; is_known && b < group->nbins; b++)
            rows[n++] = make_row(group, b, dft_cell_key(dimensions, at));
    }
    return n;
}

/* The bins of an octave become its first one. */
static size_t thin_out(struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rows[i].bin = rows[i].bin < 64 ? rows[i].bin : rows[i].bin / 32 * 32;
        rows[i].least = rows[i].most = 0;
    }
    return merge(rows, count);
}

static void put_rows(struct dft_report *report, unsigned dimensions, const struct row *rows, size_t count, unsigned sub)
{
    struct dft_report_part *part = &report->latencies[report->nlatencies];
    struct dft_page_data *data = &report->data;
    char type = DFT_DATA_DELTA;

    *part = (struct dft_report_part){.dimensions = dimensions, .sub = sub};
    snprintf(part->table, sizeof part->table, "latency%u", report->nlatencies++);
    dft_data_begin_table(data, part->table, count);
    for (unsigned d = 0; d < DFT_DIMENSIONS; d++) {
        if (!(dimensions >> d & 1))
            continue;
        DFT_DATA_COLUMN(data, dft_dimension_name((enum dft_dimension)d), type, count,
                        dft_cell_value(dimensions, rows[i].key, (enum dft_dimension)d));
        type = DFT_DATA_UNSIGNED;
    }
    DFT_DATA_COLUMN(data, "bin", DFT_DATA_UNSIGNED, count, rows[i].bin);
    DFT_DATA_COLUMN(data, "n", DFT_DATA_UNSIGNED, count, rows[i].count);
    if (sub == 1)
        return;
    DFT_DATA_COLUMN(data, "least", DFT_DATA_UNSIGNED, count, rows[i].least);
    DFT_DATA_COLUMN(data, "most", DFT_DATA_UNSIGNED, count, rows[i].most);
}

/* --- tables -------------------------------------------------------------------------------------- */

static int leave_out(struct dft_report *report, const struct table *table, const char *why)
{
    return table->what
               ? dft_report_thinned(report, "latency", 0, 0, "durations are not told apart by %s: %s", table->what, why)
               : 0;
}

static int say_unknown(struct dft_report *report, const struct table *table, const struct durations *durations)
{
    uint64_t known = durations->all - durations->unknown;

    return durations->unknown
               ? dft_report_thinned(report, "latency", known, durations->all,
                                    "durations by call%s%s are known of %llu calls of %llu: percentiles are of these",
                                    table->what ? " and " : "", table->what ? table->what : "",
                                    (unsigned long long)known, (unsigned long long)durations->all)
               : 0;
}

/* Only a table of parts is thinned out. */
static int put_table(struct dft_report *report, const struct table *table, struct row *rows, size_t count)
{
    size_t all = count;
    unsigned sub = 32;

    if (count > ROWS && table->what) {
        count = thin_out(rows, count);
        sub = 1;
    }
    if (count > ROWS)
        return leave_out(report, table, "there are too many histograms");
    put_rows(report, table->dimensions, rows, count, sub);
    return sub == 1 ? dft_report_thinned(report, "latency", count, all,
                                         "durations by %s are known by powers of two: their percentiles are "
                                         "approximate",
                                         table->what)
                    : 0;
}

static int put_answer(struct dft_report *report, const struct table *table, const struct dft_answer *answer)
{
    struct row *rows = calloc(answer->nbins + 1, sizeof *rows);
    uint32_t before = report->nlatencies;
    struct durations durations = {0};
    size_t count;
    int rc;

    if (!rows)
        return -ENOMEM;
    count = merge(rows, list_rows(report, answer, table->dimensions, rows, &durations));
    if (durations.all && durations.unknown == durations.all)
        rc = leave_out(report, table, "aggregates do not know those of the part that is asked about");
    else
        rc = put_table(report, table, rows, count);
    if (!rc && report->nlatencies > before)
        rc = say_unknown(report, table, &durations);
    free(rows);
    return rc;
}

static struct dft_query question_of(const struct dft_report *report, unsigned dimensions)
{
    static const struct {
        unsigned dimension;
        uint8_t by;
    } keys[] = {{T, DFT_BY_TIME}, {P, DFT_BY_PROCESS}, {G, DFT_BY_REGION}, {F, DFT_BY_FILE}};
    struct dft_query query = {.by = {DFT_BY_CAT, DFT_BY_NAME, DFT_BY_CLASS},
                              .nby = 3,
                              .percentiles = 1,
                              .bins = 1,
                              .bounded = 1,
                              .width_ns = dimensions & T ? report->width_ns : 0};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (dimensions & keys[i].dimension)
            query.by[query.nby++] = keys[i].by;
    return query;
}

static int ask(struct dft_report *report, const struct table *table)
{
    const struct dft_query query = question_of(report, table->dimensions);
    struct dft_answer answer = {.count = 0};
    int rc = dft_query_run(report->source, &report->options->filter, &query, &answer);

    if (rc == -E2BIG)
        return leave_out(report, table, "their histograms take too much memory");
    if (rc)
        return rc;
    if (answer.has_percentiles)
        rc = put_answer(report, table, &answer);
    dft_answer_fini(&answer);
    return rc;
}

/* Asks for a table, unless only events answer and these are too many, or not there. */
static int try(struct dft_report *report, const struct table *table)
{
    int needs_events = (table->dimensions & (T | F)) != 0;

    if (needs_events && dft_source_kept(report->source) != DFT_KEPT_ALL)
        return leave_out(report, table, "events were not kept for all calls");
    if (needs_events && report->events > (table->what ? EVENTS : WHOLE))
        return leave_out(report, table, "there are too many events");
    return ask(report, table);
}

/* The first table answers what the others would. */
static int try_list(struct dft_report *report, const struct table *list, size_t count)
{
    uint32_t before = report->nlatencies;
    int rc = try(report, &list[0]);

    for (size_t i = 1; i < count && !rc && report->nlatencies - before < i; i++)
        rc = try(report, &list[i]);
    return rc;
}

int dft_report_latency(struct dft_report *report)
{
    int rc = try_list(report, of_calls, sizeof of_calls / sizeof *of_calls);

    return rc ? rc : try_list(report, of_files, sizeof of_files / sizeof *of_files);
}
