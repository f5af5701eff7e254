/* SPDX-License-Identifier: MIT */
/* The answer of `dftmerge counters` as text, JSON and CSV. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plot.h"
#include "base/write_json.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "counters/counter_groups.h"
#include "object/source_notes.h"

static const char *const units[] = {
    [DFT_UNIT_NUMBER] = "number", [DFT_UNIT_BYTES] = "bytes", [DFT_UNIT_NS] = "ns", [DFT_UNIT_PERCENT] = "percent"};

static const char *unit_name(uint8_t unit)
{
    return units[unit <= DFT_UNIT_LAST ? unit : DFT_UNIT_NUMBER];
}

/* --- for programs ------------------------------------------------------------------------------ */

static void json_value(struct dft_json *json, const char *key, const struct dft_counter_group *group,
                       dft_counter_value value)
{
    if (group->real)
        dft_json_double(json, key, (double)value);
    else
        dft_json_int(json, key, (int64_t)value);
}

static void json_keys(struct dft_json *json, const struct dft_counter_groups *groups,
                      const struct dft_counter_group *group)
{
    const struct dft_process *process = &group->process->process;

    for (unsigned i = 0; i < groups->nby; i++)
        switch (groups->by[i]) {
        case DFT_COUNTER_BY_RANK:
            if (process->rank < 0)
                dft_json_null(json, "rank");
            else
                dft_json_int(json, "rank", process->rank);
            break;
        case DFT_COUNTER_BY_HOST:
            dft_json_text(json, "host", process->host.bytes, process->host.length);
            break;
        default:
            dft_json_uint(json, "pid", process->pid);
        }
}

static void json_group(struct dft_json *json, const struct dft_counter_groups *groups,
                       const struct dft_counter_group *group)
{
    dft_json_object(json, NULL);
    dft_json_text(json, "cat", group->category.bytes, group->category.length);
    dft_json_text(json, "name", group->name.bytes, group->name.length);
    json_keys(json, groups, group);
    dft_json_string(json, "unit", unit_name(group->unit));
    dft_json_string(json, "kind", group->kind == DFT_COUNTER_TOTAL ? "total" : "level");
    dft_json_uint(json, "processes", group->processes);
    dft_json_uint(json, "samples", group->samples);
    dft_json_uint(json, "first_ns", group->first_ns);
    dft_json_uint(json, "last_ns", group->last_ns);
    json_value(json, "first", group, group->first);
    json_value(json, "last", group, group->last);
    json_value(json, "min", group, group->least);
    json_value(json, "max", group, group->most);
    json_value(json, "change", group, group->change);
    if (group->kind == DFT_COUNTER_TOTAL)
        dft_json_double(json, "rate_per_s", (double)dft_counter_group_mean(group));
    else
        dft_json_double(json, "mean", (double)dft_counter_group_mean(group));
    dft_json_end_object(json);
}

static void put_json(const struct dft_counter_groups *groups, struct dft_source *source)
{
    struct dft_json json;
    size_t count;
    char *const *notes = dft_source_notes(source, &count);

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_array(&json, "counters");
    for (size_t i = 0; i < groups->count; i++)
        json_group(&json, groups, &groups->list[i]);
    dft_json_end_array(&json);
    dft_json_strings(&json, "notes", notes, count);
    dft_json_end_object(&json);
    putchar('\n');
}

static void csv_value(const struct dft_counter_group *group, dft_counter_value value)
{
    if (group->real)
        printf(",%.17g", (double)value);
    else
        printf(",%lld", (long long)value);
}

