/* SPDX-License-Identifier: MIT */
/* What a file of `--format perfetto` has beside events: its head, names, a notice, counter tracks. */
#include "export/export_perfetto_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void dft_perfetto_begin_metadata(struct dft_perfetto *p, const char *name, uint32_t pid, uint32_t tid)
{
    dft_json_object(&p->json, NULL);
    dft_json_string(&p->json, "name", name);
    dft_json_string(&p->json, "ph", "M");
    dft_json_uint(&p->json, "pid", pid);
    dft_json_uint(&p->json, "tid", tid);
    dft_json_object(&p->json, "args");
}

void dft_perfetto_end_metadata(struct dft_perfetto *p)
{
    dft_json_end_object(&p->json);
    dft_json_end_object(&p->json);
}

static void put_metadata(void *context, const struct dft_shown *shown)
{
    struct dft_perfetto *p = context;
    FILE *out = p->export->out;
    char text[32];

    fputs(shown->first ? "" : ",\n", out);
    p->has_names = 1;
    dft_json_init_unicode(&p->json, out);
    if (shown->is_thread) {
        dft_perfetto_begin_metadata(p, "thread_name", shown->pid, shown->tid);
        snprintf(text, sizeof(text), "thread %u", shown->tid);
        dft_json_string(&p->json, "name", shown->tid == shown->pid ? "main thread" : text);
        dft_perfetto_end_metadata(p);
        return;
    }
    dft_perfetto_begin_metadata(p, "process_name", shown->pid, shown->pid);
    dft_json_text(&p->json, "name", shown->name, strlen(shown->name));
    dft_perfetto_end_metadata(p);
    if (shown->rank < 0)
        return;
    fputs(",\n", out);
    dft_json_init_unicode(&p->json, out);
    dft_perfetto_begin_metadata(p, "process_sort_index", shown->pid, shown->pid);
    dft_json_int(&p->json, "sort_index", shown->rank);
    dft_perfetto_end_metadata(p);
}

static void put_lacks(struct dft_perfetto *p, const struct dft_plan *plan, uint64_t max_bytes, const char *sentence)
{
    struct dft_json *json = &p->json;

    dft_json_string(json, "note", sentence);
    dft_json_uint(json, "max_bytes", max_bytes);
    if (plan->below_ns && plan->below_ns != UINT64_MAX)
        dft_json_uint(json, "left_out_below_ns", plan->below_ns);
    dft_json_uint(json, "left_out_slices", plan->slices);
    dft_json_uint(json, "left_out_time_ns", plan->time_ns);
    dft_json_uint(json, "left_out_links", plan->links);
    dft_json_uint(json, "left_out_samples", plan->samples);
}

void dft_perfetto_put_head(struct dft_perfetto *p, const struct dft_plan *plan, uint64_t max_bytes,
                           const char *sentence)
{
    uint64_t width_ns = plan->width_ns ? plan->width_ns : p->tracks.width_ns;
    struct dft_json *json = &p->json;
    char origin[24];

    dft_json_init_unicode(json, p->export->out);
    snprintf(origin, sizeof(origin), "%" PRIu64, p->origin_ns);
    fputs("{\"displayTimeUnit\": \"ns\",\n\"otherData\": ", p->export->out);
    dft_json_object(json, NULL);
    dft_json_string(json, "producer", "dftmerge export --format perfetto");
    dft_json_string(json, "origin_ns", origin);
    dft_json_seconds(json, "origin_s", p->origin_ns);
    if (width_ns && width_ns != UINT64_MAX)
        dft_json_uint(json, "counter_width_ns", width_ns);
    if (dft_plan_lacks(plan))
        put_lacks(p, plan, max_bytes, sentence);
    dft_json_end_object(json);
    fputs(",\n\"traceEvents\": [\n", p->export->out);
}

int dft_perfetto_put_metadata(struct dft_perfetto *p)
{
    return dft_pids_visit(&p->pids, put_metadata, p);
}

static void begin_line(struct dft_perfetto *p)
{
    fputs(",\n", p->export->out);
    dft_json_init_unicode(&p->json, p->export->out);
}

void dft_perfetto_put_notice(struct dft_perfetto *p, const struct dft_plan *plan, const char *sentence)
{
    uint64_t from_ns = p->export->filter->from_ns, to_ns = p->export->filter->to_ns;
    uint32_t pid = 0;

    from_ns = from_ns > p->origin_ns ? from_ns : p->origin_ns;
    to_ns = to_ns < p->end_ns ? to_ns : p->end_ns;
    if (!dft_plan_lacks(plan))
        return;
    for (uint32_t i = 0; i < p->pids.count; i++)
        pid = p->pids.shown[i] > pid ? p->pids.shown[i] : pid;
    pid++;
    fputs(p->has_names ? ",\n" : "", p->export->out);
    dft_json_init_unicode(&p->json, p->export->out);
    dft_perfetto_begin_metadata(p, "process_name", pid, pid);
    dft_json_string(&p->json, "name", "about this file");
    dft_perfetto_end_metadata(p);
    begin_line(p);
    dft_perfetto_begin_metadata(p, "process_sort_index", pid, pid);
    dft_json_int(&p->json, "sort_index", -1);
    dft_perfetto_end_metadata(p);
    begin_line(p);
    dft_json_object(&p->json, NULL);
    dft_json_string(&p->json, "name", sentence);
    dft_json_string(&p->json, "cat", "dftmerge");
    dft_json_string(&p->json, "ph", "X");
    dft_json_microseconds(&p->json, "ts", from_ns - p->origin_ns);
    dft_json_uint(&p->json, "pid", pid);
    dft_json_uint(&p->json, "tid", pid);
    dft_json_microseconds(&p->json, "dur", to_ns > from_ns ? to_ns - from_ns : 0);
    dft_json_end_object(&p->json);
}

void dft_perfetto_put_end(struct dft_perfetto *p)
{
    fputs("\n]}\n", p->export->out);
}

/* A point of a counter track. Tracks stand behind all events, each in order of time. */
static void put_point(void *context, uint32_t process, struct dft_text category, struct dft_text name,
                      const struct dft_track_point *point)
{
    struct dft_perfetto *p = context;
    struct dft_json *json = &p->json;

    fputs(",\n", p->export->out);
    dft_json_init_unicode(json, p->export->out);
    dft_json_object(json, NULL);
    dft_json_text(json, "name", name.bytes, name.length);
    dft_json_text(json, "cat", category.bytes, category.length);
    dft_json_string(json, "ph", "C");
    dft_json_microseconds(json, "ts", point->time_ns > p->origin_ns ? point->time_ns - p->origin_ns : 0);
    dft_json_uint(json, "pid", p->pids.shown[process]);
    dft_json_object(json, "args");
    dft_json_double(json, "value", point->value);
    dft_json_end_object(json);
    dft_json_end_object(json);
}

void dft_perfetto_put_tracks(struct dft_perfetto *p, const struct dft_tracks *tracks)
{
    dft_tracks_visit(tracks, p->export->names, put_point, p);
}
