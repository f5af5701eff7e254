/* SPDX-License-Identifier: MIT */
/* Groups cells, remembers the last intervals, and orders groups. */
#include "top/groups.h"
#include "top/known.h"

#include <stdio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/facet_words.h"
#include "base/order.h"
#include "base/write_text.h"

const char *const dft_top_by_words[DFT_TOP_BYS] = {"call", "file", "rank", "process", "class"};
const char *const dft_top_sort_words[DFT_TOP_SORTS] = {"calls", "calls/s", "time",  "busy",
                                                       "bytes", "bytes/s", "errors"};

static struct dft_top_group *find(struct dft_top_groups *groups, uint64_t key)
{
    uint64_t *place = dft_map_put(&groups->places, key);

    if (!place)
        return NULL;
    if (!*place) {
        if (DFT_ARRAY_PUSH(groups->list, groups->capacity, groups->count, (struct dft_top_group){.key = key}))
            return NULL;
        *place = groups->count;
    }
    return &groups->list[*place - 1];
}

static uint64_t key_of(const struct dft_top_groups *groups, const struct dft_top_process *process,
                       const struct dft_top_cell *cell)
{
    switch (groups->by) {
    case DFT_TOP_RANK:
        return (uint64_t)(process->rank + 2);
    case DFT_TOP_PROCESS:
        return process->key ? process->key : 1;
    case DFT_TOP_CLASS:
        return cell->io + UINT64_C(1);
    default:
        return cell->subject ? cell->subject : 1;
    }
}

/* Regions hold calls: they count only where each call has a line of its own. A wait is no I/O. */
static int add_cells(struct dft_top_groups *groups, const struct dft_top_process *process,
                     const struct dft_top_cells *cells)
{
    for (size_t i = 0; i < cells->count; i++) {
        const struct dft_top_cell *cell = &cells->list[i];
        int is_region = cell->io == DFT_IO_NONE && groups->by != DFT_TOP_FILE;
        struct dft_top_group *group;
        struct dft_top_counts counts = cell->counts;

        if (is_region && groups->by != DFT_TOP_CALL && groups->by != DFT_TOP_CLASS)
            continue;
        group = find(groups, key_of(groups, process, cell));
        if (!group)
            return -ENOMEM;
        if (cell->io == DFT_IO_WAIT && groups->by != DFT_TOP_CALL && groups->by != DFT_TOP_CLASS)
            counts.time_ns = 0;
        dft_top_counts_add(&group->now, &counts);
        if (cell->io == DFT_IO_WAIT)
            counts.time_ns = 0;
        if (!is_region)
            dft_top_counts_add(&groups->total.now, &counts);
    }
    return 0;
}