static void put_csv(const struct dft_counter_groups *groups)
{
    fputs("cat,name", stdout);
    for (unsigned i = 0; i < groups->nby; i++)
        printf(",%s", groups->by[i] == DFT_COUNTER_BY_PROCESS
                          ? "pid"
                          : dft_counter_by_name((enum dft_counter_by)groups->by[i]));
    puts(",unit,kind,processes,samples,first_ns,last_ns,first,last,min,max,change,rate_per_s,mean");
    for (size_t i = 0; i < groups->count; i++) {
        const struct dft_counter_group *group = &groups->list[i];
        const struct dft_process *process = &group->process->process;
        double mean = (double)dft_counter_group_mean(group);

        dft_csv_text(stdout, group->category.bytes, group->category.length);
        putchar(',');
        dft_csv_text(stdout, group->name.bytes, group->name.length);
        for (unsigned k = 0; k < groups->nby; k++) {
            putchar(',');
            if (groups->by[k] == DFT_COUNTER_BY_HOST)
                dft_csv_text(stdout, process->host.bytes, process->host.length);
            else if (groups->by[k] == DFT_COUNTER_BY_PROCESS)
                printf("%u", process->pid);
            else if (process->rank >= 0)
                printf("%d", process->rank);
        }
        printf(",%s,%s,%u,%llu,%llu,%llu", unit_name(group->unit), group->kind == DFT_COUNTER_TOTAL ? "total" : "level",
               group->processes, (unsigned long long)group->samples, (unsigned long long)group->first_ns,
               (unsigned long long)group->last_ns);
        csv_value(group, group->first);
        csv_value(group, group->last);
        csv_value(group, group->least);
        csv_value(group, group->most);
        csv_value(group, group->change);
        if (group->kind == DFT_COUNTER_TOTAL)
            printf(",%.17g,\n", mean);
        else
            printf(",,%.17g\n", mean);
    }
}

void dft_counters_json(const struct dft_counter_groups *groups, struct dft_source *source, int csv)
{
    if (csv)
        put_csv(groups);
    else
        put_json(groups, source);
}

/* --- for people --------------------------------------------------------------------------------- */

static const char *show(char *room, size_t size, uint8_t unit, dft_counter_value value)
{
    char text[DFT_TEXT_ROOM];
    dft_counter_value magnitude = value < 0 ? -value : value;
    const char *sign = value < 0 ? "-" : "";

    if (magnitude >= 1e19L)
        snprintf(room, size, "%.3Lg", value);
    else if (unit == DFT_UNIT_BYTES)
        snprintf(room, size, "%s%s", sign, dft_text_bytes(text, (uint64_t)magnitude));
    else if (unit == DFT_UNIT_NS)
        snprintf(room, size, "%s%s", sign, dft_text_ns(text, (uint64_t)magnitude));
    else if (magnitude != (dft_counter_value)(uint64_t)magnitude)
        snprintf(room, size, "%.4Lg%s", value, unit == DFT_UNIT_PERCENT ? " %" : "");
    else
        snprintf(room, size, "%s%s%s", sign, dft_text_count(text, (uint64_t)magnitude),
                 unit == DFT_UNIT_PERCENT ? " %" : "");
    return room;
}

/* Growth of time is a share: of one processor, say. */
static const char *show_mean(char *room, size_t size, const struct dft_counter_group *group)
{
    dft_counter_value mean = dft_counter_group_mean(group);
    char text[64];

    if (group->kind == DFT_COUNTER_LEVEL)
        return show(room, size, group->unit,
                    group->unit == DFT_UNIT_NUMBER || group->unit == DFT_UNIT_PERCENT
                        ? mean
                        : (dft_counter_value)(int64_t)mean);
    if (group->unit == DFT_UNIT_NS)
        snprintf(room, size, "%.3Lg %%", mean / 1e7L);
    else
        snprintf(room, size, "%s/s", show(text, sizeof text, group->unit, mean));
    return room;
}

/* The course as a line of bars; without UTF-8 as digits from 0 to 7. */
static const char *show_course(char *room, const double *course)
{
    int utf8 = dft_plot_is_unicode();
    double most = 0;
    char *at = room;

    for (uint32_t i = 0; i < DFT_COUNTER_BINS; i++)
        most = course[i] > most ? course[i] : most;
    for (uint32_t i = 0; i < DFT_COUNTER_BINS; i++) {
        int level = course[i] < 0 ? -1 : most > 0 ? (int)(course[i] / most * 7 + 0.5) : 0;

        if (level < 0)
            *at++ = ' ';
        else if (utf8)
            at = stpcpy(at, dft_plot_bar(1, (unsigned)level + 1));
        else
            *at++ = (char)('0' + level);
    }
    *at = 0;
    return room;
}

