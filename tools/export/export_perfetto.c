/* SPDX-License-Identifier: MIT */
/* `--format perfetto`: one Chrome-trace JSON object, strict JSON, events in order of start.
 *
 * Events of one start wait until they are sorted (export_reorder.h). Times are microseconds with
 * three decimals after an origin. Nanoseconds thus survive readers that use doubles. The origin is
 * a string in otherData for the same reason. Counter tracks follow the events. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "command/event_text.h"
#include "export/export_perfetto.h"
#include "export/export_flows.h"
#include "export/export_reorder.h"
#include "export/export_pids.h"
#include "export/export_tracks.h"
#include "format/ops.h"
#include "source/source_names.h"

struct perfetto {
    struct dft_export *export;
    struct dft_json json;
    struct dft_pids pids;
    struct dft_flows flows;
    uint64_t origin_ns;
    struct dft_reorder reorder; /* events of one start */
    struct dft_tracks tracks;
};

/* --- one event -------------------------------------------------------------------------------- */

static void put_name(struct perfetto *p, const char *key, uint64_t id)
{
    char capacity[18];
    struct dft_text text;

    if (!id)
        return;
    text = dft_names_show(p->export->names, id, capacity);
    dft_json_text(&p->json, key, text.bytes, text.length);
}

/* Members of args must differ. The last of several arguments with one key counts. An I/O call has
 * members of its own, so its user arguments stand in an object of their own. */
static void put_user_arguments(struct perfetto *p, const struct dft_event_at *at)
{
    struct dft_text category, name;
    char capacity[18];

    for (uint32_t i = 0; i < at->nargs; i++) {
        if (!dft_export_is_last(at, i))
            continue;
        dft_names_call(p->export->names, at->args[i].key, &category, &name, capacity);
        dft_json_key(&p->json, name.bytes, name.length);
        dft_export_value(&p->json, &at->args[i]);
    }
}

static void put_call_arguments(struct perfetto *p, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;
    enum dft_class class = dft_op_class(at->op);
    struct dft_json *json = &p->json;

    put_name(p, "file", event->file);
    put_name(p, "file2", event->file2);
    if (event->fd >= 0)
        dft_json_int(json, "fd", event->fd);
    if (dft_export_has_result(at))
        dft_json_int(json, "ret", event->result);
    if (event->err && event->err != DFT_ERRNO_UNKNOWN)
        dft_json_uint(json, "errno", event->err);
    if (class == DFT_CLASS_READ || class == DFT_CLASS_WRITE) {
        dft_json_uint(json, "size", event->size);
        dft_json_uint(json, "bytes", dft_event_bytes(event, at->op));
    }
    if (event->offset >= 0)
        dft_json_int(json, "offset", event->offset);
    if (event->calls != 1)
        dft_json_uint(json, "calls", event->calls);
    if (event->flags)
        dft_json_uint(json, "flags", event->flags);
    if (event->mode)
        dft_json_uint(json, "mode", event->mode);
    if (event->bits & DFT_BIT_OPEN)
        dft_json_bool(json, "open", 1);
    if (at->nargs) {
        dft_json_object(json, "args");
        put_user_arguments(p, at);
        dft_json_end_object(json);
    }
}

static void put_counter(struct perfetto *p, const struct dft_event_at *at, struct dft_text name)
{
    const struct dft_arg *value = dft_export_argument(p->export, at, "value");

    if (value && value->type != DFT_ARG_STRING) {
        dft_json_key(&p->json, name.bytes, name.length);
        dft_export_value(&p->json, value);
    } else {
        put_user_arguments(p, at);
    }
}

static int is_region(uint8_t op)
{
    return op == DFT_OP_REGION || dft_op_class(op) == DFT_CLASS_MARK;
}

/* Writes the members that depend on the phase. */
static void put_phase(struct perfetto *p, const struct dft_event_at *at, char phase)
{
    struct dft_json *json = &p->json;
    char id[24];

    snprintf(id, sizeof(id), "0x%" PRIx64, at->event->id);
    if (phase == 'X')
        dft_json_microseconds(json, "dur", at->event->dur_ns);
    if (phase == 'i')
        dft_json_string(json, "s", "t");
    if (strchr("be", phase)) { /* these numbers are unique in this process only */
        dft_json_object(json, "id2");
        dft_json_string(json, "local", id);
        dft_json_end_object(json);
    } else if (strchr("stf", phase)) {
        dft_json_string(json, "id", id);
    }
    if (phase == 'f')
        dft_json_string(json, "bp", "e");
}

