/* SPDX-License-Identifier: MIT */
/* `--format perfflow`: writes what PerfFlowAspect's own library would have written about its woven
 * functions. The files are perfflow.array.<...>.pfw, one for each process, with the names that
 * PERFFLOW_OPTIONS gave then. The trace holds PERFFLOW_OPTIONS as metadata. All processes go into
 * one file when OUT is a file.
 *
 * The records of one event lie apart. The record of its end waits in a list until its time has
 * come. A file is therefore in order of time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <strings.h>

#include "export/export_perfflow.h"
#include "export/export_perfflow_files.h"
#include "format/ops.h"
#include "intake/source_names.h"
#include "views/source_order.h"
#include "views/source_unordered.h"
#include "base/names.h"

/* --- records ---------------------------------------------------------------------------------- */

/* A record that is being written: first its first members. */
struct record {
    struct dft_json json;
    char *text;
    size_t length;
};

static int begin_record(struct record *r, const struct dft_event_at *at, struct dft_text category, struct dft_text name,
                        char phase, uint64_t ns)
{
    char letter[2] = {phase, '\0'};
    FILE *out;

    r->text = NULL;
    out = open_memstream(&r->text, &r->length);
    if (!out)
        return -1;
    dft_json_init_unicode(&r->json, out);
    dft_json_object(&r->json, NULL);
    dft_json_text(&r->json, "name", name.bytes, name.length);
    dft_json_text(&r->json, "cat", category.bytes, category.length);
    dft_json_uint(&r->json, "pid", at->process->process.pid);
    dft_json_uint(&r->json, "tid", at->tid);
    dft_json_microseconds(&r->json, "ts", ns);
    dft_json_string(&r->json, "ph", letter);
    return 0;
}

static void end_record(struct dft_perfflow *p, struct record *r, uint32_t sink, uint64_t ns, uint64_t start_ns)
{
    dft_json_end_object(&r->json);
    if (fclose(r->json.line.out)) {
        p->error = -ENOMEM;
        free(r->text);
    } else {
        dft_perfflow_wait(p, sink, ns, start_ns, r->text);
    }
}

/* What is known about an event. */
struct woven {
    const struct dft_event_at *at;
    struct dft_text category, name;
    /* flow: at the begin, or for an event that is a point */
    const struct dft_arg *scope, *flow, *flow_end;
    uint32_t sink;
};

/* A flow `in` ends an arrow, and `out` begins one. inout and outin do one at the begin and the
 * other at the end. */
static void put_flow(struct dft_perfflow *p, const struct woven *w, int at_end, uint64_t ns, uint64_t start_ns)
{
    const struct dft_arg *said = at_end ? w->flow_end : w->flow;
    const struct dft_text flow = said && said->type == DFT_ARG_STRING ? said->s : (struct dft_text){"", 0};
    int in = flow.length >= 2 && !memcmp(flow.bytes, "in", 2), both = flow.length == 5;
    struct record r;

    if (!flow.length)
        return;
    if (both && at_end)
        in = !in;
    if (begin_record(&r, w->at, dft_text_from("flow"), dft_text_from("flow"), in ? 'f' : 's', ns))
        return;
    dft_json_string(&r.json, "bp", "e");
    dft_json_uint(&r.json, "id", 100); /* all arrows of a file have one number in PerfFlowAspect */
    end_record(p, &r, w->sink, ns, start_ns);
}

static void put_phase(struct dft_perfflow *p, const struct woven *w, char phase, uint64_t ns, uint64_t start_ns)
{
    const struct dft_event *event = w->at->event;
    struct record r;

    if (begin_record(&r, w->at, w->category, w->name, phase, ns))
        return;
    if (phase == 'X')
        dft_json_microseconds(&r.json, "dur", event->dur_ns);
    if (phase == 'b' || phase == 'e') {
        if (w->scope)
            dft_json_text(&r.json, "scope", w->scope->s.bytes, w->scope->s.length);
        dft_json_uint(&r.json, "id", event->id);
    }
    end_record(p, &r, w->sink, ns, start_ns);
}

static void put_usage(struct dft_perfflow *p, const struct woven *w, uint64_t ns, uint64_t start_ns, double percent,
                      int64_t memory)
{
    struct record r;

    if (begin_record(&r, w->at, w->category, w->name, 'C', ns))
        return;
    dft_json_object(&r.json, "args");
    dft_json_double(&r.json, "cpu_usage", percent);
    dft_json_int(&r.json, "memory_usage", memory);
    dft_json_end_object(&r.json);
    end_record(p, &r, w->sink, ns, start_ns);
}

static void put_around(struct dft_perfflow *p, const struct woven *w)
{
    const struct dft_arg *from = dft_export_argument(p->export, w->at, "cpu_begin_us");
    const struct dft_arg *to = dft_export_argument(p->export, w->at, "cpu_end_us");
    const struct dft_arg *memory = dft_export_argument(p->export, w->at, "memory_usage");
    const struct dft_event *event = w->at->event;
    uint64_t start = event->start_ns, end = start + event->dur_ns;
    int compact = p->sinks[w->sink].compact;

    put_phase(p, w, compact ? 'X' : 'B', start, UINT64_MAX);
    put_flow(p, w, 0, start, UINT64_MAX);
    if (from && to && memory)
        put_usage(p, w, start, UINT64_MAX, event->dur_ns ? (double)(to->i - from->i) * 1e5 / (double)event->dur_ns : 0,
                  memory->i);
    put_flow(p, w, 1, end, start);
    if (!compact)
        put_phase(p, w, 'E', end, start);
    if (from && to && memory)
        put_usage(p, w, end, start, 0, 0);
}

