/* SPDX-License-Identifier: MIT */
/* Writes one event as a line: JSON as `dftmerge dump --help` describes it, text in the manner of
 * strace. */
#include <fcntl.h>
#include <string.h>

#include "dump/dump_event.h"
#include "base/facet_words.h"
#include "symbols/stacks.h"
#include "base/write_args.h"
#include "base/write_text.h"

/* "begin", "instant" ...; NULL for a complete event. */
static const char *phase_word(uint8_t phase)
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

static uint8_t access_of(const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;

    return dft_facets_access(
        dft_facets_of(dft_op_is_data(at->op), event->size, event->calls, event->offset, event->bits, event->err));
}

/* Calls have results, unless they did not return. The result of an exit is its status argument. */
static int has_result(const struct dft_event_at *at)
{
    return at->event->phase == DFT_PHASE_COMPLETE && !(at->event->bits & DFT_BIT_OPEN) && at->op != DFT_OP_REGION &&
           dft_op_class(at->op) != DFT_CLASS_MARK && at->event->result != DFT_RESULT_UNKNOWN;
}

static int has_size(const struct dft_event_at *at)
{
    return at->event->size || (dft_op_is_data(at->op) && has_result(at));
}

static int has_bytes(const struct dft_event_at *at)
{
    return dft_op_is_data(at->op) && has_result(at) && !at->event->err;
}

static int has_flags(const struct dft_event_at *at)
{
    int always = at->op == DFT_OP_OPEN || (at->op == DFT_OP_FOPEN && at->event->mode) || at->op == DFT_OP_SEEK ||
                 at->op == DFT_OP_FSEEK || at->op == DFT_OP_CONTROL;

    return at->event->flags || (always && has_result(at));
}

static int has_mode(const struct dft_event_at *at)
{
    return at->event->mode || (at->op == DFT_OP_MKDIR && has_result(at)) ||
           (at->op == DFT_OP_OPEN && (at->event->flags & O_CREAT));
}

/* --- JSON ------------------------------------------------------------------------------------- */

#define FIRST_KEY(name) "\"" name "\":"
#define KEY(name)       "," FIRST_KEY(name)

/* Room for the numbers and keys of a line. Texts lie between them. */
#define NUMBERS_BYTES 640u

static void json_name(struct dft_line *line, const struct dft_names *names, const char *key, uint64_t id)
{
    char capacity[18];
    struct dft_text text = dft_names_show(names, id, capacity);

    dft_line_bytes(line, key, strlen(key));
    dft_line_quote(line, text.bytes, text.length);
}

static void json_call(struct dft_line *line, const struct dft_names *names, const char *category_key,
                      const char *name_key, uint64_t id)
{
    struct dft_text category, name;
    char capacity[18];

    dft_names_call(names, id, &category, &name, capacity);
    dft_line_bytes(line, category_key, strlen(category_key));
    dft_line_quote(line, category.bytes, category.length);
    dft_line_bytes(line, name_key, strlen(name_key));
    dft_line_quote(line, name.bytes, name.length);
}

static void json_head(struct dft_line *line, const struct dft_event_at *at)
{
    const struct dft_source_process *process = at->process;
    char *to = dft_line_room(line, NUMBERS_BYTES);

    to = dft_put_uint(dft_put_word(to, "{" FIRST_KEY("ts")), at->event->start_ns);
    to = dft_put_billionths(dft_put_word(to, KEY("ts_s") "\""), at->event->start_ns);
    to = dft_put_uint(dft_put_word(to, "\"" KEY("dur")), at->event->dur_ns);
    to = dft_put_word(to, KEY("pid"));
    to = process->known ? dft_put_uint(to, process->process.pid) : dft_put_word(to, "null");
    to = dft_put_uint(dft_put_word(to, KEY("tid")), at->tid);
    to = dft_put_word(to, KEY("rank"));
    to = process->process.rank >= 0 ? dft_put_int(to, process->process.rank) : dft_put_word(to, "null");
    line->at = dft_put_uint(dft_put_word(to, KEY("seq")), at->sequence);
}

