/* SPDX-License-Identifier: MIT */
/* The summary for programs: JSON and CSV. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/command_line.h"
#include "format/end.h"
#include "query/file_facts.h"
#include "query/answer_source.h"
#include "summary/histograms_output.h"
#include "command/write_jobs.h"
#include "base/write_json.h"
#include "base/write_text.h"
#include "object/source_notes.h"
#include "base/names.h"
#include "job/job_losses.h"
#include "job/job_state.h"

static const char *const keep_names[DFT_KEEP_COUNT] = {"events", "selected", "aggregates", "nothing"};

/* That of the first process, its words with spaces between them. */
static void json_command(struct dft_json *json, const struct dft_job *job)
{
    struct dft_text command = job->first ? job->first->process.command : (struct dft_text){0};
    char *text = command.length ? dft_command_line(command) : NULL;

    dft_json_string(json, "command", text);
    free(text);
}

static void json_job(struct dft_json *json, const struct dft_job *job)
{
    json_command(json, job);
    dft_json_uint(json, "processes", job->processes);
    dft_json_uint(json, "pids", job->pids);
    dft_json_uint(json, "ranks", job->ranks);
    dft_json_uint(json, "world_size", job->world_size);
    dft_json_array(json, "missing_ranks");
    for (uint32_t i = 0; i < job->nmissing; i++)
        dft_json_uint(json, NULL, job->missing_ranks[i]);
    dft_json_end_array(json);
    dft_json_uint(json, "start_ns", job->start_ns);
    dft_json_seconds(json, "start_s", job->start_ns);
    dft_json_uint(json, "wall_ns", job->wall_ns);
    dft_json_uint(json, "threads", job->threads);
    dft_json_uint(json, "threads_ns", job->threads_ns);
    dft_json_object(json, "kept_ns");
    for (unsigned keep = 0; keep < DFT_KEEP_COUNT; keep++)
        dft_json_uint(json, keep_names[keep], job->kept_ns[keep]);
    dft_json_uint(json, "unknown", job->kept_ns[DFT_KEEP_COUNT]);
    dft_json_end_object(json);
    dft_job_json_pauses(json, job);
}

static void json_losses(struct dft_json *json, const struct dft_summary *summary)
{
    const struct dft_job *job = &summary->job;

    dft_job_json_dropped(json, job);
    dft_json_uint(json, "arguments_cut", job->args_cut);
    dft_json_uint(json, "killed", job->killed);
    dft_fates_json(json, &job->fates, summary->source);
    dft_json_uint(json, "running", job->running);
    dft_json_uint(json, "unknown", job->unseen);
    dft_json_uint(json, "without_end", job->endless);
    dft_json_uint(json, "events_missing", job->missing);
    dft_json_uint(json, "unread", dft_job_unread(job, summary->source));
    dft_json_uint(json, "recovered", job->recovered);
    dft_json_uint(json, "overhead_ns", job->overhead_ns);
}

static void json_key(struct dft_json *json, const struct dft_answer *answer, const struct dft_group *group,
                     enum dft_by by)
{
    const char *name = dft_by_name(by);
    struct dft_key_value value;

    dft_group_value(answer, group, by, &value);
    if (by == DFT_BY_MOUNT && value.type == DFT_KEY_TEXT) {
        struct dft_text type = dft_file_facts_type(answer->files, value.text);

        if (type.length)
            dft_json_text(json, "fstype", type.bytes, type.length);
        else
            dft_json_null(json, "fstype");
    }
    if (by == DFT_BY_REGION && group->key.region) {
        struct dft_text category, region;
        char text[18];

        dft_names_call(dft_answer_names(answer, group->key.region), group->key.region, &category, &region, text);
        dft_json_text(json, "region_cat", category.bytes, category.length);
    }
    if (value.type == DFT_KEY_NULL)
        dft_json_null(json, name);
    else if (value.type == DFT_KEY_UINT)
        dft_json_uint(json, name, value.number);
    else
        dft_json_text(json, name, value.text.bytes, value.text.length);
}

