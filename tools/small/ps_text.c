/* SPDX-License-Identifier: MIT */
/* `dftmerge ps` for people: a sentence, then a line a process. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "command/write_jobs.h"
#include "format/end.h"
#include "job/job.h"
#include "job/job_state.h"
#include "job/lock_holder.h"
#include "small/ps_inside.h"
#include "stacks/ps_stacks_show.h"

#define INDENT_MAX 20u /* levels of the tree that are distinguished */
#define ALIKE      3u  /* so many killed processes behind one that is like them become one line */
#define NAMED      12u /* of them */

/* Arguments, each ended by a NUL, with spaces between, indented by the depth in the tree. */
static void put_command(FILE *out, const struct dft_process *process, uint32_t depth)
{
    struct dft_text command = process->command.length ? process->command : process->exe;
    const char *at = command.bytes, *end = command.length ? at + command.length : at;

    fprintf(out, "%*s", (int)(2 * (depth < INDENT_MAX ? depth : INDENT_MAX)), "");
    while (at < end) {
        const char *stop = memchr(at, '\0', (size_t)(end - at));

        dft_text_escape(out, at, (size_t)((stop ? stop : end) - at));
        at = stop ? stop + 1 : end;
        if (at < end)
            putc(' ', out);
    }
}

static int add_command(struct dft_grid *grid, const struct dft_source_process *p, uint32_t depth)
{
    char *text = NULL;
    size_t length;
    uint64_t dropped = 0;
    FILE *out = open_memstream(&text, &length);
    int rc = -ENOMEM;

    if (!out)
        return rc;
    put_command(out, &p->process, depth);
    if (p->process.role.length) {
        fputs(" [", out);
        dft_text_escape(out, p->process.role.bytes, p->process.role.length);
        putc(']', out);
    }
    for (unsigned i = 0; i <= DFT_DROP_LAST; i++)
        dropped += p->end.dropped[i];
    if (dropped)
        fprintf(out, " [%llu events lost]", (unsigned long long)dropped);
    if (!fclose(out))
        rc = dft_grid_cell(grid, text);
    free(text);
    return rc;
}

static int add_flight(struct dft_grid *grid, const struct ps *ps, const struct dft_flight *flight, uint64_t origin_ns)
{
    const struct dft_names *names = dft_source_names_table(ps->source);
    struct dft_text category, name;
    char buffer[18], flown[DFT_TEXT_ROOM], *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int rc = -ENOMEM;

    if (!out)
        return rc;
    dft_names_call(names, flight->call, &category, &name, buffer);
    fprintf(out, "%10s in flight since %+.6f s in thread %u: ", "",
            (double)(int64_t)(flight->start_ns - origin_ns) / 1e9, flight->tid);
    dft_text_escape(out, category.bytes, category.length);
    putc(' ', out);
    dft_flight_name(out, flight, ps->source);
    if (dft_job_flies(flight, ps->source))
        fprintf(out, " for %s", dft_text_ns(flown, dft_job_flown_ns(flight, ps->source)));
    dft_lock_holder_say(out, &ps->locks, flight, ps->source);
    if (!fclose(out))
        rc = dft_grid_line(grid, text);
    free(text);
    return rc;
}

