/* SPDX-License-Identifier: MIT */
/* Reads traces: their processes, and what trace_regions.h makes of their events. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/command_line.h"
#include "command/command.h"
#include "database/database.h"
#include "views/ps_tree.h"
#include "judge/source.h"
#include "intake/source_names.h"
#include "object/source_notes.h"
#include "views/source_order.h"
#include "spans/importing.h"
#include "spans/task_name.h"
#include "spans/trace_again.h"
#include "spans/trace_regions.h"

static const struct dft_text none = {NULL, 0};

struct traces {
    struct dft_span_import *import;
    struct dft_source *source;
    const struct dft_source_process *processes;
    uint32_t count;
    uint32_t again; /* processes that ran when they were imported before */
    struct dft_ps_tree tree;
    struct dft_trace_regions regions;
};

/* --- processes -------------------------------------------------------------------------------- */

/* Names a process by the task that it runs. */
static int name_task(struct traces *traces, const struct dft_process *process, const struct dft_uuid *uuid)
{
    struct dft_span_store *store = &traces->import->store;
    struct dft_task_name name;
    char try[80], *colon;
    int rc;

    if (!dft_task_name_find(process->run_id, &name) && !dft_task_name_find(process->command, &name))
        return 0;
    rc = dft_span_identify(store, uuid, "process", name.run, name.task);
    if (rc || !name.try.length)
        return rc;
    snprintf(try, sizeof try, "%.*s", (int)name.try.length, name.try.bytes);
    colon = strchr(try, ':');
    if (colon)
        *colon = '/';
    return dft_span_identify(store, uuid, "process", name.run, dft_text_from(try));
}

/* What was known of a process while it ran is replaced. */
static int replace_running(struct traces *traces, const struct dft_trace_process *process)
{
    int rc = dft_trace_forget_running(&traces->import->store, &process->uuid);

    traces->again += rc > 0;
    if (rc < 0 || !process->is_running)
        return rc < 0 ? rc : 0;
    return dft_trace_mark_running(&traces->import->store, &process->uuid);
}

/* A process that nobody can see, or that runs, has no end yet. */
static int is_running(const struct dft_source_process *process)
{
    return process->exit_kind == DFT_ENDING_RUNNING || process->unseen;
}

static int put_process(struct traces *traces, uint32_t number)
{
    const struct dft_source_process *process = &traces->processes[number];
    const struct dft_process *told = &process->process;
    struct dft_span_store *store = &traces->import->store;
    struct dft_trace_process *own = &traces->regions.processes[number];
    char *command = dft_command_line(told->command.length ? told->command : told->exe), key[24];
    struct dft_span_name span = {.type = dft_text_from("dftrace.process"), .note = dft_text_from(command)};
    uint64_t start_ns, end_ns;
    int rc = command ? 0 : -ENOMEM;

    snprintf(key, sizeof key, "%016" PRIx64, process->key);
    span.id = dft_text_from(key);
    span.note = span.note.length ? span.note : none;
    own->is_running = is_running(process);
    if (!rc)
        rc = dft_span_put(store, &span, &own->uuid);
    free(command);
    if (!rc)
        rc = replace_running(traces, own);
    dft_process_lifetime(process, &start_ns, &end_ns);
    if (!rc && start_ns)
        rc = dft_span_event(store, &own->uuid, (int64_t)start_ns, dft_text_from("begin"), none);
    if (!rc && end_ns && !own->is_running)
        rc = dft_span_event(store, &own->uuid, (int64_t)end_ns, dft_text_from("end"), none);
    return rc ? rc : name_task(traces, told, &own->uuid);
}

static int put_parent(struct traces *traces, uint32_t number)
{
    uint32_t parent = traces->tree.parent[number];
    char key[32];

    if (parent == DFT_PS_ROOT)
        return 0;
    snprintf(key, sizeof key, "pid %" PRIu32, traces->processes[number].process.pid);
    return dft_span_below(&traces->import->store, &traces->regions.processes[parent].uuid,
                          &traces->regions.processes[number].uuid, dft_text_from(key), none);
}