static void json_strides(struct dft_json *json, const struct dft_group *group)
{
    if (!group->has_strides) {
        dft_json_null(json, "strides");
        return;
    }
    dft_json_array(json, "strides");
    for (unsigned i = 0; i < 2 && group->strides[i].count; i++) {
        dft_json_object(json, NULL);
        dft_json_int(json, "bytes", group->strides[i].bytes);
        dft_json_uint(json, "count", group->strides[i].count);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

void dft_summary_json_keys(struct dft_json *json, const struct dft_answer *answer, const struct dft_group *group)
{
    for (unsigned i = 0; i < answer->query.nby; i++)
        json_key(json, answer, group, (enum dft_by)answer->query.by[i]);
}

void dft_summary_json_group(struct dft_json *json, const struct dft_answer *answer, const struct dft_group *group)
{
    dft_json_object(json, NULL);
    dft_summary_json_keys(json, answer, group);
    for (int c = 0; c < DFT_COLUMNS; c++) {
        const char *name = dft_column_name((enum dft_column)c);
        int64_t value;

        if (!dft_column_value(answer, group, (enum dft_column)c, &value))
            dft_json_null(json, name);
        else if (c == DFT_COLUMN_SELF)
            dft_json_int(json, name, value);
        else
            dft_json_uint(json, name, (uint64_t)value);
    }
    json_strides(json, group);
    dft_json_end_object(json);
}

static void json_notes(struct dft_json *json, struct dft_source *source)
{
    size_t count;
    char *const *notes = dft_source_notes(source, &count);

    dft_json_strings(json, "notes", notes, count);
}

/* The object that is written, and what its head is about. */
struct document {
    FILE *out;
    struct dft_json json;
    struct dft_summary *summary;
    struct dft_unseen unseen;
};

static void json_head(void *context, const struct dft_answer *answer)
{
    struct document *document = context;
    struct dft_json *json = &document->json;
    struct dft_summary *summary = document->summary;

    dft_json_init(json, document->out, 1);
    dft_json_object(json, NULL);
    json_job(json, &summary->job);
    dft_job_json_in_flight(json, &summary->job, summary->source);
    dft_json_jobs(json, summary->source);
    dft_json_runs(json, summary->source);
    dft_json_uint(json, "events", answer->events);
    dft_json_uint(json, "events_kept", answer->events_kept);
    json_losses(json, summary);
    dft_unseen_json(json, &document->unseen);
    if (answer->query.width_ns)
        dft_json_uint(json, "width_ns", answer->query.width_ns);
    dft_json_string(json, "source", dft_answer_source_name(answer->source));
    dft_json_uint(json, "calls_from_events", answer->placed_events);
    dft_json_uint(json, "calls_from_aggregates", answer->placed_rows);
    dft_summary_nothing(summary, answer);
}

/* The answer of --by. */
static int json_groups(struct document *document)
{
    struct dft_summary *summary = document->summary;
    struct dft_answer answer;
    struct dft_query_request requests[2] = {
        {summary->query, {.column = summary->options->sort, .top = summary->options->top}, &answer}};
    struct dft_query *query = &requests[0].query;
    int rc;

    query->percentiles = query->busy_union = query->busy = query->accesses = query->patterns = query->members = 1;
    rc = dft_query_many(summary->source, &summary->options->filter, requests,
                        dft_unseen_put(&document->unseen, requests, 1));
    if (rc)
        return rc;
    rc = dft_unseen_take(&document->unseen);
    if (rc)
        goto out;
    json_head(document, &answer);
    dft_json_array(&document->json, "groups");
    do
        for (uint32_t i = 0; i < answer.count; i++)
            dft_summary_json_group(&document->json, &answer, &answer.groups[i]);
    while ((rc = dft_answer_next(&answer)) > 0);
    dft_json_end_array(&document->json);
out:
    dft_answer_fini(&answer);
    return rc;
}

int dft_summary_json(FILE *out, struct dft_summary *summary)
{
    struct document document = {.out = out, .summary = summary};
    int rc = dft_unseen_collect(summary, &document.unseen);

    if (!rc)
        rc = summary->all ? dft_summary_json_all(&document.json, summary, &document.unseen, json_head, &document)
                          : json_groups(&document);
    dft_unseen_fini(&document.unseen);
    if (!rc && summary->hist)
        rc = dft_histograms_json(&document.json, summary);
    if (rc)
        return rc;
    json_notes(&document.json, summary->source);
    dft_json_end_object(&document.json);
    putc('\n', out);
    return 0;
}

static void csv_group(const struct dft_answer *answer, const struct dft_group *group)
{
    for (unsigned i = 0; i < answer->query.nby; i++) {
        struct dft_key_value value;

        dft_group_value(answer, group, (enum dft_by)answer->query.by[i], &value);
        if (value.type == DFT_KEY_UINT)
            printf("%llu", (unsigned long long)value.number);
        else if (value.type == DFT_KEY_TEXT)
            dft_csv_text(stdout, value.text.bytes, value.text.length);
        putchar(',');
    }
    for (int c = 0; c < DFT_COLUMNS; c++) {
        int64_t value;

        if (dft_column_value(answer, group, (enum dft_column)c, &value)) {
            if (c == DFT_COLUMN_SELF)
                printf("%lld", (long long)value);
            else
                printf("%llu", (unsigned long long)value);
        }
        putchar(',');
    }
    for (unsigned i = 0; i < 2 && group->has_strides && group->strides[i].count; i++)
        printf("%s%lld:%llu", i ? " " : "", (long long)group->strides[i].bytes,
               (unsigned long long)group->strides[i].count);
    putchar('\n');
}

/* One table; an empty field is what JSON calls null. */
int dft_summary_csv(struct dft_summary *summary)
{
    struct dft_query query = summary->query;
    struct dft_answer answer;
    int rc;

    query.percentiles = query.busy_union = query.busy = query.accesses = query.patterns = query.members = 1;
    rc = dft_summary_ask(summary, &query, summary->options->sort, summary->options->top, 0, &answer);
    if (rc)
        return rc;
    for (unsigned i = 0; i < answer.query.nby; i++)
        printf("%s,", dft_by_name((enum dft_by)answer.query.by[i]));
    for (int c = 0; c < DFT_COLUMNS; c++)
        printf("%s,", dft_column_name((enum dft_column)c));
    puts("strides");
    do
        for (uint32_t i = 0; i < answer.count; i++)
            csv_group(&answer, &answer.groups[i]);
    while ((rc = dft_answer_next(&answer)) > 0);
    dft_summary_nothing(summary, &answer);
    dft_answer_fini(&answer);
    return rc;
}