static void json_outcome(struct dft_line *line, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;
    char *to = dft_line_room(line, NUMBERS_BYTES);

    if (event->fd >= 0)
        to = dft_put_int(dft_put_word(to, KEY("fd")), event->fd);
    if (has_result(at))
        to = dft_put_int(dft_put_word(to, KEY("ret")), event->result);
    if (event->err && event->err != DFT_ERRNO_UNKNOWN)
        to = dft_put_uint(dft_put_word(to, KEY("errno")), event->err);
    if (has_size(at))
        to = dft_put_uint(dft_put_word(to, KEY("size")), event->size);
    if (has_bytes(at))
        to = dft_put_uint(dft_put_word(to, KEY("bytes")), dft_event_bytes(event, at->op));
    if (event->calls != 1)
        to = dft_put_uint(dft_put_word(to, KEY("calls")), event->calls);
    if (event->offset >= 0)
        to = dft_put_int(dft_put_word(to, KEY("offset")), event->offset);
    if (has_flags(at))
        to = dft_put_uint(dft_put_word(to, KEY("flags")), event->flags);
    if (has_mode(at))
        to = dft_put_uint(dft_put_word(to, KEY("mode")), event->mode);
    if (event->id)
        to = dft_put_uint(dft_put_word(to, KEY("id")), event->id);
    line->at = to;
}

static void json_facets(struct dft_line *line, const struct dft_event_at *at)
{
    const char *class = dft_io_word(at->io), *access = dft_access_word(access_of(at));

    if (class)
        dft_line_format(line, KEY("class") "\"%s\"", class);
    if (access)
        dft_line_format(line, KEY("access") "\"%s\"", access);
    if (at->event->bits & DFT_BIT_TURN)
        dft_line_word(line, KEY("turn") "true");
}

void dft_dump_json(struct dft_dump *dump, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;
    struct dft_line line;

    dft_line_init(&line, dump->out);
    json_head(&line, at);
    json_call(&line, dump->names, KEY("cat"), KEY("name"), at->call);
    json_facets(&line, at);
    if (event->phase != DFT_PHASE_COMPLETE)
        dft_line_format(&line, KEY("phase") "\"%s\"", phase_word(event->phase));
    if (event->region)
        json_call(&line, dump->names, KEY("region_cat"), KEY("region"), event->region);
    if (event->file)
        json_name(&line, dump->names, KEY("file"), event->file);
    if (event->file2)
        json_name(&line, dump->names, KEY("file2"), event->file2);
    json_outcome(&line, at);
    if (at->nargs) {
        dft_line_word(&line, KEY("args"));
        dft_line_args(&line, dump->names, at->args, at->nargs);
    }
    if (event->stack) {
        dft_line_word(&line, KEY("stack"));
        dft_line_stack(&line, dump->names, event->stack);
    }
    if (event->bits & DFT_BIT_CUT)
        dft_line_word(&line, KEY("cut") "true");
    if (event->bits & DFT_BIT_OPEN)
        dft_line_word(&line, KEY("open") "true");
    dft_line_word(&line, "}\n");
    dft_line_flush(&line);
}

/* --- text ------------------------------------------------------------------------------------- */

static void text_name(struct dft_line *line, const struct dft_names *names, uint64_t id)
{
    char capacity[18];
    struct dft_text text = dft_names_show(names, id, capacity);

    dft_line_escape(line, text.bytes, text.length);
}

static void text_args(struct dft_line *line, const struct dft_names *names, const struct dft_event_at *at)
{
    for (uint32_t i = 0; i < at->nargs; i++) {
        const struct dft_arg *arg = &at->args[i];
        struct dft_text category, name;
        char capacity[18];

        dft_names_call(names, arg->key, &category, &name, capacity);
        dft_line_char(line, ' ');
        dft_line_escape(line, name.bytes, name.length);
        dft_line_char(line, '=');
        if (arg->type == DFT_ARG_INT)
            dft_line_int(line, arg->i);
        else if (arg->type == DFT_ARG_DOUBLE)
            dft_line_format(line, "%.17g", arg->d);
        else
            dft_line_escape(line, arg->s.bytes, arg->s.length);
    }
}

