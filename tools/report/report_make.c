/* SPDX-License-Identifier: MIT */
/* The page of one run: what its head says, and the tables of all steps. */
#include "report/report_make.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command_line.h"
#include "base/array.h"
#include "job/job_state.h"
#include "overlap/overlap_output.h"
#include "report/report_cubes.h"
#include "report/report_dimensions.h"
#include "report/report_latency.h"
#include "report/report_samples.h"
#include "summary/summary.h"

#define OVERLAP_EVENTS UINT64_C(10000000) /* with more, overlap is estimated from aggregates */
#define SCOPES         1000u              /* epochs and steps of the page, at most */

int dft_report_thinned(struct dft_report *report, const char *what, uint64_t kept, uint64_t of, const char *format, ...)
{
    struct dft_thinned thinned = {.what = what, .kept = kept, .of = of};
    va_list list;
    int n;

    va_start(list, format);
    n = vasprintf(&thinned.text, format, list);
    va_end(list);
    return n < 0 ? -ENOMEM : DFT_ARRAY_PUSH(report->thinned, report->thinned_capacity, report->nthinned, thinned);
}

/* --- what other commands say ------------------------------------------------------------------- */

/* The object of `summary --all --json`, which the caller frees. */
static int make_summary(struct dft_report *report, char **text)
{
    struct dft_summary summary = {
        .source = report->source, .options = report->options, .all = 1, .job = report->job, .limits = *report->limits};
    const char *wrong;
    size_t length;
    FILE *out = open_memstream(text, &length);
    int rc = out ? dft_query_parse(&summary.query, "call", &wrong) : -ENOMEM;

    if (!rc)
        rc = dft_summary_json(out, &summary);
    if (out && fclose(out) && !rc)
        rc = -ENOMEM;
    return rc;
}

static void put_strip(struct dft_report *report, const struct dft_overlap_strip *strip)
{
    static const char *const names[] = {"compute", "io", "hidden", "exposed", "idle"};
    struct dft_page_data *data = &report->data;

    dft_data_begin_table(data, "strip", strip->count);
    for (unsigned c = 0; c < sizeof names / sizeof *names; c++) {
        dft_data_begin_column(data, names[c], DFT_DATA_UNSIGNED);
        for (uint32_t i = 0; i < strip->count; i++) {
            const struct dft_overlap_bin *bin = &strip->bins[i];
            uint64_t exposed = bin->io_ns - bin->hidden_ns, busy = bin->compute_ns + exposed;
            uint64_t idle = bin->alive_ns > busy ? bin->alive_ns - busy : 0;
            const uint64_t values[] = {bin->compute_ns, bin->io_ns, bin->hidden_ns, exposed, idle};

            dft_data_put(data, values[c]);
        }
    }
}

/* The object of `overlap --json`, which the caller frees. */
static int make_overlap(struct dft_report *report, char **text)
{
    struct dft_overlap_strip strip = {.base_ns = report->base_ns, .width_ns = report->width_ns, .count = report->bins};
    struct dft_overlap_request request = {.source = report->source,
                                          .filter = &report->options->filter,
                                          .patterns = dft_region_usual,
                                          .strip = &strip,
                                          .from =
                                              report->events > OVERLAP_EVENTS ? DFT_OVERLAP_ROWS : DFT_OVERLAP_BEST};
    struct dft_overlap overlap = {0};
    size_t length;
    FILE *out = open_memstream(text, &length);
    int rc;

    strip.bins = calloc(strip.count + 1u, sizeof *strip.bins);
    rc = out && strip.bins ? dft_overlap_make(&request, &overlap) : -ENOMEM;
    if (!rc)
        dft_overlap_json(out, &overlap, report->source, SCOPES);
    if (!rc && overlap.is_exact && overlap.has_compute)
        put_strip(report, &strip);
    if (out && fclose(out) && !rc)
        rc = -ENOMEM;
    dft_overlap_fini(&overlap);
    free(strip.bins);
    return rc;
}

/* --- the head ---------------------------------------------------------------------------------- */

/* A value that is JSON already. */
static void put_raw(struct dft_json *json, const char *key, const char *text)
{
    DFT_JSON_BEFORE(json, key);
    dft_line_bytes(&json->line, text, strlen(text));
}

static void put_title(struct dft_json *json, const struct dft_report *report)
{
    char *text = report->job.first ? dft_command_line(report->job.first->process.command) : NULL;

    dft_json_string(json, "title", text ? text : "");
    free(text);
}

static void put_times(struct dft_json *json, const struct dft_report *report)
{
    char base[24];
    uint64_t start = report->job.start_ns;

    snprintf(base, sizeof base, "%llu", (unsigned long long)report->base_ns);
    dft_json_string(json, "base_ns", base);
    dft_json_uint(json, "start_ns", start > report->base_ns ? start - report->base_ns : 0);
    dft_json_uint(json, "wall_ns", report->job.wall_ns);
    dft_json_uint(json, "from_ns", report->from_ns - report->base_ns);
    dft_json_uint(json, "to_ns", report->to_ns - report->base_ns);
    dft_json_object(json, "time");
    dft_json_uint(json, "width_ns", report->width_ns);
    dft_json_uint(json, "count", report->bins);
    dft_json_end_object(json);
}

