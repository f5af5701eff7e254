/* SPDX-License-Identifier: MIT */
/* A comparison for programs: JSON and CSV. */
#include "compare/compare_data.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare/compare_verdict.h"
#include "base/write_json.h"
#include "base/write_text.h"
#include "compare/compare_alone.h"
#include "compare/compare_match.h"
#include "compare/compare_runs.h"
#include "compare/comparison.h"
#include "job/job_state.h"
#include "object/source_notes.h"

static const enum dft_compared tables[] = {DFT_COMPARED_TOTAL, DFT_COMPARED_CALLS, DFT_COMPARED_REGIONS,
                                           DFT_COMPARED_FILES, DFT_COMPARED_RANKS};
#define TABLES (sizeof tables / sizeof *tables)

static void json_paths(struct dft_json *json, const struct dft_compared_run *run)
{
    dft_json_array(json, "paths");
    for (int i = 0; i < run->options.source.npaths; i++)
        dft_json_string(json, NULL, run->options.source.paths[i]);
    dft_json_end_array(json);
}

static void json_repetitions(struct dft_json *json, const struct dft_comparison *comparison, int side)
{
    const struct dft_compared_items *totals = &comparison->tables[DFT_COMPARED_TOTAL];
    static const struct dft_measured_item nothing;

    dft_json_array(json, "repetitions");
    for (uint32_t number = 1; number <= comparison->counts[side]; number++) {
        const struct dft_compared_run *run = dft_compared_run_of(comparison, side, number);
        const struct dft_measured_item *measured = totals->count ? &totals->measured[run - comparison->runs] : &nothing;

        dft_json_object(json, NULL);
        json_paths(json, run);
        dft_json_uint(json, "wall_ns", run->job.wall_ns);
        dft_json_uint(json, "time_ns", measured->value[DFT_MEASURE_TIME]);
        dft_json_uint(json, "count", measured->value[DFT_MEASURE_COUNT]);
        dft_json_uint(json, "bytes", measured->value[DFT_MEASURE_BYTES]);
        dft_json_bool(json, "lossy", run->lossy);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

/* A side: its run in the middle, and all of them. */
static void json_side(struct dft_json *json, const struct dft_comparison *comparison, int side)
{
    const struct dft_compared_run *run = &comparison->runs[side];

    dft_json_object(json, side ? "b" : "a");
    json_paths(json, run);
    dft_json_uint(json, "processes", run->job.processes);
    dft_json_uint(json, "ranks", run->job.ranks);
    dft_json_uint(json, "wall_ns", run->job.wall_ns);
    dft_json_uint(json, "events", run->calls.events);
    dft_json_bool(json, "lossy", run->lossy);
    json_repetitions(json, comparison, side);
    dft_json_end_object(json);
}

static int json_verdict(struct dft_json *json, const struct dft_comparison *comparison)
{
    struct dft_verdict verdict = {0};
    int rc = dft_compare_verdict(comparison, &verdict);

    if (!rc) {
        dft_json_string(json, "headline", verdict.headline);
        dft_json_string(json, "evidence", verdict.evidence);
        dft_json_string(json, "sure", dft_repeated_sure_name(verdict.sure));
        dft_json_string(json, "why_sure", verdict.reason);
    }
    dft_verdict_fini(&verdict);
    return rc;
}

/* [lowest, highest] of the repetitions of a side */
static void json_range(struct dft_json *json, const char *key, const struct dft_change *change, int side, int is_wanted)
{
    if (!is_wanted || !change->known[side]) {
        dft_json_null(json, key);
        return;
    }
    dft_json_array(json, key);
    dft_json_uint(json, NULL, change->low[side]);
    dft_json_uint(json, NULL, change->high[side]);
    dft_json_end_array(json);
}

/* Both are null for what is not tested. */
static void json_tested(struct dft_json *json, const struct dft_change *change)
{
    dft_json_known_double(json, "chance", change->is_tested, change->chance);
    if (!change->is_tested) {
        dft_json_null(json, "interval");
        return;
    }
    dft_json_object(json, "interval");
    dft_json_int(json, "low", change->interval.low);
    dft_json_int(json, "high", change->interval.high);
    dft_json_double(json, "confidence", change->interval.confidence);
    dft_json_end_object(json);
}

static void json_changes(struct dft_json *json, const struct dft_comparison *comparison, const struct dft_item *item)
{
    int is_repeated = dft_compared_is_repeated(comparison);

    for (int m = 0; m < DFT_MEASURES; m++) {
        const struct dft_change *change = &item->changes[m];
        double a = (double)change->value[0], b = (double)change->value[1];

        dft_json_object(json, dft_measure_name((enum dft_measure)m));
        for (int side = 0; side < 2; side++)
            dft_json_known_uint(json, side ? "b" : "a", change->known[side], change->value[side]);
        if (change->known[0] && change->known[1] && change->value[0])
            dft_json_double(json, "percent", 100 * (b - a) / a);
        else
            dft_json_null(json, "percent");
        dft_json_string(json, "spread", dft_spread_name(change->spread));
        json_range(json, "a_range", change, 0, is_repeated);
        json_range(json, "b_range", change, 1, is_repeated);
        dft_json_string(json, "sure", is_repeated ? dft_repeated_sure_name(change->sure) : NULL);
        json_tested(json, change);
        dft_json_end_object(json);
    }
}

static void json_alone(struct dft_json *json, const struct dft_comparison *comparison, enum dft_compared table,
                       const struct dft_item *item)
{
    const struct dft_process *process = dft_compare_alone_process(comparison, table, item);
    const struct dft_query *query = &dft_compare_answer(&comparison->runs[item->alone.side], table)->query;

    if (!process) {
        dft_json_null(json, "alone");
        return;
    }
    dft_json_object(json, "alone");
    dft_json_string(json, "in", item->alone.side ? "b" : "a");
    dft_json_uint(json, "count", item->alone.count);
    dft_json_uint(json, "of", item->alone.processes);
    dft_json_known_int(json, "rank", process->rank >= 0, process->rank);
    dft_json_uint(json, "pid", process->pid);
    dft_json_double(json, "times", item->alone.times);
    dft_json_double(json, "cost_ns", item->alone.cost_ns);
    dft_json_double(json, "other_ns", item->alone.other_ns);
    dft_json_known_uint(json, "since_ns", item->alone.has_since && query->width_ns,
                        query->base_ns + item->alone.since_slice * query->width_ns);
    dft_json_bool(json, "sure", item->alone.sure);
    dft_json_end_object(json);
}

static void json_name(struct dft_json *json, const struct dft_comparison *comparison, const char *key, uint64_t id)
{
    char buffer[18];
    struct dft_text text = dft_compare_text(comparison, id, buffer);

    dft_json_text(json, key, text.bytes, text.length);
}

static int json_item(struct dft_json *json, const struct dft_comparison *comparison, enum dft_compared table,
                     const struct dft_item *item, int with_table)
{
    char *text;
    uint32_t length;

    dft_json_object(json, NULL);
    if (with_table)
        dft_json_string(json, "table", dft_compared_name(table));
    if (table == DFT_COMPARED_CALLS || table == DFT_COMPARED_REGIONS) {
        json_name(json, comparison, "cat", item->key.cat);
        json_name(json, comparison, "name", item->key.name);
    } else if (table == DFT_COMPARED_FILES) {
        if (dft_compare_pattern(comparison, item->key.file, &text, &length))
            return -ENOMEM;
        dft_json_text(json, "pattern", text, length);
        free(text);
    } else if (table == DFT_COMPARED_RANKS) {
        dft_json_string(json, "ranks", comparison->rank_groups[item->key.process_group - 1].label);
    }
    json_changes(json, comparison, item);
    json_alone(json, comparison, table, item);
    dft_json_end_object(json);
    return 0;
}

/* Number of lines that are shown: --top. */
static uint32_t shown(const struct dft_comparison *comparison, const struct dft_compared_items *items)
{
    uint64_t top = comparison->runs[0].options.top;

    return top && top < items->count ? (uint32_t)top : items->count;
}

static void json_directories(struct dft_json *json, const struct dft_comparison *comparison)
{
    dft_json_array(json, "directories");
    for (uint32_t i = 0; i < comparison->ndirectories; i++) {
        const struct dft_text *text = comparison->directories[i].text;

        dft_json_object(json, NULL);
        dft_json_text(json, "a", text[0].bytes, text[0].length);
        dft_json_text(json, "b", text[1].bytes, text[1].length);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

static int json_failures(struct dft_json *json, const struct dft_comparison *comparison)
{
    int rc = 0;

    dft_json_known_double(json, "fail_over", comparison->fail_over >= 0, comparison->fail_over);
    dft_json_string(json, "metric", dft_measure_name(comparison->metric));
    dft_json_array(json, "worse");
    for (uint32_t i = 0; !rc && i < comparison->nfailures; i++) {
        const struct dft_failure *failure = &comparison->failures[i];

        rc = json_item(json, comparison, failure->table, &comparison->tables[failure->table].items[failure->item], 1);
    }
    dft_json_end_array(json);
    return rc;
}

/* "B, run 2: not recorded: 61 % of the time" */
static void json_unrecorded(struct dft_json *json, const struct dft_comparison *comparison)
{
    for (int side = 0; side < 2; side++)
        for (uint32_t number = 1; number <= comparison->counts[side]; number++) {
            char run[32], *text;

            if (comparison->counts[side] > 1)
                snprintf(run, sizeof run, "%s, run %" PRIu32 ": ", side ? "B" : "A", number);
            else
                snprintf(run, sizeof run, "%s: ", side ? "B" : "A");
            text = dft_job_unrecorded_text(run, &dft_compared_run_of(comparison, side, number)->job);
            if (text)
                dft_json_string(json, NULL, text);
            free(text);
        }
}

static void json_notes(struct dft_json *json, const struct dft_comparison *comparison)
{
    dft_json_array(json, "notes");
    for (uint32_t run = 0; run < comparison->nruns; run++) {
        size_t count;
        char *const *notes = dft_source_notes(comparison->runs[run].source, &count);

        for (size_t i = 0; i < count; i++)
            dft_json_string(json, NULL, notes[i]);
    }
    json_unrecorded(json, comparison);
    dft_json_end_array(json);
}

int dft_compare_json(const struct dft_comparison *comparison)
{
    struct dft_json json;
    int rc;

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    rc = json_verdict(&json, comparison);
    json_side(&json, comparison, 0);
    json_side(&json, comparison, 1);
    dft_json_bool(&json, "same", dft_compare_is_same(comparison));
    dft_json_string(&json, "not_compared", dft_compare_left_out(comparison));
    json_directories(&json, comparison);
    rc = rc ? rc : json_failures(&json, comparison);
    for (unsigned t = 0; !rc && t < TABLES; t++) {
        const struct dft_compared_items *items = &comparison->tables[tables[t]];

        dft_json_array(&json, dft_compared_name(tables[t]));
        for (uint32_t i = 0; !rc && i < shown(comparison, items); i++)
            rc = json_item(&json, comparison, tables[t], &items->items[items->order[i]], 0);
        dft_json_end_array(&json);
    }
    json_notes(&json, comparison);
    dft_json_end_object(&json);
    putchar('\n');
    return rc;
}

/* --- CSV -------------------------------------------------------------------------------------- */

static void csv_name(const struct dft_comparison *comparison, uint64_t id)
{
    char buffer[18];
    struct dft_text text = dft_compare_text(comparison, id, buffer);

    putchar(',');
    dft_csv_text(stdout, text.bytes, text.length);
}

static int csv_item(const struct dft_comparison *comparison, enum dft_compared table, const struct dft_item *item)
{
    const char *ranks = item->key.process_group ? comparison->rank_groups[item->key.process_group - 1].label : "";
    char *text;
    uint32_t length;

    fputs(dft_compared_name(table), stdout);
    csv_name(comparison, item->key.cat);
    csv_name(comparison, item->key.name);
    putchar(',');
    if (item->key.file) {
        if (dft_compare_pattern(comparison, item->key.file, &text, &length))
            return -ENOMEM;
        dft_csv_text(stdout, text, length);
        free(text);
    }
    putchar(',');
    for (; *ranks; ranks++) /* a comma would part the field: spaces, as nothing has to be quoted then */
        putchar(*ranks == ',' ? ' ' : *ranks);
    for (int m = 0; m < DFT_MEASURES; m++) {
        const struct dft_change *change = &item->changes[m];

        for (int side = 0; side < 2; side++) {
            putchar(',');
            if (change->known[side])
                printf("%llu", (unsigned long long)change->value[side]);
        }
        printf(",%s", dft_spread_name(change->spread));
    }
    putchar('\n');
    return 0;
}

int dft_compare_csv(const struct dft_comparison *comparison)
{
    int rc = 0;

    fputs("table,cat,name,pattern,ranks", stdout);
    for (int m = 0; m < DFT_MEASURES; m++) {
        const char *name = dft_measure_name((enum dft_measure)m);

        printf(",%s_a,%s_b,%s_spread", name, name, name);
    }
    putchar('\n');
    for (unsigned t = 0; t < TABLES; t++) {
        const struct dft_compared_items *items = &comparison->tables[tables[t]];

        for (uint32_t i = 0; !rc && i < shown(comparison, items); i++)
            rc = csv_item(comparison, tables[t], &items->items[items->order[i]]);
    }
    return rc;
}
