/* `--to pfw`: JSON lines in the form of DFTracer 1.0.8, for its analysers.
 *
 * Dictionaries come first: HH for hosts, FH for files, SH for other strings; hashes are the 64-bit ids of names.
 * Then one `start` a process, the events in order of start, one `end` a process. Times are whole microseconds, cut
 * down at both ends so that what was nested stays nested. A reader of this form counts bytes by its own rule (POSIX
 * calls with read or write in the name: the result; fread and fwrite: result * size; others: size), so `ret` and
 * `size` are given where, and only where, that gives the bytes that were moved. A run of calls that was kept as one
 * event becomes as many lines as there were calls, up to RUN_MAX. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export.h"
#include "export_files.h"
#include "ops.h"

#define VERSION_WRITTEN 100008
#define RUN_MAX         (1u << 20) /* lines made of one event; what a longer run moved stands in its last line */

struct pfw {
    struct dft_export *export;
    struct dft_json json;
    uint64_t id;      /* of the next line */
    uint64_t *events; /* by process number */
};

/* --- lines -------------------------------------------------------------------------------------------------------- */

static uint64_t host_hash(const struct dft_process *process)
{
    return process->host.length ? dft_name_id(process->host.bytes, process->host.length) : 0;
}

static void begin(struct pfw *pfw, struct dft_text name, struct dft_text category, uint32_t pid, uint32_t tid)
{
    dft_json_init(&pfw->json, pfw->export->out, 0);
    dft_json_object(&pfw->json, NULL);
    dft_json_uint(&pfw->json, "id", pfw->id++);
    dft_json_text(&pfw->json, "name", name.bytes, name.length);
    dft_json_text(&pfw->json, "cat", category.bytes, category.length);
    dft_json_uint(&pfw->json, "pid", pid);
    dft_json_uint(&pfw->json, "tid", tid);
}

static void end(struct pfw *pfw)
{
    dft_json_end_object(&pfw->json);
    dft_json_end_object(&pfw->json);
    putc('\n', pfw->export->out);
}

static struct dft_text text_of(const char *text)
{
    return (struct dft_text){text, (uint32_t)strlen(text)};
}

static void begin_metadata(struct pfw *pfw, const char *name, uint32_t pid, struct dft_text key)
{
    begin(pfw, text_of(name), text_of("dftracer"), pid, pid);
    dft_json_string(&pfw->json, "ph", "M");
    dft_json_object(&pfw->json, "args");
    dft_json_text(&pfw->json, "name", key.bytes, key.length);
}

static void put_hash(struct pfw *pfw, const char *name, uint32_t pid, struct dft_text text)
{
    if (!text.length)
        return;
    begin_metadata(pfw, name, pid, text);
    dft_json_uint(&pfw->json, "value", dft_name_id(text.bytes, text.length));
    end(pfw);
}

/* The command line with spaces, as there. */
static char *command_of(const struct dft_process *process, struct dft_text *command)
{
    char *text = malloc(process->command.length + 1u);
    uint32_t n = process->command.length;

    if (!text)
        return NULL;
    if (n)
        memcpy(text, process->command.bytes, n);
    while (n && !text[n - 1])
        n--;
    for (uint32_t i = 0; i < n; i++)
        if (!text[i])
            text[i] = ' ';
    *command = (struct dft_text){text, n};
    return text;
}

static int put_process_metadata(struct pfw *pfw, const struct dft_source_process *source)
{
    const struct dft_process *process = &source->process;
    char rank[16], name[24];
    struct dft_text command;
    char *memory = command_of(process, &command);

    if (!memory)
        return -ENOMEM;
    put_hash(pfw, "HH", process->pid, process->host);
    put_hash(pfw, "SH", process->pid, command);
    put_hash(pfw, "SH", process->pid, process->exe);
    free(memory);
    if (process->rank < 0)
        return 0;
    snprintf(rank, sizeof(rank), "%d", process->rank);
    snprintf(name, sizeof(name), "Rank %d", process->rank);
    begin_metadata(pfw, "process_name", process->pid, text_of(name));
    dft_json_string(&pfw->json, "value", "process_name");
    end(pfw);
    begin_metadata(pfw, "PR", process->pid, text_of("rank"));
    dft_json_string(&pfw->json, "value", rank);
    end(pfw);
    return 0;
}

