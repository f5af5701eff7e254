/* SPDX-License-Identifier: MIT */
/* Lines of `--format pfw` that do not show events: the dictionaries, and the start and end of
 * processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/export_pfw_lines.h"
#include "format/hash.h"

#define VERSION_WRITTEN 100008

uint64_t dft_pfw_out_host(const struct dft_process *process)
{
    return process->host.length ? dft_name_id(process->host.bytes, process->host.length) : 0;
}

int dft_pfw_out_is_imported(const struct dft_source_process *source)
{
    const struct dft_text version = source->process.version;

    return version.length >= 8 && !memcmp(version.bytes, "DFTracer", 8);
}

void dft_pfw_out_begin(struct dft_pfw_out *pfw, struct dft_text name, struct dft_text category, uint32_t pid,
                       uint32_t tid)
{
    dft_json_init(&pfw->json, pfw->export->out, 0);
    dft_json_object(&pfw->json, NULL);
    dft_json_uint(&pfw->json, "id", pfw->id++);
    dft_json_text(&pfw->json, "name", name.bytes, name.length);
    dft_json_text(&pfw->json, "cat", category.bytes, category.length);
    dft_json_uint(&pfw->json, "pid", pid);
    dft_json_uint(&pfw->json, "tid", tid);
}

void dft_pfw_out_end(struct dft_pfw_out *pfw)
{
    dft_json_end_object(&pfw->json);
    dft_json_end_object(&pfw->json);
    putc('\n', pfw->export->out);
}

/* Begins a line of metadata: writes its name, and the key of the value that follows. */
static void put_metadata(struct dft_pfw_out *pfw, const char *name, uint32_t pid, struct dft_text key)
{
    dft_pfw_out_begin(pfw, dft_text_from(name), dft_text_from("dftracer"), pid, pid);
    dft_json_string(&pfw->json, "ph", "M");
    dft_json_object(&pfw->json, "args");
    dft_json_text(&pfw->json, "name", key.bytes, key.length);
}

static void put_hash(struct dft_pfw_out *pfw, const char *name, uint32_t pid, struct dft_text text)
{
    if (!text.length)
        return;
    put_metadata(pfw, name, pid, text);
    dft_json_uint(&pfw->json, "value", dft_name_id(text.bytes, text.length));
    dft_pfw_out_end(pfw);
}

/* Joins the command line with spaces, as DFTracer does. */
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

int dft_pfw_out_process(struct dft_pfw_out *pfw, const struct dft_source_process *source)
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
    put_metadata(pfw, "process_name", process->pid, dft_text_from(name));
    dft_json_string(&pfw->json, "value", "process_name");
    dft_pfw_out_end(pfw);
    put_metadata(pfw, "PR", process->pid, dft_text_from("rank"));
    dft_json_string(&pfw->json, "value", rank);
    dft_pfw_out_end(pfw);
    return 0;
}

static void begin_complete(struct dft_pfw_out *pfw, const char *name, const struct dft_source_process *source,
                           uint64_t ts)
{
    dft_pfw_out_begin(pfw, dft_text_from(name), dft_text_from("dftracer"), source->process.pid, source->process.pid);
    dft_json_uint(&pfw->json, "ts", ts / 1000);
    dft_json_uint(&pfw->json, "dur", 0);
    dft_json_string(&pfw->json, "ph", "X");
    dft_json_object(&pfw->json, "args");
    dft_json_uint(&pfw->json, "hhash", dft_pfw_out_host(&source->process));
    dft_json_int(&pfw->json, "p_idx", -1);
    dft_json_uint(&pfw->json, "level", 1);
}

int dft_pfw_out_start(struct dft_pfw_out *pfw, const struct dft_source_process *source)
{
    const struct dft_process *process = &source->process;
    uint64_t start_ns = process->start_ns ? process->start_ns : source->start_ns;
    time_t seconds = (time_t)(start_ns / 1000000000);
    struct dft_text command;
    char *memory, date[64];
    struct tm tm;

    if (dft_pfw_out_is_imported(source))
        return 0;
    memory = command_of(process, &command);
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
                    /* marks start and end, so that reading them back does not take them for
                     * events */
                    "dftrace");
    dft_pfw_out_end(pfw);
    free(memory);
    return 0;
}

void dft_pfw_out_stop(struct dft_pfw_out *pfw, const struct dft_source_process *source)
{
    if (dft_pfw_out_is_imported(source))
        return;
    begin_complete(pfw, "end", source, source->end.time_ns ? source->end.time_ns : source->end_ns);
    dft_json_uint(&pfw->json, "num_events", pfw->events[source->number]);
    dft_pfw_out_end(pfw);
}

void dft_pfw_out_file(void *context, uint64_t id, struct dft_text text)
{
    struct dft_pfw_out *pfw = context;

    put_metadata(pfw, "FH", 0, text);
    dft_json_uint(&pfw->json, "value", id);
    dft_pfw_out_end(pfw);
}
