/* SPDX-License-Identifier: MIT */
/* Writes one event as a line: JSON as `dftmerge dump --help` describes it, text in the manner of
 * strace. */
#include <string.h>

#include "dump/dump_event.h"
#include "base/write_args.h"
#include "base/write_text.h"
#include "symbols/stacks.h"
#include "tables/event_cells.h"

/* --- JSON ------------------------------------------------------------------------------------- */

/* Room for the numbers and words between two texts. */
#define NUMBERS_BYTES 640u

static char *json_name(struct dft_line *line, char *at, const struct dft_names *names, uint64_t id)
{
    char buffer[18];
    struct dft_text text = dft_names_show(names, id, buffer);

    line->at = at;
    dft_line_quote(line, text.bytes, text.length);
    return dft_line_room(line, NUMBERS_BYTES);
}

/* The category, which stands behind its key, and the key and name. */
static char *json_call(struct dft_line *line, char *at, const struct dft_names *names, uint64_t id, const char *key,
                       size_t length)
{
    struct dft_text category, name;
    char text[18];

    line->at = at;
    dft_names_call(names, id, &category, &name, text);
    dft_line_quote(line, category.bytes, category.length);
    dft_line_bytes(line, key, length);
    dft_line_quote(line, name.bytes, name.length);
    return dft_line_room(line, NUMBERS_BYTES);
}

static char *json_args(struct dft_line *line, char *at, const struct dft_names *names, const struct dft_event_at *event)
{
    line->at = at;
    dft_line_args(line, names, event->args, event->nargs);
    return dft_line_room(line, NUMBERS_BYTES);
}

static char *json_stack(struct dft_line *line, char *at, const struct dft_names *names, uint64_t stack)
{
    line->at = at;
    dft_line_stack(line, names, stack);
    return dft_line_room(line, NUMBERS_BYTES);
}

static char *json_word(char *at, const char *word)
{
    size_t length = strlen(word);

    *at = '"';
    memcpy(at + 1, word, length);
    at[length + 1] = '"';
    return at + length + 2;
}

#define KEY(name) ",\"" name "\":"

/* For each column its key, and which value an absent member stands for. */
#define NEVER_LACKS(known, value) 0
#define NULL_LACKS(known, value)  !(known)
#define ZERO_LACKS(known, value)  ((known) && !(value))
#define ONE_LACKS(known, value)   ((known) && (value) == 1)
#define DFT_TABLE(NAME, name, help)
#define DFT_TABLE_COLUMN(NAME, COLUMN, name, type, unit, help)
#define DFT_TABLE_END(NAME)
#define DFT_EVENT_COLUMN(COLUMN, name, line, type, unit, absent, help)                                                 \
    static const char key_##COLUMN[] = KEY(line);                                                                      \
    static inline int lacks_##COLUMN(int known, uint64_t value)                                                        \
    {                                                                                                                  \
        (void)known, (void)value;                                                                                      \
        return sizeof key_##COLUMN == sizeof KEY("") || absent##_LACKS(known, value);                                  \
    }
#include "tables/tables.def"
#undef DFT_TABLE
#undef DFT_TABLE_COLUMN
#undef DFT_TABLE_END

