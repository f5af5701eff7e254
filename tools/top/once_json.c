/* SPDX-License-Identifier: MIT */
/* The answer of `dftmerge top --once --json`. */
#include "top/once_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/facet_words.h"
#include "base/write_json.h"

static void put_counts(struct dft_json *json, const struct dft_top_counts *counts)
{
    dft_json_uint(json, "calls", counts->calls);
    dft_json_uint(json, "errors", counts->errors);
    dft_json_uint(json, "time_ns", counts->time_ns);
    dft_json_uint(json, "read_bytes", counts->read);
    dft_json_uint(json, "written_bytes", counts->written);
}

static void put_rank(struct dft_json *json, int32_t rank)
{
    if (rank < 0)
        dft_json_null(json, "rank");
    else
        dft_json_int(json, "rank", rank);
}

static void put_key(struct dft_json *json, uint64_t key)
{
    char text[24];

    snprintf(text, sizeof text, "%016llx", (unsigned long long)key);
    dft_json_string(json, "key", text);
}

static void put_process(struct dft_json *json, const struct dft_top_process *process)
{
    static const char *const states[] = {
        [DFT_ENDING_UNKNOWN] = "unknown", [DFT_ENDING_EXIT] = "ended",   [DFT_ENDING__EXIT] = "ended",
        [DFT_ENDING_EXEC] = "ended",      [DFT_ENDING_SIGNAL] = "ended", [DFT_ENDING_KILLED] = "killed",
        [DFT_ENDING_RUNNING] = "running"};

    dft_json_object(json, NULL);
    put_key(json, process->key);
    dft_json_uint(json, "pid", process->pid);
    put_rank(json, process->rank);
    dft_json_string(json, "host", process->host);
    dft_json_string(json, "command", process->command);
    dft_json_string(json, "state",
                    process->exit_kind < sizeof states / sizeof *states ? states[process->exit_kind] : "ended");
    dft_json_uint(json, "start_ns", process->start_ns);
    dft_json_uint(json, "dropped", process->dropped);
    dft_json_end_object(json);
}

static void put_call(struct dft_json *json, const struct dft_names *names, uint64_t id)
{
    struct dft_text category, name;
    char text[18];

    dft_names_call(names, id, &category, &name, text);
    dft_json_text(json, "cat", category.bytes, category.length);
    dft_json_text(json, "name", name.bytes, name.length);
}

static void put_file(struct dft_json *json, const struct dft_names *names, uint64_t id)
{
    char text[18];
    struct dft_text file = dft_names_show(names, id, text);

    if (id == DFT_TOP_OTHER_FILE)
        dft_json_null(json, "file");
    else
        dft_json_text(json, "file", file.bytes, file.length);
}

static void put_group(struct dft_json *json, const struct dft_top_groups *groups, const struct dft_top_watch *watch,
                      const struct dft_top_group *group)
{
    dft_json_object(json, NULL);
    switch (groups->by) {
    case DFT_TOP_FILE:
        put_file(json, watch->names, group->key);
        break;
    case DFT_TOP_RANK:
        put_rank(json, (int32_t)(group->key - 2));
        break;
    case DFT_TOP_PROCESS:
        put_key(json, group->key);
        break;
    case DFT_TOP_CLASS:
        dft_json_string(json, "class", dft_io_word((group->key - 1) % DFT_IO_COUNT));
        break;
    default:
        put_call(json, watch->names, group->key);
    }
    put_counts(json, &group->now);
    dft_json_end_object(json);
}

static void put_flight(struct dft_json *json, const struct dft_top_watch *watch, const struct dft_top_flight *flight)
{
    const struct dft_top_process *process = &watch->processes[flight->process];

    dft_json_object(json, NULL);
    dft_json_uint(json, "pid", process->pid);
    dft_json_uint(json, "tid", flight->tid);
    put_rank(json, process->rank);
    put_call(json, watch->names, flight->call);
    if (flight->file)
        put_file(json, watch->names, flight->file);
    if (flight->fd >= 0)
        dft_json_int(json, "fd", flight->fd);
    dft_json_uint(json, "ts", flight->start_ns);
    dft_json_uint(json, "age_ns", dft_top_age_ns(watch, flight));
    dft_json_bool(json, "stuck", dft_top_is_stuck(watch, flight));
    dft_json_end_object(json);
}

int dft_top_once_json(FILE *out, const struct dft_top_view *view)
{
    const struct dft_top_watch *watch = view->watch;
    uint32_t *groups = NULL, *flights = NULL;
    size_t ngroups = 0, nflights = 0;
    struct dft_json json;
    int rc = dft_top_groups_order(view->groups, watch, view->sort, view->filter, &groups, &ngroups);

    if (!rc)
        rc = dft_top_flights(watch, 0, &flights, &nflights);
    if (rc)
        goto out;
    dft_json_init(&json, out, 1);
    dft_json_object(&json, NULL);
    dft_json_uint(&json, "now_ns", watch->now_ns);
    dft_json_object(&json, "total");
    put_counts(&json, &view->all->total.now);
    dft_json_end_object(&json);
    dft_json_array(&json, "processes");
    for (uint32_t i = 0; i < watch->nprocesses; i++)
        put_process(&json, &watch->processes[i]);
    dft_json_end_array(&json);
    dft_json_string(&json, "by", dft_top_by_words[view->groups->by]);
    dft_json_array(&json, "groups");
    for (size_t i = 0; i < ngroups && (!view->top || i < view->top); i++)
        put_group(&json, view->groups, watch, &view->groups->list[groups[i]]);
    dft_json_end_array(&json);
    dft_json_array(&json, "in_flight");
    for (size_t i = 0; i < nflights; i++)
        put_flight(&json, watch, &watch->flights[flights[i]]);
    dft_json_end_array(&json);
    dft_json_strings(&json, "notes", watch->notes, watch->nnotes);
    dft_json_end_object(&json);
    putc('\n', out);
out:
    free(groups);
    free(flights);
    return rc;
}
