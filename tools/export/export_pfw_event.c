/* SPDX-License-Identifier: MIT */
/* Lines of `--format pfw` for events.
 *
 * A reader of this form counts bytes by a rule of its own. For POSIX calls with read or write in
 * the name, the bytes are the result; for fread and fwrite, result * size. For our other calls, the
 * bytes are size. `ret` and `size` give what that rule expects. A run of calls that was kept as one
 * event becomes as many lines as calls, up to RUN_MAX. An event that was read from such a trace
 * keeps the arguments that it came with. */
#include <errno.h>
#include <string.h>

#include "export/export_pfw_event.h"
#include "export/export_pfw_lines.h"
#include "format/hash.h"
#include "format/ops.h"
#include "base/names.h"

/* lines made of one event; the last line holds what the rest of a longer run moved */
#define RUN_MAX (1u << 20)

static int contains(struct dft_text text, const char *part)
{
    return text.length && memmem(text.bytes, text.length, part, strlen(part)) != NULL;
}

static void put_uint(struct dft_pfw_out *pfw, const char *key, uint64_t value)
{
    pfw->keys[pfw->nkeys++] = key;
    dft_json_uint(&pfw->json, key, value);
}

static void put_int(struct dft_pfw_out *pfw, const char *key, int64_t value)
{
    pfw->keys[pfw->nkeys++] = key;
    dft_json_int(&pfw->json, key, value);
}

/* Writes the result of one of `calls` calls that together moved `bytes`. */
static void put_result(struct dft_pfw_out *pfw, const struct dft_event_at *at, struct dft_text category,
                       struct dft_text name, uint64_t bytes)
{
    const struct dft_event *event = at->event;
    int posix = category.length == 5 && memcmp(category.bytes, "POSIX", 5) == 0;
    int by_result = posix && (contains(name, "read") || contains(name, "write"));

    if (by_result && event->result > 0 && dft_op_bytes(at->op) == DFT_BYTES_NOTHING &&
        !dft_pfw_out_is_imported(at->process))
        return; /* readlink and the like: readers would take the result for bytes of the file */
    if (dft_op_bytes(at->op) == DFT_BYTES_NOTHING || event->result <= 0 ||
        (dft_op_bytes(at->op) == DFT_BYTES_ITEMS && event->calls == 1))
        put_int(pfw, "ret", event->result);
    else if (bytes || !by_result)
        put_int(pfw, "ret", (int64_t)bytes);
    if (bytes && !by_result && dft_op_bytes(at->op) == DFT_BYTES_RESULT && !dft_pfw_out_is_imported(at->process))
        put_uint(pfw, "size", bytes);
}

/* Writes what the call requested, in the words of the call. */
static void put_size(struct dft_pfw_out *pfw, const struct dft_event_at *at, uint64_t bytes)
{
    const struct dft_event *event = at->event;

    if (dft_op_bytes(at->op) == DFT_BYTES_ITEMS && event->calls != 1) { /* one call of a run */
        put_uint(pfw, "count", bytes);
        put_uint(pfw, "size", 1);
    } else if (dft_op_bytes(at->op) == DFT_BYTES_ITEMS) {
        if (event->size && event->unit)
            put_uint(pfw, "count", event->size / event->unit);
        if (event->unit != 1 || !dft_pfw_out_is_imported(at->process))
            put_uint(pfw, "size", event->unit);
    } else if (event->size && event->calls == 1) {
        put_uint(pfw, dft_op_bytes(at->op) == DFT_BYTES_RESULT ? "count" : "length", event->size);
    }
}

static void put_call_members(struct dft_pfw_out *pfw, const struct dft_event_at *at, struct dft_text category,
                             struct dft_text name, uint64_t bytes)
{
    const struct dft_event *event = at->event;

