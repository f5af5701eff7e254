/* SPDX-License-Identifier: MIT */
/* Processes of one file: a pid on a host. */
#include "dftracer/pfw_process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dftracer/pfw_memory.h"
#include "dftracer/pfw_names.h"
#include "format/hash.h"

/* Processes in the order of their pids, whatever the file: equal times in a dump are ordered by
 * key. */
static uint64_t key_of(const struct dft_pfw *pfw, uint64_t pid, uint64_t host)
{
    uint64_t words[3] = {pfw->job->identity, pid, host};
    uint64_t key = (pid & 0xffffff) << 40 | (dft_name_id(words, sizeof words) & UINT64_C(0xffffffffff));

    return key ? key : 1;
}

static struct dft_pfw_process *make_process(struct dft_pfw *pfw, uint64_t pid, uint64_t host)
{
    struct dft_pfw_process *process = calloc(1, sizeof *process);

    if (!process ||
        dft_pfw_grow(pfw, &pfw->processes, &pfw->processes_capacity, pfw->nprocesses, sizeof *pfw->processes)) {
        free(process);
        pfw->error = -ENOMEM;
        return NULL;
    }
    process->pid = pid;
    process->host = host;
    process->record.key = key_of(pfw, pid, pfw->nprocesses);
    process->record.pid = (uint32_t)pid;
    pfw->counts->long_pids += pid > UINT32_MAX;
    process->record.rank = process->record.local_rank = -1;
    pfw->processes[pfw->nprocesses++] = process;
    return process;
}

/* The one of that pid at hand, unless it is known to be on another host. */
struct dft_pfw_process *dft_pfw_process(struct dft_pfw *pfw, uint64_t pid, uint64_t host)
{
    uint64_t *number = dft_map_put(&pfw->process_of, pid * 2 + 1);
    struct dft_pfw_process *process, *peer;

    if (!number) {
        pfw->error = -ENOMEM;
        return NULL;
    }
    process = *number ? pfw->processes[*number - 1] : NULL;
    if (process && host && !process->host)
        process->host = host;
    if (process && (!host || process->host == host))
        return process;
    for (uint32_t i = process ? process->peer : 0; process && i != *number - 1; i = pfw->processes[i]->peer)
        if (pfw->processes[i]->host == host) {
            *number = i + 1;
            return pfw->processes[i];
        }
    peer = process;
    process = make_process(pfw, pid, host);
    if (!process)
        return NULL;
    process->peer = peer ? peer->peer : pfw->nprocesses - 1;
    *number = pfw->nprocesses;
    if (peer)
        peer->peer = pfw->nprocesses - 1;
    return process;
}

static void put_text(struct dft_pfw *pfw, struct dft_pfw_process *process, struct dft_text *field, struct dft_text text)
{
    char *copy;

    if (field->length || !text.length || process->nowned == sizeof process->owned / sizeof *process->owned)
        return;
    copy = malloc(text.length + 1u);
    if (!copy) {
        pfw->error = -ENOMEM;
        return;
    }
    memcpy(copy, text.bytes, text.length);
    copy[text.length] = 0;
    process->owned[process->nowned++] = copy;
    *field = (struct dft_text){copy, text.length};
}

static struct dft_text text_behind(struct dft_pfw *pfw, const struct dft_pfw_record *record, const char *key)
{
    for (uint32_t i = 0; i < record->nothers; i++)
        if (record->other[i].key.length == strlen(key) && !memcmp(record->other[i].key.bytes, key, strlen(key)))
            return dft_pfw_short_text(pfw, dft_pfw_resolve(pfw, DFT_HASH_STRING, &record->other[i].value));
    return (struct dft_text){"", 0};
}

/* The name that was set for the program, else the first word of the command. */
static struct dft_text program_of(struct dft_pfw *pfw, const struct dft_pfw_record *record)
{
    struct dft_text text = text_behind(pfw, record, "exec_hash");
    const char *space;

    if (text.length && !(text.length == 7 && !memcmp(text.bytes, "DEFAULT", 7)))
        return text;
    text = text_behind(pfw, record, "cmd_hash");
    space = text.length ? memchr(text.bytes, ' ', text.length) : NULL;
    if (space)
        text.length = (uint32_t)(space - text.bytes);
    return text;
}

static const struct dft_pfw_value *other(const struct dft_pfw_record *record, const char *key)
{
    for (uint32_t i = 0; i < record->nothers; i++)
        if (record->other[i].key.length == strlen(key) && !memcmp(record->other[i].key.bytes, key, strlen(key)))
            return &record->other[i].value;
    return NULL;
}

void dft_pfw_process_start(struct dft_pfw *pfw, struct dft_pfw_process *process, const struct dft_pfw_record *record,
                           uint64_t start_ns)
{
    const struct dft_pfw_value *value = other(record, "ppid");
    int64_t number;
    char version[48];

    process->started = 1;
    if (!process->record.start_ns)
        process->record.start_ns = start_ns;
    if (value && !dft_pfw_signed(value, &number))
        process->record.ppid = (uint32_t)number;
    put_text(pfw, process, &process->record.command, text_behind(pfw, record, "cmd_hash"));
    put_text(pfw, process, &process->record.exe, program_of(pfw, record));
    value = other(record, "writer");
    process->ours = value && value->text.length == 7 && !memcmp(value->text.bytes, "dftrace", 7);
    value = process->ours ? NULL : other(record, "version");
    if (value && value->text.length && value->text.length < 24) {
        memcpy(version, "DFTracer ", 9);
        memcpy(version + 9, value->text.bytes, value->text.length);
        put_text(pfw, process, &process->record.version, (struct dft_text){version, 9 + value->text.length});
    }
}

/* The oldest writers say nothing of start and end: then the file must do, which is closed, or at
 * least not torn. */
static int has_end(const struct dft_pfw *pfw, const struct dft_pfw_process *process)
{
    return process->ended || pfw->closed || (!process->started && !pfw->counts->torn && !pfw->counts->reason);
}

void dft_pfw_processes_put(struct dft_pfw *pfw)
{
    for (uint32_t i = 0; i < pfw->nprocesses && !pfw->error; i++) {
        struct dft_pfw_process *process = pfw->processes[i];
        struct dft_end end = {.key = process->record.key, .events = process->events, .exit_kind = DFT_ENDING_EXIT};
        const void *block;
        long bytes;

        put_text(pfw, process, &process->record.host, dft_pfw_short_text(pfw, process->host));
        if (!process->ours) /* what is said of the version begins so: it tells who wrote the trace */
            put_text(pfw, process, &process->record.version, (struct dft_text){"DFTracer", 8});
        bytes = dft_encode_process(pfw->encoder, &process->record, &block);
        dft_pfw_put(pfw, block, bytes);
        if (!has_end(pfw, process))
            continue;
        end.time_ns = process->end_ns;
        if (!process->ended)
            end.exit_kind = DFT_ENDING_UNKNOWN;
        bytes = dft_encode_end(pfw->encoder, &end, &block);
        dft_pfw_put(pfw, block, bytes);
    }
}
