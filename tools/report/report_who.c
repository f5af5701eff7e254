/* SPDX-License-Identifier: MIT */
/* Times and processes of the page: the bins of time, who is who, and the process tree. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/command_line.h"
#include "base/order.h"
#include "base/write_text.h"
#include "format/hash.h"
#include "format/end.h"
#include "report/report_dimensions.h"
#include "views/ps_tree.h"
#include "judge/source_ending.h"
#include "object/source_node.h"
#include "analysis/timeline.h"
#include "report/report_make.h"

#define BINS 240u /* of time, at most, but for what a multiple of the rows' interval makes more */

int dft_report_times(struct dft_report *report)
{
    struct dft_timeline timeline = {.source = report->source, .options = report->options, .job = report->job};
    int rc = dft_timeline_choose_width(&timeline, 0, BINS);

    report->width_ns = timeline.width_ns;
    report->from_ns = timeline.start_ns;
    report->to_ns = timeline.end_ns > timeline.start_ns ? timeline.end_ns : timeline.start_ns + 1;
    return rc;
}

/* --- who is who ------------------------------------------------------------------------------- */

/* A process, in the order of the dimension. */
struct member {
    int64_t rank; /* those without a rank come last */
    uint64_t start_ns, end_ns;
    uint32_t number;
};

static int by_rank(const void *left, const void *right)
{
    const struct member *a = left, *b = right;

    DFT_ORDER((uint64_t)a->rank, (uint64_t)b->rank);
    DFT_ORDER(a->start_ns, b->start_ns);
    DFT_ORDER(a->number, b->number);
    return 0;
}

/* Returns how many there are. */
static uint32_t list_members(const struct dft_report *report, struct member *members)
{
    uint32_t count, n = 0;
    const struct dft_source_process *processes = dft_source_processes(report->source, &count);

    for (uint32_t i = 0; i < count; i++) {
        struct member *member = &members[n];

        if (dft_process_is_node(&processes[i]) || !dft_filter_process(&report->options->filter, &processes[i]))
            continue;
        *member = (struct member){.rank = processes[i].process.rank, .number = i};
        dft_process_lifetime(&processes[i], &member->start_ns, &member->end_ns);
        n++;
    }
    if (n)
        qsort(members, n, sizeof *members, by_rank);
    return n;
}

/* The last part of the program's path. */
static struct dft_text program_of(const struct dft_process *process)
{
    return dft_filter_trait(process, DFT_FILTER_PROGRAM);
}

/* Value v of the dimension has the members [first(v), first(v + 1)). */
static uint32_t first_of(const struct dft_report *report, uint32_t count, uint32_t value)
{
    return report->whos == count ? value : (uint32_t)((uint64_t)value * count / report->whos);
}

#define LABEL 256

/* "rank 3", "DataLoader worker 3/8", "app 4711". Returns its length. */
static int make_label(const struct dft_report *report, const struct member *first, uint32_t members, char label[LABEL])
{
    uint32_t count;
    const struct dft_process *process = &dft_source_processes(report->source, &count)[first->number].process;
    struct dft_text program = program_of(process);
    int role = (int)(process->role.length < 128 ? process->role.length : 128), n;

    if (members > 1)
        n = snprintf(label, LABEL, "%u processes from %s %lld on", members, process->rank >= 0 ? "rank" : "pid",
                     process->rank >= 0 ? (long long)process->rank : (long long)process->pid);
    else if (process->rank >= 0)
        n = snprintf(label, LABEL, "rank %d%s%.*s", process->rank, role ? ", " : "", role,
                     role ? process->role.bytes : "");
    else if (role)
        n = snprintf(label, LABEL, "%.*s", role, process->role.bytes);
    else
        n = snprintf(label, LABEL, "%.*s %u", (int)(program.length < 128 ? program.length : 128),
                     program.length ? program.bytes : "pid", process->pid);
    return n < LABEL ? n : LABEL - 1;
}

/* The page knows who is chosen by the label, so that two runs can be held against each other. A label
 * that stands for somebody already gets a number: "DataLoader worker 3/8 #2". */
