/* SPDX-License-Identifier: MIT */
/* Writes one event as a line: JSON as `dftmerge dump --help` describes it, text in the manner of
 * strace. */
#include <fcntl.h>
#include <string.h>

#include "dump/dump_event.h"
#include "symbols/stacks.h"
#include "base/write_json.h"
#include "base/write_text.h"

const char *dft_dump_phase(uint8_t phase)
{
    static const char *const names[] = {
        [DFT_PHASE_BEGIN] = "begin",         [DFT_PHASE_END] = "end",
        [DFT_PHASE_INSTANT] = "instant",     [DFT_PHASE_ASYNC_BEGIN] = "async_begin",
        [DFT_PHASE_ASYNC_END] = "async_end", [DFT_PHASE_FLOW_START] = "flow_start",
        [DFT_PHASE_FLOW_END] = "flow_end",   [DFT_PHASE_COUNTER] = "counter",
        [DFT_PHASE_METADATA] = "metadata",   [DFT_PHASE_FLOW_STEP] = "flow_step",
    };

    return phase < sizeof names / sizeof *names ? names[phase] : "unknown";
}

static int is_data(const struct dft_event_at *at)
{
    enum dft_class class = dft_op_class(at->op);

    return class == DFT_CLASS_READ || class == DFT_CLASS_WRITE;
}

/* Calls have results, unless they did not return. The result of an exit is its status argument. */
int dft_dump_has_result(const struct dft_event_at *at)
{
    return at->event->phase == DFT_PHASE_COMPLETE && !(at->event->bits & DFT_BIT_OPEN) && at->op != DFT_OP_REGION &&
           dft_op_class(at->op) != DFT_CLASS_MARK && at->event->result != DFT_RESULT_UNKNOWN;
}

int dft_dump_has_size(const struct dft_event_at *at)
{
    return at->event->size || (is_data(at) && dft_dump_has_result(at));
}

int dft_dump_has_bytes(const struct dft_event_at *at)
{
    return is_data(at) && dft_dump_has_result(at) && !at->event->err;
}

int dft_dump_has_flags(const struct dft_event_at *at)
{
    int always = at->op == DFT_OP_OPEN || at->op == DFT_OP_SEEK || at->op == DFT_OP_FSEEK || at->op == DFT_OP_CONTROL;

    return at->event->flags || (always && dft_dump_has_result(at));
}