    if (event->fd >= 0)
        put_int(pfw, "fd", event->fd);
    if (at->op != DFT_OP_REGION && dft_export_has_result(at))
        put_result(pfw, at, category, name, bytes);
    if (at->op != DFT_OP_REGION)
        put_size(pfw, at, bytes);
    if (event->offset >= 0)
        put_int(pfw, "offset", event->offset);
    if (event->err && event->err != DFT_ERRNO_UNKNOWN)
        put_uint(pfw, "errno", event->err);
    if (at->op == DFT_OP_SEEK || at->op == DFT_OP_FSEEK)
        put_uint(pfw, "whence", event->flags);
    else if (event->flags)
        put_uint(pfw, "flags", event->flags);
    if (event->mode)
        put_uint(pfw, "mode", event->mode);
}

static int is_written(const struct dft_pfw_out *pfw, struct dft_text key)
{
    for (unsigned i = 0; i < pfw->nkeys; i++)
        if (key.length == strlen(pfw->keys[i]) && memcmp(key.bytes, pfw->keys[i], key.length) == 0)
            return 1;
    return 0;
}

/* The dictionary has the texts of the program and its command line. Arguments name them by their
 * hashes. */
static int is_hashed(const struct dft_process *process, struct dft_text key, const struct dft_arg *arg)
{
    const struct dft_text text = key.length == 8 && memcmp(key.bytes, "cmd_hash", 8) == 0    ? process->command
                                 : key.length == 9 && memcmp(key.bytes, "exec_hash", 9) == 0 ? process->exe
                                                                                             : (struct dft_text){0};

    return text.length && arg->type == DFT_ARG_STRING && arg->s.length == text.length &&
           memcmp(arg->s.bytes, text.bytes, text.length) == 0;
}

/* Adds an underscore to a user's key when the line has that key already. */
static void put_user_arguments(struct dft_pfw_out *pfw, const struct dft_event_at *at)
{
    struct dft_text category, name;
    char text[18], changed[256];

    for (uint32_t i = 0; i < at->nargs; i++) {
        if (!dft_export_is_last(at, i))
            continue;
        dft_names_call(pfw->export->names, at->args[i].key, &category, &name, text);
        if (is_written(pfw, name)) {
            snprintf(changed, sizeof(changed), "%.*s_", (int)name.length, name.bytes);
            name = dft_text_from(changed);
        }
        dft_json_key(&pfw->json, name.bytes, name.length);
        if (is_hashed(&at->process->process, name, &at->args[i]))
            dft_json_uint(&pfw->json, NULL, dft_name_id(at->args[i].s.bytes, at->args[i].s.length));
        else
            dft_export_value(&pfw->json, &at->args[i]);
    }
}

static void put_arguments(struct dft_pfw_out *pfw, const struct dft_event_at *at, struct dft_text category,
                          struct dft_text name, uint64_t bytes)
{
    const struct dft_event *event = at->event;

    dft_json_object(&pfw->json, "args");
    pfw->nkeys = 0;
    if (dft_pfw_out_host(&at->process->process))
        put_uint(pfw, "hhash", dft_pfw_out_host(&at->process->process));
    put_int(pfw, "p_idx", dft_enclosing_find(&pfw->enclosing, at));
    put_uint(pfw, "level", event->depth + 1u);
    if (event->file)
        put_uint(pfw, "fhash", event->file);
    put_call_members(pfw, at, category, name, bytes);
    if (event->id)
        put_uint(pfw, "async_id", event->id);
    if (dft_export_mark(event, at->op)) { /* the analysers read no phase for this event */
        pfw->keys[pfw->nkeys++] = "dftrace";
        dft_json_string(&pfw->json, "dftrace", dft_export_mark(event, at->op));
    }
    put_user_arguments(pfw, at);
    dft_pfw_out_end(pfw);
}

/* Writes metadata of the user: key and value, or a record of its own name with all its arguments.
 * The time of the line tells among which events the metadata stood. */
static void put_custom(struct dft_pfw_out *pfw, const struct dft_event_at *at, struct dft_text category,
                       struct dft_text name)
{
    const struct dft_arg *value = dft_export_argument(pfw->export, at, "value");
    int is_value = !at->nargs || (value && at->nargs == 1);

