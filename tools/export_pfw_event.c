/* Lines of `--to pfw` for events.
 *
 * A reader of this form counts bytes by its own rule (POSIX calls with read or write in the name: the result; fread and
 * fwrite: result * size; others: size), so `ret` and `size` are given where, and only where, that gives the bytes that were
 * moved. A run of calls that was kept as one event becomes as many lines as there were calls, up to RUN_MAX. */
#include <errno.h>
#include <string.h>

#include "export_pfw.h"
#include "ops.h"

#define RUN_MAX (1u << 20) /* lines made of one event; what a longer run moved stands in its last line */

static int contains(struct dft_text text, const char *part)
{
    return text.length && memmem(text.bytes, text.length, part, strlen(part)) != NULL;
}

/* The members by which a reader finds the bytes, for one of `calls` calls that together moved `bytes`. */
static void put_bytes(struct dft_pfw_out *pfw, const struct dft_event_at *at, struct dft_text category,
                      struct dft_text name, uint64_t bytes)
{
    const struct dft_event *event = at->event;
    int by_result = category.length == 5 && memcmp(category.bytes, "POSIX", 5) == 0 &&
                    (contains(name, "read") || contains(name, "write"));
    int by_items = dft_op_bytes(at->op) == DFT_BYTES_ITEMS && event->unit;

    if (by_items && event->calls == 1) {
        dft_json_int(&pfw->json, "ret", event->result);
        dft_json_uint(&pfw->json, "count", event->size / event->unit);
        dft_json_uint(&pfw->json, "size", event->unit);
    } else if (by_items) { /* one of a run */
        dft_json_int(&pfw->json, "ret", (int64_t)bytes);
        dft_json_uint(&pfw->json, "count", bytes);
        dft_json_uint(&pfw->json, "size", 1);
    } else if (by_result) {
        if (event->result <= 0 || bytes)
            dft_json_int(&pfw->json, "ret", bytes ? (int64_t)bytes : event->result);
        if (event->size && event->calls == 1)
            dft_json_uint(&pfw->json, "count", event->size);
    } else {
        dft_json_int(&pfw->json, "ret", event->result);
        if (bytes)
            dft_json_uint(&pfw->json, "size", bytes);
    }
}

static int reserved(struct dft_text key)
{
    static const char *const keys[] = {"async_id", "dftrace", "hhash", "fhash", "level",      "p_idx",
                                       "ret",      "fd",      "count", "size",  "image_size", "offset",
                                       "flags",    "whence",  "mode",  "errno"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (key.length == strlen(keys[i]) && memcmp(key.bytes, keys[i], key.length) == 0)
            return 1;
    return 0;
}

/* A key of the user's that means something to readers would change what they count: it gets an underscore. */
static void put_user_arguments(struct dft_pfw_out *pfw, const struct dft_event_at *at)
{
    struct dft_text category, name;
    char room[18], changed[256];

    for (uint32_t i = 0; i < at->nargs; i++) {
        if (!dft_export_is_last(at, i))
            continue;
        dft_names_call(pfw->export->names, at->args[i].key, &category, &name, room);
        if (reserved(name) && (at->op != DFT_OP_REGION || at->event->id)) {
            snprintf(changed, sizeof(changed), "%.*s_", (int)name.length, name.bytes);
            name = dft_pfw_out_text(changed);
        }
        dft_json_key(&pfw->json, name.bytes, name.length);
        dft_export_value(&pfw->json, &at->args[i]);
    }
}

static void put_arguments(struct dft_pfw_out *pfw, const struct dft_event_at *at, struct dft_text category,
                          struct dft_text name, uint64_t bytes)
{
    const struct dft_event *event = at->event;
    struct dft_json *json = &pfw->json;

    dft_json_object(json, "args");
    dft_json_uint(json, "hhash", dft_pfw_out_host(&at->process->process));
    dft_json_int(json, "p_idx", -1);
    dft_json_uint(json, "level", event->depth + 1u);
    if (event->file)
        dft_json_uint(json, "fhash", event->file);
    if (event->fd >= 0)
        dft_json_int(json, "fd", event->fd);
    if (at->op != DFT_OP_REGION && dft_export_has_result(at))
        put_bytes(pfw, at, category, name, bytes);
    if (event->offset >= 0)
        dft_json_int(json, "offset", event->offset);
    if (event->err && event->err != DFT_ERRNO_UNKNOWN)
        dft_json_uint(json, "errno", event->err);
    if (at->op == DFT_OP_SEEK || at->op == DFT_OP_FSEEK)
        dft_json_uint(json, "whence", event->flags);
    else if (event->flags)
        dft_json_uint(json, "flags", event->flags);
    if (event->mode)
        dft_json_uint(json, "mode", event->mode);
    if (event->id)
        dft_json_uint(json, "async_id", event->id);
    if (dft_export_mark(event, at->op)) /* there is no phase for it that the analysers read */
        dft_json_string(json, "dftrace", dft_export_mark(event, at->op));
    put_user_arguments(pfw, at);
    dft_pfw_out_end(pfw);
}

/* Metadata of the user: key and value. */
static void put_custom(struct dft_pfw_out *pfw, const struct dft_event_at *at, struct dft_text name)
{
    const struct dft_arg *value = dft_export_argument(pfw->export, at, "value");

    dft_pfw_out_metadata(pfw, "CM", at->process->process.pid, name);
    dft_json_key(&pfw->json, "value", 5);
    if (value)
        dft_export_value(&pfw->json, value);
    else
        dft_json_string(&pfw->json, NULL, "");
    dft_pfw_out_end(pfw);
}

/* The i-th of `calls` calls that are one event: its share of time and bytes. */
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

/* Has the form no line for it? */
static int is_left_out(const struct dft_event *event, uint8_t op, char phase)
{
    return event->bits & DFT_BIT_OPEN || (strchr("be", phase) && op != DFT_OP_REGION);
}

int dft_pfw_out_event(void *context, const struct dft_event_at *at)
{
    struct dft_pfw_out *pfw = context;
    char phase = dft_export_phase(at->event, at->op), room[18];
    struct dft_text category, name;

    dft_names_call(pfw->export->names, at->call, &category, &name, room);
    if (phase == 'M') {
        put_custom(pfw, at, name);
    } else if (is_left_out(at->event, at->op, phase)) {
        pfw->export->left_out++;
    } else {
        uint32_t calls = at->event->calls < RUN_MAX ? at->event->calls : RUN_MAX;

        pfw->export->left_out += at->event->calls - calls;
        for (uint32_t i = 0; i < calls || i == 0; i++)
            put_call(pfw, at, category, name, phase, i, calls ? calls : 1);
    }
    return ferror(pfw->export->out) ? -EIO : 0;
}

/* How many lines that is. */
uint64_t dft_pfw_out_lines(const struct dft_event *event, uint8_t op)
{
    char phase = dft_export_phase(event, op);

    if (phase == 'M')
        return 1;
    if (is_left_out(event, op, phase))
        return 0;
    return event->calls == 0 ? 1 : event->calls < RUN_MAX ? event->calls : RUN_MAX;
}