#define PUT_KEY(COLUMN) (memcpy(to, key_##COLUMN, sizeof key_##COLUMN - 1), to + sizeof key_##COLUMN - 1)
#define DFT_EVENT_NUMBER(COLUMN, known, value, put)                                                                    \
    if (!lacks_##COLUMN(known, (uint64_t)(value)))                                                                     \
        to = (known) ? put(PUT_KEY(COLUMN), value) : dft_put_word(PUT_KEY(COLUMN), "null");
#define DFT_EVENT_INT(COLUMN, known, value)  DFT_EVENT_NUMBER(COLUMN, known, value, dft_put_int)
#define DFT_EVENT_UINT(COLUMN, known, value) DFT_EVENT_NUMBER(COLUMN, known, value, dft_put_uint)
#define DFT_EVENT_TIME(COLUMN, value)                                                                                  \
    to = dft_put_uint(PUT_KEY(COLUMN), value);                                                                         \
    line.bytes[0] = '{'; /* the first member has no comma */                                                           \
    to = dft_put_billionths(dft_put_word(to, KEY("ts_s") "\""), value);                                                \
    *to++ = '"';
#define DFT_EVENT_FLAG(COLUMN, value)                                                                                  \
    if (!lacks_##COLUMN(1, value))                                                                                     \
        to = dft_put_word(PUT_KEY(COLUMN), "true");
#define DFT_EVENT_WORD(COLUMN, number, word)                                                                           \
    if (word)                                                                                                          \
        to = json_word(PUT_KEY(COLUMN), word);
#define DFT_EVENT_CALL(CATEGORY, NAME, id)                                                                             \
    if (!lacks_##CATEGORY((id) != 0, id))                                                                              \
        to = json_call(&line, PUT_KEY(CATEGORY), dump->names, id, key_##NAME, sizeof key_##NAME - 1);
#define DFT_EVENT_PATH(COLUMN, id)                                                                                     \
    if (id)                                                                                                            \
        to = json_name(&line, PUT_KEY(COLUMN), dump->names, id);
#define DFT_EVENT_ARGS(COLUMN)                                                                                         \
    if (at->nargs)                                                                                                     \
        to = json_args(&line, PUT_KEY(COLUMN), dump->names, at);
#define DFT_EVENT_STACK(COLUMN, id)                                                                                    \
    if (id)                                                                                                            \
        to = json_stack(&line, PUT_KEY(COLUMN), dump->names, id);

void dft_dump_json(struct dft_dump *dump, const struct dft_event_at *at)
{
    struct dft_line line;
    char *to = line.bytes;

    dft_line_init(&line, dump->out);
#include "tables/event_cells.def"
    line.at = dft_put_word(to, "}\n");
    dft_line_flush(&line);
}

/* --- text ------------------------------------------------------------------------------------- */

static void text_name(struct dft_line *line, const struct dft_names *names, uint64_t id)
{
    char buffer[18];
    struct dft_text text = dft_names_show(names, id, buffer);

    dft_line_escape(line, text.bytes, text.length);
}

static void text_args(struct dft_line *line, const struct dft_names *names, const struct dft_event_at *at)
{
    for (uint32_t i = 0; i < at->nargs; i++) {
        const struct dft_arg *arg = &at->args[i];
        struct dft_text category, name;
        char text[18];

        dft_names_call(names, arg->key, &category, &name, text);
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
    if (dft_event_has_size(at)) {
        dft_line_word(line, " size=");
        dft_line_uint(line, event->size);
    }
    if (event->offset >= 0)
        text_number(line, " offset=", event->offset);
    if (dft_event_has_flags(at))
        dft_line_format(line, " flags=0x%x", event->flags);
    if (dft_event_has_mode(at))
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
    if (dft_event_has_result(at))
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
    char text[18];

    dft_line_init(&line, dump->out);
    text_head(&line, dump, at);
    dft_names_call(dump->names, at->call, &category, &name, text);
    dft_line_escape(&line, category.bytes, category.length);
    dft_line_char(&line, ' ');
    dft_line_escape(&line, name.bytes, name.length);
    if (event->phase != DFT_PHASE_COMPLETE && !(event->bits & DFT_BIT_OPEN))
        dft_line_format(&line, " (%s)", dft_phase_word(event->phase));
    text_outcome(&line, dump->names, at);
    if (event->region) {
        dft_names_call(dump->names, event->region, &category, &name, text);
        dft_line_word(&line, " in ");
        dft_line_escape(&line, name.bytes, name.length);
    }
    dft_line_char(&line, '\n');
    dft_line_flush(&line);
}