    dft_pfw_out_begin(pfw, is_value ? dft_text_from("CM") : name, category, at->process->process.pid, at->tid);
    dft_json_uint(&pfw->json, "ts", at->event->start_ns / 1000);
    dft_json_string(&pfw->json, "ph", "M");
    dft_json_object(&pfw->json, "args");
    pfw->nkeys = 0;
    if (dft_pfw_out_host(&at->process->process))
        put_uint(pfw, "hhash", dft_pfw_out_host(&at->process->process));
    if (is_value)
        dft_json_text(&pfw->json, "name", name.bytes, name.length);
    if (is_value && name.length == 11 && memcmp(name.bytes, "time_metric", 11) == 0)
        /* unit of the lines here, whatever unit the trace had */
        dft_json_string(&pfw->json, "value", "US");
    else if (is_value && !value)
        dft_json_string(&pfw->json, "value", "");
    else
        put_user_arguments(pfw, at);
    dft_pfw_out_end(pfw);
}

/* Writes call i of `calls` calls that are one event, with its share of time and bytes. */
static void put_call(struct dft_pfw_out *pfw, const struct dft_event_at *at, struct dft_text category,
                     struct dft_text name, char phase, uint32_t i, uint32_t calls)
{
    const struct dft_event *event = at->event;
    uint64_t bytes = dft_event_bytes(event, at->op), share = bytes / calls;
    uint64_t from = event->start_ns + event->dur_ns / calls * i;
    uint64_t until = i + 1 == calls ? event->start_ns + event->dur_ns : from + event->dur_ns / calls;
    char letter[2] = {dft_export_mark(event, at->op) ? 'X' : phase, '\0'};

    dft_pfw_out_begin(pfw, name, category, at->process->process.pid, at->tid);
    dft_json_uint(&pfw->json, "ts", from / 1000);
    if (letter[0] == 'X')
        dft_json_uint(&pfw->json, "dur", until / 1000 - from / 1000);
    dft_json_string(&pfw->json, "ph", letter);
    put_arguments(pfw, at, category, name, i + 1 == calls ? bytes - share * (calls - 1) : share);
    pfw->events[at->process->number]++;
}

static int encloses(const struct dft_source_process *process, const struct dft_event *event, uint8_t op)
{
    return event->phase == DFT_PHASE_COMPLETE && !(event->bits & DFT_BIT_OPEN) && event->calls == 1 &&
           (op == DFT_OP_REGION || dft_pfw_out_is_imported(process));
}

/* Notes the number of the event's line, because other events may lie in this event. Returns 0 or
 * -ENOMEM. */
static int put_enclosing(struct dft_pfw_out *pfw, const struct dft_event_at *at, uint64_t number)
{
    const struct dft_block place = {.process = at->process->number, .tid = at->tid, .stream = at->stream};
    struct dft_enclosing_event around = dft_enclosing_event(at->event, at->call, at->sequence, &place);

    if (!encloses(at->process, at->event, at->op))
        return 0;
    around.number = number;
    return dft_enclosing_put(&pfw->enclosing, &around);
}

/* Does the form have no line for the event? */
static int is_left_out(const struct dft_event *event, uint8_t op, char phase)
{
    return event->bits & DFT_BIT_OPEN || (strchr("be", phase) && op != DFT_OP_REGION);
}

int dft_pfw_out_event(void *context, const struct dft_event_at *at)
{
    struct dft_pfw_out *pfw = context;
    char phase = dft_export_phase(at->event, at->op), text[18];
    struct dft_text category, name;

    dft_names_call(pfw->export->names, at->call, &category, &name, text);
    if (phase == 'M') {
        put_custom(pfw, at, category, name);
    } else if (is_left_out(at->event, at->op, phase)) {
        pfw->export->left_out++;
    } else {
        uint32_t calls = at->event->calls < RUN_MAX ? at->event->calls : RUN_MAX;

        pfw->export->left_out += at->event->calls - calls;
        for (uint32_t i = 0; i < calls || i == 0; i++)
            put_call(pfw, at, category, name, phase, i, calls ? calls : 1);
        if (put_enclosing(pfw, at, pfw->id - 1))
            return -ENOMEM;
    }
    return ferror(pfw->export->out) ? -EIO : 0;
}