static void begin_complete(struct pfw *pfw, const char *name, const struct dft_source_process *source, uint64_t ts)
{
    begin(pfw, text_of(name), text_of("dftracer"), source->process.pid, source->process.pid);
    dft_json_uint(&pfw->json, "ts", ts / 1000);
    dft_json_uint(&pfw->json, "dur", 0);
    dft_json_string(&pfw->json, "ph", "X");
    dft_json_object(&pfw->json, "args");
    dft_json_uint(&pfw->json, "hhash", host_hash(&source->process));
    dft_json_int(&pfw->json, "p_idx", -1);
    dft_json_uint(&pfw->json, "level", 1);
}

static int put_start(struct pfw *pfw, const struct dft_source_process *source)
{
    const struct dft_process *process = &source->process;
    uint64_t start_ns = process->start_ns ? process->start_ns : source->start_ns;
    time_t seconds = (time_t)(start_ns / 1000000000);
    struct dft_text command;
    char *memory = command_of(process, &command), date[64];
    struct tm tm;

    if (!memory)
        return -ENOMEM;
    gmtime_r(&seconds, &tm);
    strftime(date, sizeof(date), "%a %b %d %H:%M:%S %Y", &tm);
    begin_complete(pfw, "start", source, start_ns);
    dft_json_uint(&pfw->json, "cmd_hash", command.length ? dft_name_id(command.bytes, command.length) : 0);
    dft_json_uint(&pfw->json, "exec_hash",
                  process->exe.length ? dft_name_id(process->exe.bytes, process->exe.length) : 0);
    dft_json_uint(&pfw->json, "version", VERSION_WRITTEN);
    dft_json_string(&pfw->json, "date", date);
    dft_json_uint(&pfw->json, "ppid", process->ppid);
    dft_json_string(&pfw->json, "writer",
                    "dftrace"); /* so that start and end are not taken for events when read back */
    end(pfw);
    free(memory);
    return 0;
}