static int put_labels(struct dft_report *report, const struct member *members, uint32_t count)
{
    struct dft_map times = {0};
    char label[LABEL + 16];
    int rc = 0;

    for (uint32_t i = 0; i < report->whos && !rc; i++) {
        uint32_t first = first_of(report, count, i);
        int n = make_label(report, &members[first], first_of(report, count, i + 1) - first, label);
        uint64_t *seen = dft_map_put(&times, dft_name_id(label, (size_t)n));

        if (seen && ++*seen > 1)
            n += snprintf(label + n, 16, " #%llu", (unsigned long long)*seen);
        dft_data_text(&report->data, label, (size_t)n);
        rc = seen ? 0 : -ENOMEM;
    }
    dft_map_fini(&times);
    return rc;
}

static uint64_t life_of(const struct member *member)
{
    return member->end_ns > member->start_ns ? member->end_ns - member->start_ns : 0;
}

static int put_who(struct dft_report *report, const struct member *members, uint32_t count)
{
    struct dft_page_data *data = &report->data;
    int rc;

    dft_data_begin_table(data, "who", report->whos);
    dft_data_begin_column(data, "label", DFT_DATA_TEXT);
    rc = put_labels(report, members, count);
    DFT_DATA_COLUMN(data, "rank", DFT_DATA_UNSIGNED, report->whos,
                    report->whos == count ? (uint64_t)(members[i].rank + 1) : 0);
    DFT_DATA_COLUMN(data, "processes", DFT_DATA_UNSIGNED, report->whos,
                    first_of(report, count, i + 1) - first_of(report, count, i));
    DFT_DATA_COLUMN(data, "start_ns", DFT_DATA_UNSIGNED, report->whos,
                    dft_report_after(report, members[first_of(report, count, i)].start_ns));
    DFT_DATA_COLUMN(data, "life_ns", DFT_DATA_UNSIGNED, report->whos, life_of(&members[first_of(report, count, i)]));
    return rc;
}

static int number_who(struct dft_report *report, const struct member *members, uint32_t count)
{
    uint32_t processes;

    dft_source_processes(report->source, &processes);
    report->who_of = malloc((processes + 1u) * sizeof *report->who_of);
    if (!report->who_of)
        return -ENOMEM;
    for (uint32_t i = 0; i < processes; i++)
        report->who_of[i] = DFT_WHO_MAX;
    report->whos = count < DFT_WHO_MAX ? count : DFT_WHO_MAX;
    for (uint32_t value = 0; value < report->whos; value++)
        for (uint32_t i = first_of(report, count, value); i < first_of(report, count, value + 1); i++)
            report->who_of[members[i].number] = value;
    report->who_word = count > DFT_WHO_MAX ? "ranks" : report->job.ranks > 1 ? "rank" : "process";
    if (count <= DFT_WHO_MAX)
        return 0;
    return dft_report_thinned(report, "processes", DFT_WHO_MAX, count,
                              "%u processes stand together as %u lines of neighbours", count, DFT_WHO_MAX);
}

/* --- the tree --------------------------------------------------------------------------------- */

static void put_command(struct dft_page_data *data, const struct dft_process *process)
{
    char *text = dft_command_line(process->command.length ? process->command : process->exe);

    if (text)
        dft_data_text(data, text, strlen(text));
    else
        data->error = -ENOMEM;
    free(text);
}

typedef uint64_t number_fn(const struct dft_report *report, const struct dft_source_process *process);

static uint64_t get_who(const struct dft_report *report, const struct dft_source_process *process)
{
    return report->who_of[process->number];
}

static uint64_t get_pid(const struct dft_report *report, const struct dft_source_process *process)
{
    (void)report;
    return process->process.pid;
}

static uint64_t get_rank(const struct dft_report *report, const struct dft_source_process *process)
{
    (void)report;
    return (uint64_t)((int64_t)process->process.rank + 1);
}

static uint64_t get_start(const struct dft_report *report, const struct dft_source_process *process)
{
    uint64_t start, end;

    dft_process_lifetime(process, &start, &end);
    return dft_report_after(report, start);
}

static uint64_t get_life(const struct dft_report *report, const struct dft_source_process *process)
{
    uint64_t start, end;

    (void)report;
    dft_process_lifetime(process, &start, &end);
    return end > start ? end - start : 0;
}

static uint64_t get_threads(const struct dft_report *report, const struct dft_source_process *process)
{
    return report->job.threads_of ? report->job.threads_of[process->number] : 0;
}

