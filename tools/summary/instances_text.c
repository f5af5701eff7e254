/* SPDX-License-Identifier: MIT */
/* Instances of regions in order, as text, JSON and CSV. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/names.h"
#include "base/write_json.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "judge/source_ending.h"
#include "object/source_notes.h"
#include "summary/instances.h"

#define TOP 50u

/* Numbers of an instance that it may be sorted by. */
enum column { FROM, TIME, IO, WAIT, READ, WRITTEN, EVERY, MOVED, COLUMNS };
static const char *const titles[COLUMNS] = {"from", "time", "I/O", "wait", "read", "written", "all I/O", "all bytes"};

static uint64_t value_of(const struct dft_instance *instance, enum column column)
{
    const uint64_t values[COLUMNS] = {
        [FROM] = instance->start_ns,     [TIME] = instance->end_ns - instance->start_ns,
        [IO] = instance->own.io_ns,      [WAIT] = instance->own.wait_ns,
        [READ] = instance->own.read,     [WRITTEN] = instance->own.written,
        [EVERY] = instance->every.io_ns, [MOVED] = instance->every.read + instance->every.written};

    return values[column];
}

/* -1: there is none. */
static int column_of(const char *word)
{
    int found = -1;

    for (int i = 0; i < COLUMNS; i++)
        if (!strcasecmp(titles[i], word))
            return i;
    for (int i = 0; *word && i < COLUMNS; i++)
        if (!strncasecmp(titles[i], word, strlen(word)))
            found = found < 0 ? i : COLUMNS;
    return found < COLUMNS ? found : -1;
}

int dft_summary_instances_check(const struct dft_summary *summary)
{
    const char *sort = summary->options->sort;

    if (!sort || column_of(sort) >= 0)
        return 0;
    fprintf(stderr, "dftmerge summary: --sort %s: no such column, or several begin so.", sort);
    dft_say_words(sort, "Instances have", titles, COLUMNS);
    return -EINVAL;
}

static int compare(const void *left, const void *right, void *context)
{
    const struct dft_instance *a = left, *b = right;
    enum column column = *(const enum column *)context;
    uint64_t x = value_of(a, column), y = value_of(b, column);

    if (x != y)
        return (x < y) == (column == FROM) ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->end_ns != b->end_ns) /* what is around first */
        return a->end_ns > b->end_ns ? -1 : 1;
    return a->process != b->process ? (a->process < b->process ? -1 : 1) : a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* --- text ------------------------------------------------------------------------------------- */

static int add_name(struct dft_grid *grid, const struct dft_summary *summary, const struct dft_instance *instance)
{
    struct dft_text category, name;
    char buffer[18], *text = NULL, *escaped;
    char number[DFT_TEXT_ROOM] = "";
    int length, rc = -ENOMEM;

    if (instance->number && !*instance->args)
        snprintf(number, sizeof number, " %u", instance->number);
    dft_names_call(dft_source_names_table(summary->source), instance->call, &category, &name, buffer);
    length = asprintf(&text, "%.*s%s%s%s%s", (int)name.length, name.length ? name.bytes : "", number,
                      *instance->args ? " (" : "", instance->args, *instance->args ? ")" : "");
    if (length < 0)
        return -ENOMEM;
    escaped = dft_text_escaped(text, (size_t)length);
    if (escaped)
        rc = dft_grid_cell(grid, escaped);
    free(escaped);
    free(text);
    return rc;
}

