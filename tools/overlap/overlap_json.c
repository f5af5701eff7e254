/* SPDX-License-Identifier: MIT */
/* dftmerge overlap as JSON. */
#include "base/write_json.h"
#include "overlap/overlap_output.h"
#include "intake/source_names.h"
#include "object/source_notes.h"

static void put_times(struct dft_json *json, const struct dft_overlap_times *times)
{
    dft_json_uint(json, "wall_ns", times->wall_ns);
    dft_json_uint(json, "compute_ns", times->compute_ns);
    dft_json_uint(json, "io_ns", times->io_ns);
    dft_json_uint(json, "hidden_ns", times->hidden_ns);
    dft_json_uint(json, "exposed_ns", times->exposed_ns);
    dft_json_uint(json, "idle_ns", times->idle_ns);
}

static void put_rank(struct dft_json *json, const struct dft_overlap *overlap, uint32_t team)
{
    dft_json_known_int(json, "rank", overlap->teams[team].rank >= 0, overlap->teams[team].rank);
}

static void put_text(struct dft_json *json, const char *key, struct dft_text text)
{
    if (text.length)
        dft_json_text(json, key, text.bytes, text.length);
    else
        dft_json_null(json, key);
}

static void put_team(struct dft_json *json, const struct dft_overlap *overlap, uint32_t number,
                     const struct dft_source_process *processes)
{
    const struct dft_overlap_team *team = &overlap->teams[number];

    dft_json_object(json, NULL);
    put_rank(json, overlap, number);
    dft_json_known_uint(json, "trainer", !team->launches, processes[team->trainer].process.pid);
    dft_json_uint(json, "processes", team->processes);
    dft_json_uint(json, "start_ns", team->start_ns);
    put_times(json, &team->times);
    dft_json_uint(json, "data_ns", team->data_ns);
    dft_json_uint(json, "data_io_ns", team->data_io_ns);
    dft_json_uint(json, "items", team->items);
    dft_json_uint(json, "item_ns", team->item_ns);
    dft_json_uint(json, "item_io_ns", team->item_io_ns);
    dft_json_uint(json, "alone_ns", team->alone_ns);
    dft_json_end_object(json);
}

static void put_process(struct dft_json *json, const struct dft_overlap *overlap, uint32_t number,
                        const struct dft_source_process *processes)
{
    const struct dft_overlap_process *process = &overlap->processes[number];
    const struct dft_process *record = &processes[process->process].process;

    dft_json_object(json, NULL);
    put_rank(json, overlap, process->team);
    dft_json_uint(json, "pid", record->pid);
    put_text(json, "host", record->host);
    put_text(json, "exe", record->exe);
    put_text(json, "role", record->role);
    dft_json_bool(json, "is_trainer", dft_overlap_is_trainer(overlap, process));
    put_times(json, &process->times);
    dft_json_uint(json, "data_ns", process->data_ns);
    dft_json_uint(json, "items", process->items);
    dft_json_uint(json, "item_ns", process->item_ns);
    dft_json_uint(json, "item_io_ns", process->item_io_ns);
    dft_json_end_object(json);
}

static void put_scope(struct dft_json *json, const struct dft_overlap *overlap, const struct dft_overlap_scope *scope,
                      const struct dft_names *names, const struct dft_source_process *processes)
{
    struct dft_text category, name;
    char text[18];

    dft_names_call(names, scope->call, &category, &name, text);
    dft_json_object(json, NULL);
    put_rank(json, overlap, scope->team);
    dft_json_uint(json, "trainer", processes[overlap->teams[scope->team].trainer].process.pid);
    put_text(json, "cat", category);
    put_text(json, "name", name);
    dft_json_int(json, "number", scope->number);
    if (scope->kind == DFT_REGION_STEP)
        dft_json_known_int(json, "epoch", scope->epoch >= 0, scope->epoch);
    dft_json_uint(json, "start_ns", scope->start_ns);
    put_times(json, &scope->times);
    dft_json_uint(json, "data_ns", scope->data_ns);
    dft_json_end_object(json);
}

static void put_span(struct dft_json *json, const char *key, const struct dft_overlap *overlap,
                     const struct dft_overlap_span *span, int has_rank)
{
    if (!span->from_ns) {
        dft_json_null(json, key);
        return;
    }
    dft_json_object(json, key);
    dft_json_uint(json, "start_ns", span->from_ns);
    dft_json_uint(json, "dur_ns", span->to_ns - span->from_ns);
    if (has_rank)
        put_rank(json, overlap, span->team);
    dft_json_end_object(json);
}

static void put_scopes(struct dft_json *json, const char *key, const struct dft_overlap *overlap,
                       enum dft_region_kind kind, struct dft_source *source, uint32_t most)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(source, &count);

    dft_json_array(json, key);
    for (uint32_t i = 0; i < overlap->nscopes && most; i++)
        if (overlap->scopes[i].kind == kind && most--)
            put_scope(json, overlap, &overlap->scopes[i], dft_source_names_table(source), processes);
    dft_json_end_array(json);
}

void dft_overlap_json(FILE *out, const struct dft_overlap *overlap, struct dft_source *source, uint32_t scopes)
{
    struct dft_json json;
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(source, &count);
    size_t nnotes;
    char *const *notes;

    dft_json_init(&json, out, 1);
    dft_json_object(&json, NULL);
    dft_json_bool(&json, "exact", overlap->is_exact);
    dft_json_string(&json, "compute_is", overlap->has_compute ? "regions" : "outside_io");
    put_times(&json, &overlap->all);
    dft_json_uint(&json, "job_ns", overlap->wall_ns);
    dft_json_uint(&json, "nobody_ns", overlap->none_ns);
    put_span(&json, "longest_gap", overlap, &overlap->gap, 0);
    put_span(&json, "longest_alone", overlap, &overlap->alone, 1);
    dft_json_array(&json, "ranks");
    for (uint32_t i = 0; i < overlap->nteams; i++)
        put_team(&json, overlap, i, processes);
    dft_json_end_array(&json);
    dft_json_array(&json, "processes");
    for (uint32_t i = 0; i < overlap->nprocesses; i++)
        put_process(&json, overlap, i, processes);
    dft_json_end_array(&json);
    put_scopes(&json, "epochs", overlap, DFT_REGION_EPOCH, source, scopes);
    put_scopes(&json, "steps", overlap, DFT_REGION_STEP, source, scopes);
    dft_json_uint(&json, "more_scopes", overlap->more_scopes);
    notes = dft_source_notes(source, &nnotes);
    dft_json_strings(&json, "notes", notes, nnotes);
    dft_json_end_object(&json);
    putc('\n', out);
}