static int put_processes(struct traces *traces)
{
    struct dft_filter filter;
    int rc;

    dft_filter_init(&filter);
    rc = dft_ps_tree_make(&traces->tree, traces->source, &filter);
    dft_filter_fini(&filter);
    for (uint32_t i = 0; !rc && i < traces->count; i++)
        rc = put_process(traces, i);
    for (uint32_t i = 0; !rc && i < traces->count; i++)
        rc = put_parent(traces, i);
    return rc;
}

/* The sums of a process take the place of those that an import has found before while it ran. */
static int put_sums(struct traces *traces)
{
    struct dft_span_store *store = &traces->import->store;
    sqlite3_stmt *forget;
    int rc =
        dft_database_prepare(store->db, &forget, "delete from main.metric where span_uuid = ?", "importing") ? -EIO : 0;

    for (uint32_t i = 0; !rc && i < traces->count; i++) {
        struct dft_trace_process *process = &traces->regions.processes[i];
        uint64_t start_ns, end_ns;

        sqlite3_bind_text(forget, 1, process->uuid.text, DFT_UUID_LENGTH, SQLITE_STATIC);
        rc = dft_database_step(forget, "importing") ? -EIO : 0;
        dft_process_lifetime(&traces->processes[i], &start_ns, &end_ns);
        if (!rc)
            rc = dft_trace_sums_put(store, &process->uuid, (int64_t)start_ns, &process->sums);
    }
    sqlite3_finalize(forget);
    return rc;
}

/* --- all -------------------------------------------------------------------------------------- */

static int take_events(struct traces *traces)
{
    struct dft_ordering *timeline = NULL;
    int rc = dft_source_names_locate(traces->source);

    if (!rc)
        rc = dft_ordering_create(&timeline, traces->source, NULL, 0);
    if (!rc) {
        dft_ordering_outer_first(timeline);
        rc = dft_ordering_emit(timeline, 0, dft_trace_regions_take, &traces->regions);
    }
    dft_ordering_destroy(timeline);
    return rc ? rc : dft_trace_regions_finish(&traces->regions);
}

static int import(struct traces *traces)
{
    struct dft_span_import *import = traces->import;
    int rc;

    traces->processes = dft_source_processes(traces->source, &traces->count);
    if (!traces->count)
        return dft_span_unreadable(import, "there is no process in the traces");
    traces->regions.store = &import->store;
    traces->regions.names = dft_source_names_table(traces->source);
    traces->regions.processes = calloc(traces->count, sizeof *traces->regions.processes);
    rc = traces->regions.processes ? put_processes(traces) : -ENOMEM;
    if (!rc)
        rc = take_events(traces);
    if (!rc)
        rc = put_sums(traces);
    dft_command_aggregates(traces->source, "spans import");
    if (traces->again)
        dft_source_note(traces->source, 0,
                        "%" PRIu32 " processes ran when they were imported before; what was known of them is replaced",
                        traces->again);
    return rc;
}

int dft_span_import_traces(struct dft_span_import *importing, char *const *paths, int count, unsigned threads)
{
    struct traces traces = {.import = importing};
    struct dft_source_options options = {
        .paths = paths, .npaths = count, .threads = threads, .quiet = importing->quiet, .runs = "*"};
    int rc = dft_source_open(&traces.source, &options);

    if (!rc)
        rc = import(&traces);
    if (traces.source) {
        dft_source_report(traces.source);
        importing->broken += dft_source_unread(traces.source);
    }
    snprintf(importing->found, sizeof importing->found, "processes, regions and their I/O");
    dft_trace_regions_fini(&traces.regions);
    free(traces.regions.processes);
    dft_ps_tree_free(&traces.tree);
    dft_source_close(traces.source);
    return rc;
}