static void begin_metadata(struct perfetto *p, const char *name, uint32_t pid, uint32_t tid)
{
    dft_json_object(&p->json, NULL);
    dft_json_string(&p->json, "name", name);
    dft_json_string(&p->json, "ph", "M");
    dft_json_uint(&p->json, "pid", pid);
    dft_json_uint(&p->json, "tid", tid);
    dft_json_object(&p->json, "args");
}

static void end_metadata(struct perfetto *p)
{
    dft_json_end_object(&p->json);
    dft_json_end_object(&p->json);
}

/* A program's own name for a thread is metadata here, too. Other metadata becomes an instant,
 * because viewers show instants. */
static int put_thread_name(struct perfetto *p, const struct dft_event_at *at, struct dft_text category,
                           struct dft_text name)
{
    const struct dft_arg *value = dft_export_argument(p->export, at, "value");

    if (!value || value->type != DFT_ARG_STRING || category.length != 7 || memcmp(category.bytes, "dftrace", 7) != 0 ||
        name.length != 11 || memcmp(name.bytes, "thread_name", 11) != 0)
        return 0;
    begin_metadata(p, "thread_name", p->pids.shown[at->process->number], at->tid);
    dft_json_text(&p->json, "name", value->s.bytes, value->s.length);
    end_metadata(p);
    return 1;
}

/* Writes an event up to the members that depend on the phase. */
static void begin_event(struct perfetto *p, const struct dft_event_at *at, struct dft_text category,
                        struct dft_text name, char phase, uint64_t ns)
{
    struct dft_json *json = &p->json;
    char letter[2] = {phase, '\0'};

    dft_json_object(json, NULL);
    dft_json_text(json, "name", name.bytes, name.length);
    dft_json_text(json, "cat", category.bytes, category.length);
    dft_json_string(json, "ph", letter);
    dft_json_microseconds(json, "ts", ns - p->origin_ns);
    dft_json_uint(json, "pid", p->pids.shown[at->process->number]);
    dft_json_uint(json, "tid", at->tid);
    put_phase(p, at, phase);
}

/* Writes the end of a request right behind its beginning. Readers sort by time. */
static void put_request_end(struct perfetto *p, const struct dft_event_at *at, struct dft_text category,
                            struct dft_text name)
{
    fputs(",\n", p->export->out);
    dft_json_init(&p->json, p->export->out, 0);
    begin_event(p, at, category, name, 'e', at->event->start_ns + at->event->dur_ns);
    dft_json_end_object(&p->json);
}

/* One end of an arrow. The beginning lies in the slice of the call; the end points to the next slice
 * of the thread that it names. */
static void put_flow_end(struct perfetto *p, const struct dft_event_at *at, const struct dft_source_process *child,
                         int is_end)
{
    struct dft_json *json = &p->json;
    char id[24];

    snprintf(id, sizeof(id), "0x%" PRIx64, child->key);
    fputs(",\n", p->export->out);
    dft_json_init(json, p->export->out, 0);
    dft_json_object(json, NULL);
    dft_json_string(json, "name", "starts");
    dft_json_string(json, "cat", "process");
    dft_json_string(json, "ph", is_end ? "f" : "s");
    dft_json_microseconds(json, "ts", at->event->start_ns - p->origin_ns);
    dft_json_uint(json, "pid", p->pids.shown[is_end ? child->number : at->process->number]);
    dft_json_uint(json, "tid", is_end ? child->process.pid : at->tid);
    dft_json_string(json, "id", id);
    dft_json_end_object(json);
}

/* An arrow from a call to the process that it started. */
static void put_flow(struct perfetto *p, const struct dft_event_at *at)
{
    const struct dft_source_process *child = dft_flows_child(&p->flows, at);

    if (!child)
        return;
    put_flow_end(p, at, child, 0);
    put_flow_end(p, at, child, 1);
}

static void put_event(void *context, const struct dft_event_at *at)
{
    struct perfetto *p = context;
    char phase = dft_export_phase(at->event, at->op), capacity[18];
    struct dft_json *json = &p->json;
    struct dft_text category, name;
    /* requests and spans may overlap; slices of a thread may not */
    int overlaps = phase == 'X' && at->event->id;
    /* the begin of the span is an event of its own */
    int span = overlaps && at->op == DFT_OP_REGION;

    dft_names_call(p->export->names, at->call, &category, &name, capacity);
    fputs(",\n", p->export->out);
    dft_json_init(json, p->export->out, 0);
    if (phase == 'M' && put_thread_name(p, at, category, name))
        return;
    if (phase == 'M')
        phase = 'i';
    else if (overlaps)
        phase = span ? 'e' : 'b';
    begin_event(p, at, category, name, phase, at->event->start_ns + (span ? at->event->dur_ns : 0));
    dft_json_object(json, "args");
    if (phase == 'C')
        put_counter(p, at, name);
    else if (is_region(at->op))
        put_user_arguments(p, at);
    else
        put_call_arguments(p, at);
    dft_json_end_object(json);
    dft_json_end_object(json);
    if (overlaps && !span)
        put_request_end(p, at, category, name);
    put_flow(p, at);
}