static void put_end(struct pfw *pfw, const struct dft_source_process *source)
{
    begin_complete(pfw, "end", source, source->end.time_ns ? source->end.time_ns : source->end_ns);
    dft_json_uint(&pfw->json, "num_events", pfw->events[source->number]);
    end(pfw);
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static int contains(struct dft_text text, const char *part)
{
    return text.length && memmem(text.bytes, text.length, part, strlen(part)) != NULL;
}

/* The members by which a reader finds the bytes, for one of `calls` calls that together moved `bytes`. */
static void put_bytes(struct pfw *pfw, const struct dft_event_at *at, struct dft_text category, struct dft_text name,
                      uint64_t bytes)
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
static void put_user_arguments(struct pfw *pfw, const struct dft_event_at *at)
{
    struct dft_text category, name;
    char room[18], changed[256];

    for (uint32_t i = 0; i < at->nargs; i++) {
        uint32_t later = i + 1;

        while (later < at->nargs && at->args[later].key != at->args[i].key)
            later++;
        if (later < at->nargs)
            continue;
        dft_names_call(pfw->export->names, at->args[i].key, &category, &name, room);
        if (reserved(name) && (at->op != DFT_OP_REGION || at->event->id)) {
            snprintf(changed, sizeof(changed), "%.*s_", (int)name.length, name.bytes);
            name = text_of(changed);
        }
        dft_json_key(&pfw->json, name.bytes, name.length);
        dft_export_value(&pfw->json, &at->args[i]);
    }
}

static void put_arguments(struct pfw *pfw, const struct dft_event_at *at, struct dft_text category,
                          struct dft_text name, uint64_t bytes)
{
    const struct dft_event *event = at->event;
    struct dft_json *json = &pfw->json;

    dft_json_object(json, "args");
    dft_json_uint(json, "hhash", host_hash(&at->process->process));
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
    end(pfw);
}

/* Metadata of the user: key and value. */
static void put_custom(struct pfw *pfw, const struct dft_event_at *at, struct dft_text name)
{
    const struct dft_arg *value = dft_export_argument(pfw->export, at, "value");

    begin_metadata(pfw, "CM", at->process->process.pid, name);
    dft_json_key(&pfw->json, "value", 5);
    if (value)
        dft_export_value(&pfw->json, value);
    else
        dft_json_string(&pfw->json, NULL, "");
    end(pfw);
}

/* The i-th of `calls` calls that are one event: its share of time and bytes. */
static void put_call(struct pfw *pfw, const struct dft_event_at *at, struct dft_text category, struct dft_text name,
                     char phase, uint32_t i, uint32_t calls)
{
    const struct dft_event *event = at->event;
    uint64_t bytes = dft_event_bytes(event, at->op), share = bytes / calls;
    uint64_t from = event->start_ns + event->dur_ns / calls * i;
    uint64_t until = i + 1 == calls ? event->start_ns + event->dur_ns : from + event->dur_ns / calls;
    char letter[2] = {dft_export_mark(event, at->op) ? 'X' : phase, '\0'};

    begin(pfw, name, category, at->process->process.pid, at->tid);
    dft_json_uint(&pfw->json, "ts", from / 1000);
    if (letter[0] == 'X')
        dft_json_uint(&pfw->json, "dur", until / 1000 - from / 1000);
    dft_json_string(&pfw->json, "ph", letter);
    put_arguments(pfw, at, category, name, i + 1 == calls ? bytes - share * (calls - 1) : share);
    pfw->events[at->process->number]++;
}

static int put_event(void *context, const struct dft_event_at *at)
{
    struct pfw *pfw = context;
    char phase = dft_export_phase(at->event, at->op), room[18];
    struct dft_text category, name;

    dft_names_call(pfw->export->names, at->call, &category, &name, room);
    if (phase == 'M') {
        put_custom(pfw, at, name);
    } else if (at->event->bits & DFT_BIT_OPEN || (strchr("be", phase) && at->op != DFT_OP_REGION)) {
        pfw->export->left_out++;
    } else {
        uint32_t calls = at->event->calls < RUN_MAX ? at->event->calls : RUN_MAX;

        pfw->export->left_out += at->event->calls - calls;
        for (uint32_t i = 0; i < calls || i == 0; i++)
            put_call(pfw, at, category, name, phase, i, calls ? calls : 1);
    }
    return ferror(pfw->export->out) ? -EIO : 0;
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

static void put_file(void *context, uint64_t id, struct dft_text text)
{
    struct pfw *pfw = context;

    begin_metadata(pfw, "FH", 0, text);
    dft_json_uint(&pfw->json, "value", id);
    end(pfw);
}

static int each_process(struct pfw *pfw, int (*put)(struct pfw *pfw, const struct dft_source_process *process))
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(pfw->export->source, &count);
    int error = 0;

    for (uint32_t i = 0; i < count && !error; i++)
        if (dft_filter_process(pfw->export->filter, &processes[i]))
            error = put(pfw, &processes[i]);
    return error;
}

static int put_process_end(struct pfw *pfw, const struct dft_source_process *process)
{
    put_end(pfw, process);
    return 0;
}

static int write_pfw(struct dft_export *export)
{
    struct pfw pfw = {.export = export, .id = 1};
    uint32_t count;
    int error;

    dft_source_processes(export->source, &count);
    pfw.events = calloc(count + 1u, sizeof(*pfw.events));
    if (!pfw.events)
        return -ENOMEM;
    fputs("[\n", export->out);
    error = each_process(&pfw, put_process_metadata);
    if (!error)
        error = dft_files_visit(export->source, export->filter, put_file, &pfw);
    if (!error)
        error = each_process(&pfw, put_start);
    if (!error)
        error = dft_source_ordered(export->source, export->filter, put_event, &pfw);
    if (!error)
        error = each_process(&pfw, put_process_end);
    putc(']', export->out);
    free(pfw.events);
    return error;
}

const struct dft_exporter dft_export_pfw = {"pfw", "JSON lines as DFTracer 1.0.8 writes them", write_pfw};
