/* SPDX-License-Identifier: MIT */
/* `dftmerge ps --json`. */
#include <stdio.h>
#include <string.h>

#include "base/write_json.h"
#include "command/write_jobs.h"
#include "format/end.h"
#include "format/kept.h"
#include "job/fates.h"
#include "small/ps_inside.h"
#include "object/source_notes.h"
#include "stacks/ps_stacks_show.h"

static void json_arguments(struct dft_json *json, struct dft_text command)
{
    const char *at = command.bytes, *end = command.length ? at + command.length : at;

    dft_json_array(json, "command");
    while (at < end) {
        const char *stop = memchr(at, '\0', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);

        dft_json_text(json, NULL, at, length);
        at += length + 1;
    }
    dft_json_end_array(json);
}

static void json_key(struct dft_json *json, const char *name, uint64_t key)
{
    char text[24];

    snprintf(text, sizeof(text), "%016llx", (unsigned long long)key);
    dft_json_string(json, name, key ? text : NULL);
}

static void json_text(struct dft_json *json, const char *name, struct dft_text text)
{
    if (text.length)
        dft_json_text(json, name, text.bytes, text.length);
    else
        dft_json_null(json, name);
}

static void json_rank(struct dft_json *json, const char *name, int64_t rank, int64_t unknown)
{
    if (rank == unknown)
        dft_json_null(json, name);
    else
        dft_json_int(json, name, rank);
}

static void json_flights(const struct ps *ps, struct dft_json *json, uint32_t process)
{
    dft_json_array(json, "in_flight");
    for (size_t i = dft_flights_of(&ps->flights, process);
         i < ps->flights.count && ps->flights.list[i].process == process; i++) {
        dft_json_object(json, NULL);
        dft_flight_json(json, &ps->flights.list[i], ps->source);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

/* What was kept of the process's calls, one stretch after the other. */
static void json_kept(struct dft_json *json, const struct dft_process *process, uint64_t end_ns)
{
    struct dft_kept_reader reader;
    struct dft_kept_span kept;

    dft_json_array(json, "kept");
    for (dft_kept_begin(&reader, process, end_ns); dft_kept_next(&reader, &kept);) {
        dft_json_object(json, NULL);
        dft_json_uint(json, "from_ns", kept.from_ns);
        dft_json_uint(json, "to_ns", kept.to_ns);
        dft_json_string(json, "keep", kept.known ? dft_keep_text(kept.keep) : NULL);
        dft_json_string(json, "why", kept.known ? dft_keep_why_text(kept.why) : NULL);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

static void json_end(const struct ps *ps, struct dft_json *json, const struct dft_source_process *p)
{
    dft_json_string(json, "ended", dft_ending_text((enum dft_ending)p->exit_kind));
    dft_json_known_int(json, "status", dft_process_knows_status(p), p->end.status);
    dft_fate_json(json, p);
    dft_json_uint(json, "events", p->events);
    dft_json_object(json, "dropped");
    for (unsigned i = 0; i <= DFT_DROP_LAST; i++)
        if (p->end.dropped[i])
            dft_json_uint(json, dft_drop_text((enum dft_drop)i), p->end.dropped[i]);
    dft_json_end_object(json);
    dft_json_uint(json, "arguments_cut", p->end.misuse[DFT_MISUSE_ARG_CUT]);
    dft_json_uint(json, "overhead_ns", p->end.overhead_ns);
    json_flights(ps, json, p->number);
    if (ps->with_stacks)
        dft_ps_stacks_json(json, &ps->stacks, p->number);
}

static void json_process(const struct ps *ps, struct dft_json *json, uint32_t at)
{
    const struct dft_ps_tree *tree = &ps->tree;
    const struct dft_source_process *p = &tree->processes[tree->order[at]];
    const struct dft_process *process = &p->process;
    uint32_t nfiles, njobs;
    const struct dft_source_file *files = dft_source_files(ps->source, &nfiles);
    uint32_t parent = tree->parent[tree->order[at]];
    uint64_t start_ns, end_ns;

    dft_process_lifetime(p, &start_ns, &end_ns);
    dft_json_object(json, NULL);
    json_key(json, "key", p->key);
    json_key(json, "parent_key", process->parent_key);
    json_key(json, "child_of", parent == DFT_PS_ROOT ? 0 : tree->processes[parent].key);
    dft_json_uint(json, "depth", tree->depth[at]);
    dft_json_uint(json, "pid", process->pid);
    dft_json_uint(json, "ppid", process->ppid);
    json_rank(json, "rank", process->rank, -1);
    json_rank(json, "local_rank", process->local_rank, -1);
    json_rank(json, "world_size", process->world_size, 0);
    json_text(json, "host", process->host);
    json_text(json, "job_id", process->job_id);
    dft_json_string(json, "job", p->job ? dft_source_jobs(ps->source, &njobs)[p->job - 1].name : NULL);
    dft_json_string(json, "run", dft_source_run_name(ps->source, p));
    json_text(json, "exe", process->exe);
    json_arguments(json, process->command);
    json_text(json, "cwd", process->cwd);
    json_text(json, "role", process->role);
    dft_json_uint(json, "start_ns", start_ns);
    dft_json_seconds(json, "start_s", start_ns);
    dft_json_uint(json, "end_ns", end_ns);
    dft_json_seconds(json, "end_s", end_ns);
    dft_json_uint(json, "io_ns", ps->io[p->number].time_ns);
    dft_json_uint(json, "read_bytes", ps->io[p->number].read);
    dft_json_uint(json, "write_bytes", ps->io[p->number].written);
    json_end(ps, json, p);
    json_kept(json, process, end_ns);
    json_text(json, "version", process->version);
    json_text(json, "options", process->options);
    json_text(json, "notes", process->notes);
    json_text(json, "unmet", p->end.unmet);
    dft_json_string(json, "file", p->file < nfiles ? files[p->file].path : NULL);
    dft_json_string(json, "live_file", p->live_file ? files[p->live_file - 1].path : NULL);
    dft_json_end_object(json);
}

void dft_ps_json(const struct ps *ps)
{
    struct dft_json json;
    size_t nnotes;
    char *const *notes = dft_source_notes(ps->source, &nnotes);

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_array(&json, "processes");
    for (uint32_t i = 0; i < ps->tree.shown; i++)
        json_process(ps, &json, i);
    dft_json_end_array(&json);
    dft_json_jobs(&json, ps->source);
    dft_json_runs(&json, ps->source);
    dft_json_strings(&json, "notes", notes, nnotes);
    dft_json_end_object(&json);
    putchar('\n');
}