static int add_line(struct dft_grid *grid, const struct dft_summary *summary, const struct dft_instance *instance,
                    uint64_t origin_ns)
{
    const struct dft_source_process *processes;
    char cell[DFT_TEXT_ROOM];
    uint32_t count;
    int32_t rank;
    int rc;

    processes = dft_source_processes(summary->source, &count);
    rank = processes[instance->process].process.rank;
    snprintf(cell, sizeof cell, "%.3f s", (double)(instance->start_ns - origin_ns) / 1e9);
    rc = dft_grid_cell(grid, cell);
    rc = rc ? rc : add_name(grid, summary, instance);
    snprintf(cell, sizeof cell, rank < 0 ? "-" : "%d", rank);
    rc = rc ? rc : dft_grid_cell(grid, cell);
    snprintf(cell, sizeof cell, "%u", processes[instance->process].process.pid);
    rc = rc ? rc : dft_grid_cell(grid, cell);
    rc = rc ? rc : dft_grid_cell(grid, dft_text_ns(cell, value_of(instance, TIME)));
    rc = rc ? rc : dft_grid_cell(grid, dft_text_count(cell, instance->own.calls));
    rc = rc ? rc : dft_grid_cell(grid, dft_text_ns(cell, instance->own.io_ns));
    rc = rc ? rc : dft_grid_cell(grid, dft_text_share(cell, instance->own.io_ns, value_of(instance, TIME)));
    rc = rc ? rc : dft_grid_cell(grid, dft_text_ns(cell, instance->own.wait_ns));
    rc = rc ? rc : dft_grid_cell(grid, dft_text_bytes(cell, instance->own.read));
    rc = rc ? rc : dft_grid_cell(grid, dft_text_bytes(cell, instance->own.written));
    rc = rc ? rc : dft_grid_cell(grid, dft_text_ns(cell, instance->every.io_ns));
    return rc ? rc : dft_grid_cell(grid, dft_text_bytes(cell, value_of(instance, MOVED)));
}

static int print_text(const struct dft_summary *summary, const struct dft_instances *instances, size_t shown, int sort)
{
    char marked[COLUMNS][DFT_TEXT_ROOM], a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    const uint8_t narrow = dft_terminal_width() < 80; /* else numbers go before names are cut */
    struct dft_grid *grid;
    uint64_t origin_ns, end_ns;
    int rc = 0;

    for (int i = 0; i < COLUMNS; i++)
        snprintf(marked[i], sizeof marked[i], "%s%s", sort == i && summary->options->sort ? "*" : "", titles[i]);
    const struct dft_grid_column columns[] = {
        {marked[FROM], 0, 0, 0}, {"region", 1, narrow, 0}, {"rank", 0, 0, 4},          {"pid", 0, 0, 5},
        {marked[TIME], 0, 0, 0}, {"calls", 0, 0, 3},       {marked[IO], 0, 0, 0},      {"%", 0, 0, 2},
        {marked[WAIT], 0, 0, 0}, {marked[READ], 0, 0, 1},  {marked[WRITTEN], 0, 0, 1}, {marked[EVERY], 0, 0, 1},
        {marked[MOVED], 0, 0, 1}};

    grid = dft_grid_create(columns, sizeof columns / sizeof *columns);
    if (!grid)
        return -ENOMEM;
    dft_source_lives(summary->source, &origin_ns, &end_ns);
    for (size_t i = 0; i < shown && !rc; i++)
        rc = add_line(grid, summary, &instances->list[i], origin_ns);
    if (!rc) {
        printf("Instances of regions");
        if (shown < instances->found)
            printf(" (%s of %s)", dft_text_count(a, shown), dft_text_count(b, instances->found));
        putchar('\n');
        dft_grid_print(grid, stdout);
        dft_text_wrapped(
            stdout, "", 0,
            "calls, I/O, bytes and wait are of the region's thread; all I/O and all bytes are of all processes meanwhile");
    }
    dft_grid_destroy(grid);
    return rc;
}

/* --- for programs ----------------------------------------------------------------------------- */

static void put_json(struct dft_json *json, const struct dft_summary *summary, const struct dft_instance *instance)
{
    const struct dft_source_process *processes;
    struct dft_text category, name;
    char text[18];
    uint32_t count;

    processes = dft_source_processes(summary->source, &count);
    dft_names_call(dft_source_names_table(summary->source), instance->call, &category, &name, text);
    dft_json_object(json, NULL);
    dft_json_text(json, "cat", category.bytes, category.length);
    dft_json_text(json, "name", name.bytes, name.length);
    dft_json_string(json, "args", instance->args);
    dft_json_known_uint(json, "number", instance->number != 0, instance->number);
    dft_json_uint(json, "pid", processes[instance->process].process.pid);
    dft_json_uint(json, "tid", instance->tid);
    dft_json_known_int(json, "rank", processes[instance->process].process.rank >= 0,
                       processes[instance->process].process.rank);
    dft_json_uint(json, "start_ns", instance->start_ns);
    dft_json_uint(json, "time_ns", value_of(instance, TIME));
    dft_json_uint(json, "count", instance->own.calls);
    dft_json_uint(json, "io_ns", instance->own.io_ns);
    dft_json_uint(json, "wait_ns", instance->own.wait_ns);
    dft_json_uint(json, "read_bytes", instance->own.read);
    dft_json_uint(json, "write_bytes", instance->own.written);
    dft_json_uint(json, "all_count", instance->every.calls);
    dft_json_uint(json, "all_io_ns", instance->every.io_ns);
    dft_json_uint(json, "all_read_bytes", instance->every.read);
    dft_json_uint(json, "all_write_bytes", instance->every.written);
    dft_json_end_object(json);
}