static int add_number(struct dft_grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int add_number(struct dft_grid *grid, const char *format, ...)
{
    char text[40];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return dft_grid_cell(grid, text);
}

/* What threads have in flight, each with its stack below. */
static int add_threads(struct dft_grid *grid, const struct ps *ps, uint32_t process, uint64_t origin_ns)
{
    const struct dft_flights *flights = &ps->flights;
    const struct dft_ps_stacks *stacks = &ps->stacks;
    size_t stack = dft_ps_stacks_of(stacks, process);
    int rc = 0;

    for (size_t i = dft_flights_of(flights, process); !rc && i < flights->count && flights->list[i].process == process;
         i++) {
        int is_last = i + 1 == flights->count || flights->list[i + 1].process != process ||
                      flights->list[i + 1].tid != flights->list[i].tid;

        rc = add_flight(grid, ps, &flights->list[i], origin_ns);
        if (!rc && is_last && stack < stacks->count && stacks->list[stack].tid == flights->list[i].tid)
            rc = dft_ps_stacks_text(grid, &stacks->list[stack++], 0);
    }
    if (!rc && stack < stacks->count && stacks->list[stack].process == process) /* nothing is in flight */
        rc = dft_ps_stacks_text(grid, &stacks->list[stack], 1);
    return rc;
}

static int add_process(struct dft_grid *grid, const struct ps *ps, uint32_t at, uint64_t origin_ns)
{
    const struct dft_source_process *p = &ps->tree.processes[ps->tree.order[at]];
    const struct ps_io *io = &ps->io[p->number];
    char cell[DFT_TEXT_ROOM], ended[DFT_ENDED_ROOM];
    uint64_t start_ns, end_ns;
    int rc = add_number(grid, "%u", p->process.pid);

    dft_process_lifetime(p, &start_ns, &end_ns);
    rc = rc ? rc : p->process.rank < 0 ? dft_grid_cell(grid, "-") : add_number(grid, "%d", p->process.rank);
    rc = rc ? rc : add_number(grid, "%.3f s", (double)(int64_t)(start_ns - origin_ns) / 1e9);
    rc = rc ? rc : dft_grid_cell(grid, dft_text_ns(cell, end_ns - start_ns));
    rc = rc ? rc : dft_grid_cell(grid, io->time_ns ? dft_text_ns(cell, io->time_ns) : "-");
    rc = rc ? rc : dft_grid_cell(grid, end_ns > start_ns ? dft_text_share(cell, io->time_ns, end_ns - start_ns) : "-");
    rc = rc ? rc : dft_grid_cell(grid, io->read ? dft_text_bytes(cell, io->read) : "-");
    rc = rc ? rc : dft_grid_cell(grid, io->written ? dft_text_bytes(cell, io->written) : "-");
    rc = rc ? rc : dft_grid_cell(grid, dft_text_count(cell, p->events));
    rc = rc ? rc : dft_grid_cell(grid, dft_process_ended(ended, p));
    rc = rc ? rc : add_command(grid, p, ps->tree.depth[at]);
    return rc ? rc : add_threads(grid, ps, p->number, origin_ns);
}

/* --- killed processes that are alike ---------------------------------------------------------- */

/* The same parent, command and end? */
static int is_alike(const struct dft_source_process *p, const struct dft_source_process *first)
{
    return p->exit_kind == first->exit_kind && dft_process_signal(p) == dft_process_signal(first) &&
           (p->process.rank < 0) == (first->process.rank < 0) &&
           dft_text_same(p->process.command, first->process.command) &&
           dft_text_same(p->process.exe, first->process.exe);
}

/* How many processes behind this one were killed as it was. Who died first has a line of its own. */
static uint32_t count_alike(const struct ps *ps, uint32_t at)
{
    const struct dft_ps_tree *tree = &ps->tree;
    const struct dft_source_process *first = &tree->processes[tree->order[at]];
    uint32_t n = 0;

    if (first->exit_kind != DFT_ENDING_KILLED || ps->with_all || ps->with_stacks ||
        (dft_process_knows_status(first) && first->number + 1 == ps->fates.first))
        return 0;
    for (uint32_t i = at + 1; i < tree->shown; i++, n++) {
        const struct dft_source_process *p = &tree->processes[tree->order[i]];

        if (tree->depth[i] != tree->depth[at] || tree->parent[tree->order[i]] != tree->parent[tree->order[at]] ||
            !is_alike(p, first) || (dft_process_knows_status(p) && p->number + 1 == ps->fates.first))
            break;
    }
    return n < ALIKE ? 0 : n;
}

/* Ranks where these differ, else process ids. */
static void name_alike(FILE *out, const struct ps *ps, uint32_t from, uint32_t count)
{
    const struct dft_source_process *processes = ps->tree.processes;
    const uint32_t *order = ps->tree.order;
    int by_rank = processes[order[from]].process.rank != processes[order[from + 1]].process.rank;

    fputs(by_rank ? " ranks" : "", out);
    for (uint32_t i = from; i < from + count && i < from + NAMED; i++)
        fprintf(out, "%s%lld", i == from || (i - from) % 8 ? " " : "\n            ",
                by_rank ? (long long)processes[order[i]].process.rank : (long long)processes[order[i]].process.pid);
    if (count > NAMED)
        fputs(" ... (--all: each by itself)", out);
}

static int add_alike(struct dft_grid *grid, const struct ps *ps, uint32_t from, uint32_t count)
{
    const struct dft_source_process *first = &ps->tree.processes[ps->tree.order[from]];
    struct ps_io sum = {0};
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], ended[DFT_ENDED_ROOM], *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int rc = -ENOMEM;

    if (!out)
        return rc;
    for (uint32_t i = from; i < from + count; i++) {
        sum.time_ns += ps->io[ps->tree.order[i]].time_ns;
        sum.read += ps->io[ps->tree.order[i]].read;
        sum.written += ps->io[ps->tree.order[i]].written;
    }
    fprintf(out, "%10s %u more like it were killed%s%s, I/O %s, ", "", count, dft_process_signal(first) ? " by " : "",
            dft_process_signal(first) ? dft_process_ended(ended, first) : "", dft_text_ns(a, sum.time_ns));
    fprintf(out, "%s read, %s written:", dft_text_bytes(b, sum.read), dft_text_bytes(a, sum.written));
    name_alike(out, ps, from, count);
    if (!fclose(out))
        rc = dft_grid_line(grid, text);
    free(text);
    return rc;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* How many processes there are, how they ended, and what they did. */
static int print_head(const struct ps *ps)
{
    uint32_t ended[DFT_ENDING_RUNNING + 1] = {0};
    struct ps_io sum = {0};
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    const char *comma = "; ";
    struct dft_sentence sentence;
    FILE *out = dft_sentence_begin(&sentence);

    for (uint32_t i = 0; i < ps->tree.shown; i++) {
        const struct dft_source_process *p = &ps->tree.processes[ps->tree.order[i]];

        sum.time_ns += ps->io[p->number].time_ns;
        sum.read += ps->io[p->number].read;
        sum.written += ps->io[p->number].written;
        if (p->exit_kind <= DFT_ENDING_RUNNING)
            ended[p->exit_kind]++;
    }
    if (!out)
        return -ENOMEM;
    fprintf(out, "%u process image%s: I/O %s, %s read, %s written", ps->tree.shown, ps->tree.shown == 1 ? "" : "s",
            dft_text_ns(a, sum.time_ns), dft_text_bytes(b, sum.read), dft_text_bytes(c, sum.written));
    for (unsigned i = 0; i <= DFT_ENDING_RUNNING; i++) {
        if (!ended[i] || i == DFT_ENDING_EXIT)
            continue;
        fprintf(out, "%s%u %s", comma, ended[i], dft_ending_text((enum dft_ending)i));
        comma = ", ";
    }
    if (ps->fates.first && dft_process_knows_status(&ps->tree.processes[ps->fates.first - 1])) {
        fputs("; ended badly: ", out); /* more is known of them than that they were killed */
        dft_fates_say(out, &ps->fates, ps->source);
    }
    return dft_sentence_end(&sentence, out, "", 0);
}

/* A command is cut where the line would not fit the terminal; in a pipe it is whole. */
int dft_ps_text(const struct ps *ps)
{
    const uint8_t cut = dft_terminal_fits() ? 1 : DFT_GRID_WHOLE;
    const struct dft_grid_column columns[] = {
        {"pid", 0, 0, 0},    {"rank", 0, 0, 3},  {"from", 0, 0, 4},      {"time", 0, 0, 0},
        {"I/O", 0, 0, 0},    {"%", 0, 0, 5},     {"read", 0, 0, 2},      {"written", 0, 0, 1},
        {"events", 0, 0, 6}, {"ended", 1, 0, 0}, {"command", 1, cut, 0},
    };
    struct dft_grid *grid = dft_grid_create(columns, sizeof columns / sizeof *columns);
    uint64_t origin_ns, end_ns;
    int rc = grid ? 0 : -ENOMEM;

    dft_source_lives(ps->source, &origin_ns, &end_ns);
    for (uint32_t i = 0, alike; !rc && i < ps->tree.shown; i += 1 + alike) {
        alike = count_alike(ps, i);
        rc = add_process(grid, ps, i, origin_ns);
        if (!rc && alike)
            rc = add_alike(grid, ps, i + 1, alike);
    }
    if (!rc) {
        rc = print_head(ps);
        dft_grid_print(grid, stdout);
        rc = rc ? rc : dft_text_jobs(ps->source);
        rc = rc ? rc : dft_text_runs(ps->source);
    }
    dft_grid_destroy(grid);
    return rc;
}