static void text_number(struct dft_line *line, const char *before, int64_t value)
{
    dft_line_bytes(line, before, strlen(before));
    dft_line_int(line, value);
}

static void text_values(struct dft_line *line, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;

    if (event->fd >= 0)
        text_number(line, " fd=", event->fd);
    if (has_size(at)) {
        dft_line_word(line, " size=");
        dft_line_uint(line, event->size);
    }
    if (event->offset >= 0)
        text_number(line, " offset=", event->offset);
    if (has_flags(at))
        dft_line_format(line, " flags=0x%x", event->flags);
    if (has_mode(at))
        dft_line_format(line, " mode=0%o", event->mode);
    if (event->calls != 1)
        text_number(line, " calls=", event->calls);
}

static void text_outcome(struct dft_line *line, const struct dft_names *names, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;

    text_values(line, at);
    text_args(line, names, at);
    if (event->file) {
        dft_line_char(line, ' ');
        text_name(line, names, event->file);
    }
    if (event->file2) {
        dft_line_word(line, " -> ");
        text_name(line, names, event->file2);
    }
    if (has_result(at))
        text_number(line, " = ", event->result);
    if (event->err)
        dft_line_format(line, " (%s)", event->err == DFT_ERRNO_UNKNOWN ? "failed" : strerror(event->err));
}

/* Moves what stands from `from` on to the right, until it is `width` wide. Nothing was flushed
 * since. */
static void align_right(struct dft_line *line, char *from, size_t width)
{
    size_t length = (size_t)(line->at - from);

    if (length >= width)
        return;
    memmove(from + (width - length), from, length);
    memset(from, ' ', width - length);
    line->at = from + width;
}

/* When, how long, by whom: the beginning of a line. */
static void text_head(struct dft_line *line, const struct dft_dump *dump, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;
    int64_t t = (int64_t)(event->start_ns - dump->origin_ns);
    uint64_t ns = t < 0 ? 0 - (uint64_t)t : (uint64_t)t;
    char duration[DFT_TEXT_ROOM] = "in flight", *from;

    if (!(event->bits & DFT_BIT_OPEN))
        dft_text_ns(duration, event->dur_ns);
    dft_line_char(line, t < 0 ? '-' : ' ');
    from = line->at;
    line->at = dft_put_billionths(line->at, ns);
    align_right(line, from, 14);
    dft_line_char(line, ' ');
    from = line->at;
    dft_line_bytes(line, duration, strlen(duration));
    align_right(line, from, 9);
    dft_line_char(line, ' ');
    from = line->at;
    if (at->process->process.rank >= 0)
        dft_line_int(line, at->process->process.rank);
    else
        dft_line_char(line, '-');
    align_right(line, from, 3);
    dft_line_char(line, ' ');
    dft_line_uint(line, at->process->process.pid);
    dft_line_char(line, '/');
    dft_line_uint(line, at->tid);
    dft_line_char(line, ' ');
}

void dft_dump_text(struct dft_dump *dump, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;
    struct dft_text category, name;
    struct dft_line line;
    char capacity[18];

    dft_line_init(&line, dump->out);
    text_head(&line, dump, at);
    dft_names_call(dump->names, at->call, &category, &name, capacity);
    dft_line_escape(&line, category.bytes, category.length);
    dft_line_char(&line, ' ');
    dft_line_escape(&line, name.bytes, name.length);
    if (event->phase != DFT_PHASE_COMPLETE && !(event->bits & DFT_BIT_OPEN))
        dft_line_format(&line, " (%s)", phase_word(event->phase));
    text_outcome(&line, dump->names, at);
    if (event->region) {
        dft_names_call(dump->names, event->region, &category, &name, capacity);
        dft_line_word(&line, " in ");
        dft_line_escape(&line, name.bytes, name.length);
    }
    dft_line_char(&line, '\n');
    dft_line_flush(&line);
}