int dft_dump_has_mode(const struct dft_event_at *at)
{
    return at->event->mode || (at->op == DFT_OP_MKDIR && dft_dump_has_result(at)) ||
           (at->op == DFT_OP_OPEN && (at->event->flags & O_CREAT));
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_name(struct dft_json *json, const struct dft_names *names, const char *key, uint64_t id)
{
    char capacity[18];
    struct dft_text text = dft_names_show(names, id, capacity);

    dft_json_text(json, key, text.bytes, text.length);
}

static void json_call(struct dft_json *json, const struct dft_names *names, const char *category_key,
                      const char *name_key, uint64_t id)
{
    struct dft_text category, name;
    char capacity[18];

    dft_names_call(names, id, &category, &name, capacity);
    dft_json_text(json, category_key, category.bytes, category.length);
    dft_json_text(json, name_key, name.bytes, name.length);
}

static void json_who(struct dft_json *json, const struct dft_event_at *at)
{
    const struct dft_source_process *process = at->process;

    if (process->known)
        dft_json_uint(json, "pid", process->process.pid);
    else
        dft_json_null(json, "pid");
    dft_json_uint(json, "tid", at->tid);
    if (process->process.rank >= 0)
        dft_json_int(json, "rank", process->process.rank);
    else
        dft_json_null(json, "rank");
    dft_json_uint(json, "seq", at->sequence);
}

static void json_outcome(struct dft_json *json, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;

    if (event->fd >= 0)
        dft_json_int(json, "fd", event->fd);
    if (dft_dump_has_result(at))
        dft_json_int(json, "ret", event->result);
    if (event->err && event->err != DFT_ERRNO_UNKNOWN)
        dft_json_uint(json, "errno", event->err);
    if (dft_dump_has_size(at))
        dft_json_uint(json, "size", event->size);
    if (dft_dump_has_bytes(at))
        dft_json_uint(json, "bytes", dft_event_bytes(event, at->op));
    if (event->calls != 1)
        dft_json_uint(json, "calls", event->calls);
    if (event->offset >= 0)
        dft_json_int(json, "offset", event->offset);
    if (dft_dump_has_flags(at))
        dft_json_uint(json, "flags", event->flags);
    if (dft_dump_has_mode(at))
        dft_json_uint(json, "mode", event->mode);
    if (event->id)
        dft_json_uint(json, "id", event->id);
}

static void json_args(struct dft_json *json, const struct dft_names *names, const struct dft_event_at *at)
{
    if (!at->nargs)
        return;
    dft_json_object(json, "args");
    for (uint32_t i = 0; i < at->nargs; i++) {
        const struct dft_arg *arg = &at->args[i];
        struct dft_text category, name;
        char capacity[18];

        dft_names_call(names, arg->key, &category, &name, capacity);
        dft_json_key(json, name.bytes, name.length);
        if (arg->type == DFT_ARG_INT)
            dft_json_int(json, NULL, arg->i);
        else if (arg->type == DFT_ARG_DOUBLE)
            dft_json_double(json, NULL, arg->d);
        else
            dft_json_text(json, NULL, arg->s.bytes, arg->s.length);
    }
    dft_json_end_object(json);
}

/* Writes the stack from the innermost frame on. */
static void json_stack(struct dft_json *json, const struct dft_names *names, uint64_t stack)
{
    uint64_t frames[DFT_STACK_FRAMES_MAX];
    uint32_t n = dft_stack_frames(names, stack, frames, DFT_STACK_FRAMES_MAX);
    char capacity[18];

    dft_json_array(json, "stack");
    for (uint32_t i = 0; i < n; i++) {
        struct dft_text name = dft_stack_function(names, frames[i], capacity);

        dft_json_text(json, NULL, name.bytes, name.length);
    }
    dft_json_end_array(json);
}

void dft_dump_json(struct dft_dump *dump, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;
    struct dft_json json;

    dft_json_init(&json, dump->out, 0);
    dft_json_object(&json, NULL);
    dft_json_uint(&json, "ts", event->start_ns);
    dft_json_seconds(&json, "ts_s", event->start_ns);
    dft_json_uint(&json, "dur", event->dur_ns);
    json_who(&json, at);
    json_call(&json, dump->names, "cat", "name", at->call);
    if (event->phase != DFT_PHASE_COMPLETE)
        dft_json_string(&json, "phase", dft_dump_phase(event->phase));
    if (event->region)
        json_call(&json, dump->names, "region_cat", "region", event->region);
    if (event->file)
        json_name(&json, dump->names, "file", event->file);
    if (event->file2)
        json_name(&json, dump->names, "file2", event->file2);
    json_outcome(&json, at);
    json_args(&json, dump->names, at);
    if (event->stack)
        json_stack(&json, dump->names, event->stack);
    if (event->bits & DFT_BIT_CUT)
        dft_json_bool(&json, "cut", 1);
    if (event->bits & DFT_BIT_OPEN)
        dft_json_bool(&json, "open", 1);
    dft_json_end_object(&json);
    putc_unlocked('\n', dump->out);
}

/* --- text ------------------------------------------------------------------------------------- */

static void text_name(struct dft_dump *dump, const char *before, uint64_t id)
{
    char capacity[18];
    struct dft_text text = dft_names_show(dump->names, id, capacity);

    fputs(before, dump->out);
    dft_text_escape(dump->out, text.bytes, text.length);
}

static void text_args(struct dft_dump *dump, const struct dft_event_at *at)
{
    for (uint32_t i = 0; i < at->nargs; i++) {
        const struct dft_arg *arg = &at->args[i];
        struct dft_text category, name;
        char capacity[18];

        dft_names_call(dump->names, arg->key, &category, &name, capacity);
        putc(' ', dump->out);
        dft_text_escape(dump->out, name.bytes, name.length);
        putc('=', dump->out);
        if (arg->type == DFT_ARG_INT)
            fprintf(dump->out, "%lld", (long long)arg->i);
        else if (arg->type == DFT_ARG_DOUBLE)
            fprintf(dump->out, "%.17g", arg->d);
        else
            dft_text_escape(dump->out, arg->s.bytes, arg->s.length);
    }
}

static void text_outcome(struct dft_dump *dump, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;
    FILE *out = dump->out;

    if (event->fd >= 0)
        fprintf(out, " fd=%d", event->fd);
    if (dft_dump_has_size(at))
        fprintf(out, " size=%llu", (unsigned long long)event->size);
    if (event->offset >= 0)
        fprintf(out, " offset=%lld", (long long)event->offset);
    if (dft_dump_has_flags(at))
        fprintf(out, " flags=0x%x", event->flags);
    if (dft_dump_has_mode(at))
        fprintf(out, " mode=0%o", event->mode);
    if (event->calls != 1)
        fprintf(out, " calls=%u", event->calls);
    text_args(dump, at);
    if (event->file)
        text_name(dump, " ", event->file);
    if (event->file2)
        text_name(dump, " -> ", event->file2);
    if (dft_dump_has_result(at))
        fprintf(out, " = %lld", (long long)event->result);
    if (event->err)
        fprintf(out, " (%s)", event->err == DFT_ERRNO_UNKNOWN ? "failed" : strerror(event->err));
}

void dft_dump_text(struct dft_dump *dump, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;
    struct dft_text category, name;
    char capacity[18], duration[DFT_TEXT_ROOM], rank[16] = "-";
    int64_t t = (int64_t)(event->start_ns - dump->origin_ns);
    uint64_t ns = t < 0 ? 0 - (uint64_t)t : (uint64_t)t;

    if (at->process->process.rank >= 0)
        snprintf(rank, sizeof rank, "%d", at->process->process.rank);
    if (event->bits & DFT_BIT_OPEN)
        strcpy(duration, "in flight");
    else
        dft_text_ns(duration, event->dur_ns);
    fprintf(dump->out, "%s%4llu.%09llu %9s %3s %u/%u ", t < 0 ? "-" : " ", (unsigned long long)(ns / 1000000000),
            (unsigned long long)(ns % 1000000000), duration, rank, at->process->process.pid, at->tid);
    dft_names_call(dump->names, at->call, &category, &name, capacity);
    dft_text_escape(dump->out, category.bytes, category.length);
    putc(' ', dump->out);
    dft_text_escape(dump->out, name.bytes, name.length);
    if (event->phase != DFT_PHASE_COMPLETE && !(event->bits & DFT_BIT_OPEN))
        fprintf(dump->out, " (%s)", dft_dump_phase(event->phase));
    text_outcome(dump, at);
    if (event->region) {
        dft_names_call(dump->names, event->region, &category, &name, capacity);
        fputs(" in ", dump->out);
        dft_text_escape(dump->out, name.bytes, name.length);
    }
    putc('\n', dump->out);
}
