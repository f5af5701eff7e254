/* SPDX-License-Identifier: MIT */
/* The records of `--format perfetto`: Chrome-trace JSON, strict JSON.
 *
 * Times are microseconds with three decimals after an origin. Nanoseconds thus survive readers that
 * use doubles. The origin is a string in otherData for the same reason. */
#include <inttypes.h>
#include <string.h>

#include "base/names.h"
#include "export/export_perfetto_file.h"
#include "export/export_perfetto_put.h"
#include "format/ops.h"

/* --- one event -------------------------------------------------------------------------------- */

static void put_name(struct dft_perfetto *p, const char *key, uint64_t id)
{
    char buffer[18];
    struct dft_text text;

    if (!id)
        return;
    text = dft_names_show(p->export->names, id, buffer);
    dft_json_text(&p->json, key, text.bytes, text.length);
}

/* Members of args must differ. The last of several arguments with one key counts. An I/O call has
 * members of its own, so its user arguments stand in an object of their own. */
static void put_user_arguments(struct dft_perfetto *p, const struct dft_event_at *at)
{
    struct dft_text category, name;
    char text[18];

    for (uint32_t i = 0; i < at->nargs; i++) {
        if (!dft_export_is_last(at, i))
            continue;
        dft_names_call(p->export->names, at->args[i].key, &category, &name, text);
        dft_json_key(&p->json, name.bytes, name.length);
        dft_export_value(&p->json, &at->args[i]);
    }
}

static void put_call_arguments(struct dft_perfetto *p, const struct dft_event_at *at)
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

static void put_counter(struct dft_perfetto *p, const struct dft_event_at *at, struct dft_text name)
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
static void put_phase(struct dft_perfetto *p, const struct dft_event_at *at, char phase)
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

/* The program's own name for a thread, or NULL. */
static const struct dft_arg *thread_name(struct dft_perfetto *p, const struct dft_event_at *at,
                                         struct dft_text category, struct dft_text name)
{
    const struct dft_arg *value = dft_export_argument(p->export, at, "value");

    if (!value || value->type != DFT_ARG_STRING || category.length != 7 || memcmp(category.bytes, "dftrace", 7) != 0 ||
        name.length != 11 || memcmp(name.bytes, "thread_name", 11) != 0)
        return NULL;
    return value;
}

/* A program's own name for a thread is metadata here, too. Other metadata becomes an instant,
 * because viewers show instants. */
static int put_thread_name(struct dft_perfetto *p, const struct dft_event_at *at, struct dft_text category,
                           struct dft_text name)
{
    const struct dft_arg *value = thread_name(p, at, category, name);

    if (!value)
        return 0;
    dft_perfetto_begin_metadata(p, "thread_name", p->pids.shown[at->process->number], at->tid);
    dft_json_text(&p->json, "name", value->s.bytes, value->s.length);
    dft_perfetto_end_metadata(p);
    return 1;
}

/* Writes an event up to the members that depend on the phase. */
static void begin_event(struct dft_perfetto *p, const struct dft_event_at *at, struct dft_text category,
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
static void put_request_end(struct dft_perfetto *p, const struct dft_event_at *at, struct dft_text category,
                            struct dft_text name)
{
    fputs(",\n", p->export->out);
    dft_json_init_unicode(&p->json, p->export->out);
    begin_event(p, at, category, name, 'e', at->event->start_ns + at->event->dur_ns);
    dft_json_end_object(&p->json);
}

/* One end of an arrow. The beginning lies in the slice of the call; the end points to the next slice
 * of the thread that it names. */
static void put_flow_end(struct dft_perfetto *p, const struct dft_event_at *at, const struct dft_source_process *child,
                         int is_end)
{
    struct dft_json *json = &p->json;
    char id[24];

    snprintf(id, sizeof(id), "0x%" PRIx64, child->key);
    fputs(",\n", p->export->out);
    dft_json_init_unicode(json, p->export->out);
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

void dft_perfetto_put_arrow(struct dft_perfetto *p, const struct dft_event_at *at)
{
    const struct dft_source_process *child = dft_flows_child(&p->flows, at);

    if (!child)
        return;
    put_flow_end(p, at, child, 0);
    put_flow_end(p, at, child, 1);
}

static void put_arguments(struct dft_perfetto *p, const struct dft_event_at *at)
{
    char phase = dft_export_phase(at->event, at->op), text[18];
    struct dft_text category, name;

    if (phase == 'C') {
        dft_names_call(p->export->names, at->call, &category, &name, text);
        put_counter(p, at, name);
    } else if (is_region(at->op)) {
        put_user_arguments(p, at);
    } else {
        put_call_arguments(p, at);
    }
}

/* A span that crosses others has no other event. */
static int is_span(const struct dft_event_at *at)
{
    return at->op == DFT_OP_REGION && !(at->event->bits & DFT_EXPORT_CROSSES);
}

void dft_perfetto_put(struct dft_perfetto *p, const struct dft_event_at *at)
{
    char phase = dft_export_phase(at->event, at->op), text[18];
    struct dft_json *json = &p->json;
    struct dft_text category, name;
    /* requests and spans may overlap; slices of a thread may not */
    int overlaps = phase == 'X' && at->event->id;
    /* the begin of the span is an event of its own */
    int span = overlaps && is_span(at);

    dft_names_call(p->export->names, at->call, &category, &name, text);
    fputs(",\n", p->export->out);
    dft_json_init_unicode(json, p->export->out);
    if (phase == 'M' && put_thread_name(p, at, category, name))
        return;
    if (phase == 'M')
        phase = 'i';
    else if (overlaps)
        phase = span ? 'e' : 'b';
    begin_event(p, at, category, name, phase, at->event->start_ns + (span ? at->event->dur_ns : 0));
    dft_json_object(json, "args");
    put_arguments(p, at);
    dft_json_end_object(json);
    dft_json_end_object(json);
    if (overlaps && !span)
        put_request_end(p, at, category, name);
}

enum dft_record dft_perfetto_record(struct dft_perfetto *p, const struct dft_event_at *at)
{
    struct dft_text category, name;
    char text[18];

    switch (dft_export_phase(at->event, at->op)) {
    case 'X':
        return !at->event->id ? DFT_RECORD_SLICE : is_span(at) ? DFT_RECORD_SPAN : DFT_RECORD_REQUEST;
    case 'M':
        dft_names_call(p->export->names, at->call, &category, &name, text);
        return thread_name(p, at, category, name) ? DFT_RECORD_LABEL : DFT_RECORD_SLICE;
    case 'b':
    case 'e':
        return DFT_RECORD_SPAN;
    case 's':
    case 't':
    case 'f':
        return DFT_RECORD_LINK;
    case 'C':
        return DFT_RECORD_SAMPLE;
    case 'i':
        return DFT_RECORD_SLICE;
    default:
        return DFT_RECORD_EDGE;
    }
}

FILE *dft_perfetto_begin_text(struct dft_perfetto *p)
{
    if (!p->memory)
        p->memory = open_memstream(&p->text, &p->length);
    if (!p->memory)
        return NULL;
    rewind(p->memory);
    p->file = p->export->out;
    return p->export->out = p->memory;
}

int dft_perfetto_end_text(struct dft_perfetto *p)
{
    p->export->out = p->file;
    return fflush(p->memory) || ferror(p->memory) ? -ENOMEM : 0;
}