/* Cuts the parameters off the name, as PerfFlowAspect does. */
static void cut_parameters(struct dft_text *name)
{
    const char *parameters = memchr(name->bytes, '(', name->length);

    if (parameters > name->bytes)
        name->length = (uint32_t)(parameters - name->bytes);
}

static void put_woven(struct dft_perfflow *p, struct woven *w)
{
    const struct dft_event *event = w->at->event;
    uint64_t start = event->start_ns, end = start + event->dur_ns;

    w->scope = dft_export_argument(p->export, w->at, "scope");
    w->flow = dft_export_argument(p->export, w->at, "flow");
    w->flow_end = dft_export_argument(p->export, w->at, "flow_end");
    if (event->phase == DFT_PHASE_COMPLETE && !event->id) {
        put_around(p, w);
    } else if (event->phase == DFT_PHASE_ASYNC_BEGIN || event->phase == DFT_PHASE_BEGIN) {
        put_phase(p, w, event->phase == DFT_PHASE_BEGIN ? 'B' : 'b', start, UINT64_MAX);
        put_flow(p, w, 0, start, UINT64_MAX);
    } else {
        if (!w->flow_end) /* a point has only one flow */
            w->flow_end = w->flow;
        put_flow(p, w, 1, end, start);
        put_phase(p, w, event->phase == DFT_PHASE_END ? 'E' : 'e', end, start);
    }
}

static int is_woven(const struct dft_event_at *at)
{
    return at->op == DFT_OP_REGION && at->nargs && !(at->event->bits & DFT_BIT_OPEN);
}

static int emit(void *context, const struct dft_event_at *at)
{
    struct dft_perfflow *p = context;
    struct woven w = {.at = at, .sink = p->directory ? at->process->number : 0};
    char text[18];

    if (!is_woven(at) || !dft_export_argument(p->export, at, "pointcut"))
        return p->error;
    if (at->event->start_ns)
        dft_perfflow_let_go(p, at->event->start_ns - 1);
    dft_names_call(p->export->names, at->call, &w.category, &w.name, text);
    cut_parameters(&w.name);
    put_woven(p, &w);
    return p->error;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int learn(void *context, const struct dft_event_at *at)
{
    struct dft_perfflow *p = context;
    struct dft_perfflow_sink *sink = &p->sinks[p->directory ? at->process->number : 0];
    const struct dft_arg *value = dft_export_argument(p->export, at, "value");
    struct dft_text category, name;
    char text[18], word[32];

    dft_names_call(p->export->names, at->call, &category, &name, text);
    if (at->op != DFT_OP_METADATA || !value || value->type != DFT_ARG_STRING || category.length != 8 ||
        memcmp(category.bytes, "perfflow", 8) != 0 || sink->options[0])
        return 0;
    snprintf(sink->options, sizeof sink->options, "%.*s", (int)value->s.length, value->s.bytes);
    sink->compact = dft_perfflow_option(sink, "log-event", word, sizeof word) && !strcasecmp(word, "compact");
    sink->object = dft_perfflow_option(sink, "log-format", word, sizeof word) && !strcasecmp(word, "object");
    return 0;
}

static int make_sinks(struct dft_perfflow *p)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(p->export->source, &count);
    int error;

    p->nsinks = p->directory ? count : 1;
    p->sinks = calloc(p->nsinks + 1u, sizeof *p->sinks);
    if (!p->sinks)
        return -ENOMEM;
    error = dft_source_unordered(p->export->source, NULL, learn, p);
    for (uint32_t i = 0; p->directory && !error && i < count; i++) {
        p->sinks[i].path = dft_perfflow_name(p, &p->sinks[i], &processes[i].process);
        if (!p->sinks[i].path)
            error = -ENOMEM;
        else if (unlink(p->sinks[i].path) && errno != ENOENT)
            error = -errno;
    }
    return error;
}

static int write_perfflow(struct dft_export *export, const char *directory)
{
    struct dft_perfflow p = {.export = export, .directory = directory};
    int error = make_sinks(&p);

    if (!error)
        error = dft_source_ordered(export->source, export->filter, emit, &p);
    if (!error)
        dft_perfflow_finish(&p);
    for (uint32_t i = 0; p.sinks && i < p.nsinks; i++) {
        free(p.sinks[i].path);
        free(p.sinks[i].buffer);
    }
    for (size_t i = 0; i < p.nwaiting; i++)
        free(p.waiting[i].line);
    free(p.sinks);
    free(p.waiting);
    return error ? error : p.error;
}

static int write_one(struct dft_export *export)
{
    return write_perfflow(export, NULL);
}

static int write_files(struct dft_export *export, const char *directory)
{
    int error = dft_source_names_locate(export->source);

    if (!error)
        error = write_perfflow(export, directory);
    if (error)
        fprintf(stderr, "dftmerge: %s: %s\n", directory, strerror(-error));
    return error;
}

const struct dft_exporter dft_export_perfflow = {"perfflow",         "as PerfFlowAspect writes them", NULL,
                                                 .write = write_one, .write_files = write_files,      .alone = 1};