static int reorder(void *context, const struct dft_event_at *at)
{
    struct perfetto *p = context;
    int error = dft_reorder_add(&p->reorder, at);

    return error ? error : ferror(p->export->out) ? -EIO : 0;
}

/* --- the file --------------------------------------------------------------------------------- */

static void put_metadata(void *context, const struct dft_shown *shown)
{
    struct perfetto *p = context;
    FILE *out = p->export->out;
    char text[32];

    fputs(shown->first ? "" : ",\n", out);
    dft_json_init(&p->json, out, 0);
    if (shown->is_thread) {
        begin_metadata(p, "thread_name", shown->pid, shown->tid);
        snprintf(text, sizeof(text), "thread %u", shown->tid);
        dft_json_string(&p->json, "name", shown->tid == shown->pid ? "main thread" : text);
        end_metadata(p);
        return;
    }
    begin_metadata(p, "process_name", shown->pid, shown->pid);
    dft_json_text(&p->json, "name", shown->name, strlen(shown->name));
    end_metadata(p);
    if (shown->rank < 0)
        return;
    fputs(",\n", out);
    dft_json_init(&p->json, out, 0);
    begin_metadata(p, "process_sort_index", shown->pid, shown->pid);
    dft_json_int(&p->json, "sort_index", shown->rank);
    end_metadata(p);
}

static void put_head(struct perfetto *p)
{
    struct dft_json *json = &p->json;
    char origin[24];

    dft_json_init(json, p->export->out, 0);
    snprintf(origin, sizeof(origin), "%" PRIu64, p->origin_ns);
    fputs("{\"displayTimeUnit\": \"ns\",\n\"otherData\": ", p->export->out);
    dft_json_object(json, NULL);
    dft_json_string(json, "producer", "dftmerge export --to perfetto");
    dft_json_string(json, "origin_ns", origin);
    dft_json_seconds(json, "origin_s", p->origin_ns);
    if (p->tracks.width_ns)
        dft_json_uint(json, "counter_width_ns", p->tracks.width_ns);
    dft_json_end_object(json);
    fputs(",\n\"traceEvents\": [\n", p->export->out);
}

static int put_begin(void *context)
{
    struct perfetto *p = context;

    put_head(p);
    return dft_pids_visit(&p->pids, put_metadata, p);
}

/* A point of a counter track. Tracks stand behind all events, each in order of time. */
static void put_point(void *context, uint32_t process, struct dft_text category, struct dft_text name,
                      const struct dft_track_point *point)
{
    struct perfetto *p = context;
    struct dft_json *json = &p->json;

    fputs(",\n", p->export->out);
    dft_json_init(json, p->export->out, 0);
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

static int put_end(void *context)
{
    struct perfetto *p = context;

    dft_reorder_flush(&p->reorder);
    dft_tracks_visit(&p->tracks, p->export->names, put_point, p);
    fputs("\n]}\n", p->export->out);
    return 0;
}

static int write_perfetto(struct dft_export *export, const char *path)
{
    struct perfetto p = {.export = export, .reorder = {.emit = put_event, .context = &p}};
    struct dft_event_text text = {.source = export->source,
                                  .filter = export->filter,
                                  .out = &export->out,
                                  .context = &p,
                                  .head = put_begin,
                                  .event = reorder,
                                  .tail = put_end};
    uint64_t end_ns;
    int error = dft_comm_agree(dft_pids_make(&p.pids, export->source, export->filter));

    if (!error)
        error = dft_comm_agree(dft_flows_make(&p.flows, export->source, export->filter));
    if (!error)
        error = dft_tracks_make(&p.tracks, export);
    if (!error) {
        dft_source_lives(export->source, &p.origin_ns, &end_ns);
        dft_source_names_on_return(export->source, dft_reorder_flush, &p.reorder);
        error = dft_event_text_write(&text, path);
        dft_source_names_on_return(export->source, NULL, NULL);
    }
    dft_pids_free(&p.pids);
    dft_flows_free(&p.flows);
    dft_reorder_fini(&p.reorder);
    dft_tracks_fini(&p.tracks);
    return error;
}

const struct dft_exporter dft_export_perfetto = {"perfetto", "one Chrome-trace JSON object", "trace.json",
                                                 .write_text = write_perfetto};