static int put_key(struct dft_grid *grid, enum dft_counter_by by, const struct dft_process *process)
{
    char number[16];
    char *host;
    int rc;

    if (by == DFT_COUNTER_BY_HOST) {
        host = dft_text_escaped(process->host.bytes, process->host.length);
        rc = host ? dft_grid_cell(grid, host) : -ENOMEM;
        free(host);
        return rc;
    }
    if (by == DFT_COUNTER_BY_RANK && process->rank < 0)
        return dft_grid_cell(grid, "-");
    snprintf(number, sizeof number, "%u", by == DFT_COUNTER_BY_RANK ? (uint32_t)process->rank : process->pid);
    return dft_grid_cell(grid, number);
}

static int put_group(struct dft_grid *grid, const struct dft_counter_groups *groups,
                     const struct dft_counter_group *group)
{
    char room[128], course[DFT_COUNTER_BINS * 3 + 1], text[DFT_TEXT_ROOM];
    const dft_counter_value values[] = {group->first, group->last, group->least, group->most};
    char *category = dft_text_escaped(group->category.bytes, group->category.length);
    char *name = dft_text_escaped(group->name.bytes, group->name.length);
    char *both = NULL;
    int rc = category && name && asprintf(&both, "%s%s%s", category, *category ? " " : "", name) >= 0 ? 0 : -ENOMEM;

    if (!rc)
        rc = dft_grid_cell(grid, both);
    for (unsigned i = 0; !rc && i < groups->nby; i++)
        rc = put_key(grid, (enum dft_counter_by)groups->by[i], &group->process->process);
    if (!rc)
        rc = dft_grid_cell(grid, dft_text_count(text, group->processes));
    if (!rc)
        rc = dft_grid_cell(grid, dft_text_count(text, group->samples));
    for (unsigned i = 0; !rc && i < 4; i++)
        rc = dft_grid_cell(grid, show(room, sizeof room, group->unit, values[i]));
    if (!rc)
        rc = dft_grid_cell(grid, show_mean(room, sizeof room, group));
    if (!rc)
        rc = dft_grid_cell(grid, show_course(course, group->over_time));
    free(category);
    free(name);
    free(both);
    return rc;
}

int dft_counters_text(const struct dft_counter_groups *groups)
{
    struct dft_grid_column columns[16] = {{"counter", 1, 1, 0}};
    static const struct dft_grid_column numbers[] = {{"processes", 0, 0, 6},  {"samples", 0, 0, 7},  {"first", 0, 0, 5},
                                                     {"last", 0, 0, 1},       {"min", 0, 0, 4},      {"max", 0, 0, 2},
                                                     {"mean, rate", 0, 0, 0}, {"over time", 1, 0, 3}};
    unsigned count = 1;
    struct dft_grid *grid;
    int are_sums = 0, rc = 0;

    for (unsigned i = 0; i < groups->nby; i++)
        columns[count++] = (struct dft_grid_column){dft_counter_by_name((enum dft_counter_by)groups->by[i]),
                                                    groups->by[i] == DFT_COUNTER_BY_HOST, 0, 0};
    memcpy(columns + count, numbers, sizeof numbers);
    grid = dft_grid_create(columns, count + (unsigned)(sizeof numbers / sizeof *numbers));
    if (!grid)
        return -ENOMEM;
    for (size_t i = 0; !rc && i < groups->count; i++) {
        rc = put_group(grid, groups, &groups->list[i]);
        are_sums |= groups->list[i].processes > 1;
    }
    if (!rc)
        dft_grid_print(grid, stdout);
    if (!rc && are_sums)
        dft_text_wrapped(stdout, "", 0, "of several processes, first and last are sums; min and max are of one sample");
    dft_grid_destroy(grid);
    return rc;
}