static void print_json(const struct dft_summary *summary, const struct dft_instances *instances, size_t shown)
{
    struct dft_json json;
    char *const *notes;
    size_t count;

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_uint(&json, "found", instances->found);
    dft_json_array(&json, "instances");
    for (size_t i = 0; i < shown; i++)
        put_json(&json, summary, &instances->list[i]);
    dft_json_end_array(&json);
    notes = dft_source_notes(summary->source, &count);
    dft_json_strings(&json, "notes", notes, count);
    dft_json_end_object(&json);
    putchar('\n');
}

static void print_csv(const struct dft_summary *summary, const struct dft_instances *instances, size_t shown)
{
    const struct dft_source_process *processes;
    struct dft_text category, name;
    char text[18];
    uint32_t count;

    processes = dft_source_processes(summary->source, &count);
    puts(
        "cat,name,args,pid,tid,rank,start_ns,time_ns,count,io_ns,wait_ns,read_bytes,write_bytes,all_io_ns,all_read_bytes,all_write_bytes,number");
    for (size_t i = 0; i < shown; i++) {
        const struct dft_instance *one = &instances->list[i];
        const struct dft_process *process = &processes[one->process].process;

        dft_names_call(dft_source_names_table(summary->source), one->call, &category, &name, text);
        dft_csv_text(stdout, category.bytes, category.length);
        putchar(',');
        dft_csv_text(stdout, name.bytes, name.length);
        putchar(',');
        dft_csv_text(stdout, one->args, strlen(one->args));
        printf(",%u,%u,", process->pid, one->tid);
        if (process->rank >= 0)
            printf("%d", process->rank);
        printf(",%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,", (unsigned long long)one->start_ns,
               (unsigned long long)value_of(one, TIME), (unsigned long long)one->own.calls,
               (unsigned long long)one->own.io_ns, (unsigned long long)one->own.wait_ns,
               (unsigned long long)one->own.read, (unsigned long long)one->own.written,
               (unsigned long long)one->every.io_ns, (unsigned long long)one->every.read,
               (unsigned long long)one->every.written);
        if (one->number)
            printf("%u", one->number);
        putchar('\n');
    }
}

int dft_summary_instances(struct dft_summary *summary)
{
    const struct dft_options *options = summary->options;
    struct dft_instances instances;
    enum column column = options->sort ? (enum column)column_of(options->sort) : FROM;
    int rc = dft_instances_collect(&instances, summary->source, &options->filter), programs;
    size_t shown = instances.count, top = options->top;

    if (rc)
        goto out;
    programs = options->json || options->csv;
    top = top || programs ? top : TOP;
    shown = top && top < shown ? top : shown;
    if (instances.count)
        qsort_r(instances.list, instances.count, sizeof *instances.list, compare, &column);
    if (instances.found > instances.count)
        dft_source_note(summary->source, 0,
                        "of %llu instances only the %zu longest are looked at: --region, --rank or --from choose fewer",
                        (unsigned long long)instances.found, instances.count);
    if (!instances.found && !dft_filter_has(&options->filter, DFT_FILTER_REGION))
        dft_source_note(summary->source, 0, "no region was recorded: annotations make them (docs/annotations.md)");
    else if (!instances.found)
        dft_command_nothing(options, summary->source);
    if (options->json)
        print_json(summary, &instances, shown);
    else if (options->csv)
        print_csv(summary, &instances, shown);
    else if (instances.count)
        rc = print_text(summary, &instances, shown, (int)column);
out:
    dft_instances_fini(&instances);
    return rc;
}