static void put_sizes(struct dft_json *json)
{
    dft_json_array(json, "sizes");
    for (uint8_t class = 0; class < DFT_SIZE_CLASSES; class ++) {
        dft_json_object(json, NULL);
        dft_json_uint(json, "from", dft_size_class_low(class));
        dft_json_known_uint(json, "to", class + 1 < (int)DFT_SIZE_CLASSES,
                            class < 2 ? 0 : dft_size_class_low((uint8_t)(class + 1)) - 1);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

static int put_losses(struct dft_json *json, struct dft_report *report)
{
    char *text = NULL;
    int rc = dft_job_incomplete(&text, &report->job, report->source);

    if (rc)
        return rc;
    dft_json_bool(json, "is_complete", !*text);
    dft_json_string(json, "lost", text);
    free(text);
    return 0;
}

/* What is in flight, as a sentence. */
static int put_state(struct dft_json *json, struct dft_report *report)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int any = out ? dft_job_in_flight(out, &report->job, report->source) : 0;

    if (!out || fclose(out))
        return -ENOMEM;
    dft_json_string(json, "in_flight", any ? text : NULL);
    free(text);
    return 0;
}

static void put_thinned(struct dft_json *json, const struct dft_report *report)
{
    dft_json_array(json, "thinned");
    for (size_t i = 0; i < report->nthinned; i++) {
        dft_json_object(json, NULL);
        dft_json_string(json, "what", report->thinned[i].what);
        dft_json_uint(json, "kept", report->thinned[i].kept);
        dft_json_uint(json, "of", report->thinned[i].of);
        dft_json_string(json, "text", report->thinned[i].text);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

static void put_parts(struct dft_json *json, const char *key, const struct dft_report_part *parts, uint32_t count)
{
    dft_json_array(json, key);
    for (uint32_t i = 0; i < count; i++) {
        dft_json_object(json, NULL);
        dft_dimensions_json(json, parts[i].dimensions);
        dft_json_string(json, "table", parts[i].table);
        if (parts[i].sub)
            dft_json_uint(json, "sub", parts[i].sub);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

static void put_samples(struct dft_json *json, const struct dft_report *report)
{
    if (report->has_heat) {
        dft_json_object(json, "heat");
        dft_json_string(json, "table", "heat");
        dft_json_uint(json, "rows", report->whos);
        dft_json_uint(json, "columns", report->heat_columns);
        dft_json_uint(json, "width_ns", report->width_ns * report->heat_fold);
        dft_json_end_object(json);
    } else {
        dft_json_null(json, "heat");
    }
    dft_json_object(json, "slices");
    dft_json_string(json, "table", "slices");
    dft_json_uint(json, "shortest_ns", report->slices.shortest_ns);
    dft_json_uint(json, "kept", report->slices.kept);
    dft_json_uint(json, "of", report->slices.of);
    dft_json_end_object(json);
    dft_json_object(json, "offsets");
    dft_json_string(json, "table", "offsets");
    dft_json_array(json, "files");
    for (uint32_t i = 0; i < report->noffset_files; i++) {
        dft_json_object(json, NULL);
        dft_json_uint(json, "f", dft_report_value(&report->file_of, report->offset_files[i]));
        dft_json_uint(json, "kept", report->offsets[i].kept);
        dft_json_uint(json, "of", report->offsets[i].of);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
    dft_json_end_object(json);
}

static int make_head(struct dft_report *report, uint64_t at, const char *summary, const char *overlap, char **head)
{
    struct dft_json json;
    size_t length;
    FILE *out = open_memstream(head, &length);
    int rc;

    if (!out)
        return -ENOMEM;
    dft_json_init(&json, out, 0);
    dft_json_object(&json, NULL);
    dft_json_string(&json, "name", report->name);
    put_title(&json, report);
    put_times(&json, report);
    dft_json_string(&json, "who", report->who_word);
    put_sizes(&json);
    put_raw(&json, "summary", summary);
    put_raw(&json, "overlap", overlap);
    put_raw(&json, "spans", report->spans ? report->spans : "null");
    rc = put_losses(&json, report);
    rc = rc ? rc : put_state(&json, report);
    dft_fates_json(&json, &report->job.fates, report->source);
    put_thinned(&json, report);
    put_parts(&json, "cubes", report->cubes, report->ncubes);
    put_parts(&json, "latency", report->latencies, report->nlatencies);
    put_samples(&json, report);
    dft_data_json(&json, &report->data, at);
    dft_json_end_object(&json);
    return fclose(out) ? -ENOMEM : rc;
}

int dft_report_make(struct dft_report *report, uint64_t at, char **head)
{
    char *summary = NULL, *overlap = NULL;
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(report->source, &count);
    int rc = dft_job_collect(&report->job, report->source);

    for (uint32_t i = 0; i < count; i++)
        report->events += processes[i].events;
    if (!rc) {
        dft_job_filter_flights(&report->job, report->source, &report->options->filter);
        rc = make_summary(report, &summary);
    }
    if (!rc)
        rc = dft_report_times(report);
    if (!rc)
        rc = dft_report_who(report);
    if (!rc)
        rc = dft_report_tops(report);
    if (!rc)
        rc = dft_report_cubes(report);
    if (!rc)
        rc = dft_report_people(report);
    if (!rc)
        rc = dft_report_latency(report);
    if (!rc)
        rc = dft_report_samples(report);
    if (!rc)
        rc = make_overlap(report, &overlap);
    if (!rc)
        rc = dft_data_status(&report->data);
    if (!rc)
        rc = make_head(report, at, summary, overlap, head);
    free(summary);
    free(overlap);
    return rc;
}

void dft_report_fini(struct dft_report *report)
{
    dft_job_fini(&report->job);
    dft_data_fini(&report->data);
    dft_map_fini(&report->call_of);
    dft_map_fini(&report->region_of);
    dft_map_fini(&report->file_of);
    dft_map_fini(&report->stack_of);
    free(report->who_of);
    free(report->row_of);
    free(report->heat);
    for (size_t i = 0; i < report->nthinned; i++)
        free(report->thinned[i].text);
    free(report->thinned);
}