static uint64_t above(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static void put_point(const struct dft_top_groups *groups, struct dft_top_group *group)
{
    group->points[groups->at] = (struct dft_top_point){
        above(group->now.calls, group->before.calls), above(group->now.time_ns, group->before.time_ns),
        above(group->now.read + group->now.written, group->before.read + group->before.written)};
    group->before = group->now;
}

int dft_top_groups_update(struct dft_top_groups *groups, const struct dft_top_watch *watch, uint64_t now_ns)
{
    int is_first = !groups->looked_ns, is_file = groups->by == DFT_TOP_FILE, rc = 0;

    for (size_t i = 0; i < groups->count; i++)
        groups->list[i].now = (struct dft_top_counts){0};
    groups->total.now = (struct dft_top_counts){0};
    for (uint32_t i = 0; !rc && i < watch->nprocesses; i++) {
        const struct dft_top_process *process = &watch->processes[i];

        if (!process->shown)
            continue;
        rc = add_cells(groups, process, is_file ? &process->files : &process->calls);
        if (!rc)
            rc = add_cells(groups, process, is_file ? &process->live_files : &process->live_calls);
        for (uint32_t k = 0; !rc && !is_file && k < process->nstreams; k++)
            for (size_t n = 0; !rc && n < process->streams[k].nwaiting; n++)
                rc = add_cells(groups, process, &process->streams[k].waiting[n].calls);
    }
    groups->interval_ns = is_first ? 0 : now_ns - groups->looked_ns;
    groups->looked_ns = now_ns;
    groups->at = (groups->at + 1) % DFT_TOP_POINTS;
    if (is_first) /* what was before is no rate */
        for (size_t i = 0; i < groups->count; i++)
            groups->list[i].before = groups->list[i].now;
    if (is_first)
        groups->total.before = groups->total.now;
    else if (groups->known < DFT_TOP_POINTS)
        groups->known++;
    for (size_t i = 0; i < groups->count; i++)
        put_point(groups, &groups->list[i]);
    put_point(groups, &groups->total);
    return rc;
}

struct dft_top_point dft_top_newest(const struct dft_top_groups *groups, const struct dft_top_group *group)
{
    return groups->interval_ns ? group->points[groups->at] : (struct dft_top_point){0};
}

static uint64_t value_of(const struct dft_top_groups *groups, const struct dft_top_group *group, enum dft_top_sort sort)
{
    const struct dft_top_point newest = dft_top_newest(groups, group);

    switch (sort) {
    case DFT_TOP_BY_CALLS:
        return group->now.calls;
    case DFT_TOP_BY_CALL_RATE:
        return newest.calls;
    case DFT_TOP_BY_BUSY:
        return newest.time_ns;
    case DFT_TOP_BY_BYTES:
        return group->now.read + group->now.written;
    case DFT_TOP_BY_BYTE_RATE:
        return newest.bytes;
    case DFT_TOP_BY_ERRORS:
        return group->now.errors;
    default:
        return group->now.time_ns;
    }
}

/* --- names ------------------------------------------------------------------------------------ */

static char *name_of_text(struct dft_text first, struct dft_text second)
{
    char *text = malloc((size_t)first.length + second.length + 2), *escaped = NULL;

    if (text) {
        if (first.length)
            memcpy(text, first.bytes, first.length);
        if (first.length)
            text[first.length] = ' ';
        if (second.length)
            memcpy(text + first.length + (first.length != 0), second.bytes, second.length);
        escaped = dft_text_escaped(text, (size_t)first.length + (first.length != 0) + second.length);
    }
    free(text);
    return escaped;
}

static char *name_of_process(const struct dft_top_watch *watch, uint64_t key)
{
    const uint64_t *place = dft_map_find(&watch->by_key, key);
    const struct dft_top_process *process = place ? &watch->processes[*place - 1] : NULL;
    char *text = NULL;

    if (!process)
        return strdup("?");
    if (asprintf(&text, "%u %s%s", process->pid, process->command ? process->command : "",
                 dft_top_process_runs(process)              ? ""
                 : process->exit_kind == DFT_ENDING_KILLED  ? " [killed]"
                 : process->exit_kind == DFT_ENDING_UNKNOWN ? " [end not known]"
                                                            : " [ended]") < 0)
        return NULL;
    return text;
}

char *dft_top_group_name(const struct dft_top_groups *groups, const struct dft_top_watch *watch,
                         const struct dft_top_group *group)
{
    struct dft_text category = {0}, name;
    char buffer[18], *text = NULL;

    switch (groups->by) {
    case DFT_TOP_RANK:
        if (group->key < 2)
            return strdup("no rank");
        return asprintf(&text, "rank %llu", (unsigned long long)group->key - 2) < 0 ? NULL : text;
    case DFT_TOP_PROCESS:
        return name_of_process(watch, group->key);
    case DFT_TOP_CLASS:
        return strdup(dft_io_word((group->key - 1) % DFT_IO_COUNT));
    case DFT_TOP_FILE:
        if (group->key == DFT_TOP_OTHER_FILE)
            return strdup("(other files)");
        return name_of_text(category, dft_names_show(watch->names, group->key, buffer));
    default:
        dft_names_call(watch->names, group->key, &category, &name, buffer);
        return name_of_text(category, name);
    }
}

/* --- order ------------------------------------------------------------------------------------ */

struct place {
    uint64_t value, time_ns, key;
    uint32_t at;
};

static int compare(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    DFT_ORDER(b->value, a->value);
    DFT_ORDER(b->time_ns, a->time_ns);
    DFT_ORDER(a->key, b->key);
    return 0;
}

static int fits(const struct dft_top_groups *groups, const struct dft_top_watch *watch,
                const struct dft_top_group *group, const char *filter)
{
    char *name = filter && *filter ? dft_top_group_name(groups, watch, group) : NULL;
    int is = !filter || !*filter || (name && strcasestr(name, filter));

    free(name);
    return is;
}

int dft_top_groups_order(const struct dft_top_groups *groups, const struct dft_top_watch *watch, enum dft_top_sort sort,
                         const char *filter, uint32_t **order, size_t *count)
{
    struct place *places = malloc((groups->count + 1) * sizeof *places);
    size_t n = 0;

    *order = malloc((groups->count + 1) * sizeof **order);
    if (!places || !*order) {
        free(places);
        free(*order);
        *order = NULL;
        return -ENOMEM;
    }
    for (size_t i = 0; i < groups->count; i++) {
        const struct dft_top_group *group = &groups->list[i];

        if (group->now.calls && fits(groups, watch, group, filter))
            places[n++] = (struct place){value_of(groups, group, sort), group->now.time_ns, group->key, (uint32_t)i};
    }
    qsort(places, n, sizeof *places, compare);
    for (size_t i = 0; i < n; i++)
        (*order)[i] = places[i].at;
    *count = n;
    free(places);
    return 0;
}

void dft_top_groups_fini(struct dft_top_groups *groups)
{
    dft_map_fini(&groups->places);
    free(groups->list);
}