static void put_texts(struct dft_report *report, const struct dft_ps_tree *tree, const uint32_t *rows, uint32_t count)
{
    struct dft_page_data *data = &report->data;

    dft_data_begin_column(data, "program", DFT_DATA_TEXT);
    for (uint32_t i = 0; i < count; i++) {
        struct dft_text text = program_of(&tree->processes[rows[i]].process);

        dft_data_text(data, text.bytes, text.length);
    }
    dft_data_begin_column(data, "role", DFT_DATA_TEXT);
    for (uint32_t i = 0; i < count; i++) {
        struct dft_text text = tree->processes[rows[i]].process.role;

        dft_data_text(data, text.bytes, text.length);
    }
    dft_data_begin_column(data, "host", DFT_DATA_TEXT);
    for (uint32_t i = 0; i < count; i++) {
        struct dft_text text = tree->processes[rows[i]].process.host;

        dft_data_text(data, text.bytes, text.length);
    }
    dft_data_begin_column(data, "command", DFT_DATA_TEXT);
    for (uint32_t i = 0; i < count; i++)
        put_command(data, &tree->processes[rows[i]].process);
    dft_data_begin_column(data, "ended", DFT_DATA_TEXT);
    for (uint32_t i = 0; i < count; i++) {
        char text[DFT_ENDED_ROOM];

        dft_process_ended(text, &tree->processes[rows[i]]);
        dft_data_text(data, text, (uint32_t)strlen(text));
    }
}

static void put_tree(struct dft_report *report, const struct dft_ps_tree *tree, const uint32_t *rows, uint32_t count)
{
    static const struct {
        const char *name;
        number_fn *get;
    } columns[] = {{"p", get_who},          {"pid", get_pid},      {"rank", get_rank},
                   {"start_ns", get_start}, {"life_ns", get_life}, {"threads", get_threads}};
    struct dft_page_data *data = &report->data;

    dft_data_begin_table(data, "processes", count);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        dft_data_begin_column(data, columns[c].name, DFT_DATA_UNSIGNED);
        for (uint32_t i = 0; i < count; i++)
            dft_data_put(data, columns[c].get(report, &tree->processes[rows[i]]));
    }
    dft_data_begin_column(data, "parent", DFT_DATA_UNSIGNED);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = tree->parent[rows[i]];

        dft_data_put(data, parent == DFT_PS_ROOT ? 0 : report->row_of[parent]);
    }
    put_texts(report, tree, rows, count);
}

static int put_processes(struct dft_report *report)
{
    struct dft_ps_tree tree;
    uint32_t *rows, count = 0;
    int rc = dft_ps_tree_make(&tree, report->source, &report->options->filter);

    rows = calloc(tree.count + 1u, sizeof *rows);
    report->row_of = calloc(tree.count + 1u, sizeof *report->row_of);
    rc = rc ? rc : rows && report->row_of ? 0 : -ENOMEM;
    for (uint32_t i = 0; !rc && i < tree.shown; i++)
        if (report->who_of[tree.order[i]] < DFT_WHO_MAX && count < DFT_REPORT_PROCESSES) {
            rows[count] = tree.order[i];
            report->row_of[tree.order[i]] = ++count;
        }
    if (!rc)
        put_tree(report, &tree, rows, count);
    if (!rc && count < tree.shown && count == DFT_REPORT_PROCESSES)
        rc = dft_report_thinned(report, "processes of the tree", count, tree.shown,
                                "the process tree has the first %u of %u processes", count, tree.shown);
    free(rows);
    dft_ps_tree_free(&tree);
    return rc;
}

/* Lists all members, and gives them to `use`. */
static int with_members(struct dft_report *report,
                        int (*use)(struct dft_report *report, const struct member *members, uint32_t count))
{
    uint32_t processes;
    struct member *members;
    int rc;

    dft_source_processes(report->source, &processes);
    members = calloc(processes + 1u, sizeof *members);
    if (!members)
        return -ENOMEM;
    rc = use(report, members, list_members(report, members));
    free(members);
    return rc;
}

int dft_report_who(struct dft_report *report)
{
    return with_members(report, number_who);
}

int dft_report_people(struct dft_report *report)
{
    int rc = with_members(report, put_who);

    return rc ? rc : put_processes(report);
}
