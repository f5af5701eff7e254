/* SPDX-License-Identifier: MIT */
/* `dftmerge ps`: the processes of a job as a tree, how each of them ended, and what it was doing
 * then. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "command/command.h"
#include "format/end.h"
#include "small/ps_inside.h"
#include "command/write_jobs.h"
#include "base/write_json.h"
#include "base/write_text.h"
#include "source/source_notes.h"
#include "base/names.h"

#define INDENT_MAX 20u /* levels of the tree that are told apart */

/* --- text ------------------------------------------------------------------------------------- */

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
    for (unsigned i = 1; i <= DFT_DROP_LAST; i++)
        dropped += p->end.dropped[i];
    if (dropped)
        fprintf(out, " [%llu events lost]", (unsigned long long)dropped);
    if (!fclose(out))
        rc = dft_grid_cell(grid, text);
    free(text);
    return rc;
}

static int add_flight(struct dft_grid *grid, const struct ps *ps, const struct dft_ps_flight *flight,
                      uint64_t origin_ns)
{
    const struct dft_names *names = dft_source_names_table(ps->source);
    struct dft_text category, name, file;
    char capacity[18], *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int rc = -ENOMEM;

    if (!out)
        return rc;
    dft_names_call(names, flight->call, &category, &name, capacity);
    fprintf(out, "%10s in flight since %+.6f s in thread %u: ", "",
            (double)(int64_t)(flight->start_ns - origin_ns) / 1e9, flight->tid);
    dft_text_escape(out, category.bytes, category.length);
    putc(' ', out);
    dft_text_escape(out, name.bytes, name.length);
    if (flight->file) {
        file = dft_names_show(names, flight->file, capacity);
        fputs(" of ", out);
        dft_text_escape(out, file.bytes, file.length);
    }
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
    const struct dft_ps_flights *flights = &ps->flights;
    const struct dft_ps_stacks *stacks = &ps->stacks;
    size_t stack = dft_ps_stacks_of(stacks, process);
    int rc = 0;

    for (size_t i = dft_ps_flights_of(flights, process);
         !rc && i < flights->count && flights->list[i].process == process; i++) {
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
    uint64_t start_ns, end_ns;
    int rc = add_number(grid, "%u", p->process.pid);

    dft_process_lifetime(p, &start_ns, &end_ns);
    rc = rc ? rc : p->process.rank < 0 ? dft_grid_cell(grid, "-") : add_number(grid, "%d", p->process.rank);
    rc = rc ? rc : add_number(grid, "%+.6f", (double)(int64_t)(start_ns - origin_ns) / 1e9);
    rc = rc ? rc : add_number(grid, "%.6f", (double)(end_ns - start_ns) / 1e9);
    rc = rc ? rc : add_number(grid, "%llu", (unsigned long long)p->events);
    rc = rc ? rc : dft_grid_cell(grid, dft_ending_text((enum dft_ending)p->exit_kind));
    rc = rc ? rc : add_command(grid, p, ps->tree.depth[at]);
    return rc ? rc : add_threads(grid, ps, p->number, origin_ns);
}

/* A command is cut where the line would not fit the terminal; in a pipe it is whole. */
static int print_text(const struct ps *ps)
{
    const uint8_t cut = dft_terminal_is() || getenv("COLUMNS");
    const struct dft_grid_column columns[] = {
        {"PID", 0, 0, 0},    {"RANK", 0, 0, 2},  {"START s", 0, 0, 3},   {"WALL s", 0, 0, 0},
        {"EVENTS", 0, 0, 1}, {"ENDED", 1, 0, 0}, {"COMMAND", 1, cut, 0},
    };
    struct dft_grid *grid = dft_grid_create(columns, sizeof columns / sizeof *columns);
    uint64_t origin_ns, end_ns;
    int rc = grid ? 0 : -ENOMEM;

    dft_source_lives(ps->source, &origin_ns, &end_ns);
    for (uint32_t i = 0; !rc && i < ps->tree.shown; i++)
        rc = add_process(grid, ps, i, origin_ns);
    if (!rc) {
        dft_grid_print(grid, stdout);
        printf("%u process image%s.\n", ps->tree.shown, ps->tree.shown == 1 ? "" : "s");
        dft_text_jobs(ps->source);
        dft_text_runs(ps->source);
    }
    dft_grid_destroy(grid);
    return rc;
}

/* Before the source is opened. */
static int find_processes(const struct dft_options *options)
{
#ifdef DFT_HAVE_UNWIND
    return dft_ps_stacks_paths((char **)(uintptr_t)options->source.paths, options->source.npaths);
#else
    (void)options;
    fputs(
        "dftmerge: ps --stacks: this dftmerge was built without libunwind. Install libunwind-dev, and build it anew\n",
        stderr);
    return -1;
#endif
}

static int take_stacks(struct ps *ps)
{
#ifdef DFT_HAVE_UNWIND
    if (ps->with_stacks)
        return dft_ps_stacks_take(&ps->stacks, ps->source, &ps->tree, &ps->flights);
#endif
    (void)ps;
    return 0;
}

static int run(int argc, char **argv)
{
    struct dft_options options;
    struct ps ps = {.flights.lock = PTHREAD_MUTEX_INITIALIZER};
    const struct dft_option own[] = {
        {.name = "stacks",
         .flag = &ps.with_stacks,
         .help = "where each thread is now that has a call or region in flight; PATH may be a process id"},
        {0}};
    int code;

    if (dft_options_parse(&options, &dft_command_ps, own, argc, argv, &code))
        return code;
    if (ps.with_stacks && find_processes(&options)) {
        dft_options_fini(&options);
        return DFT_EXIT_BAD;
    }
    if (dft_command_begin(&options, &ps.source, &code))
        return code;
    code = DFT_EXIT_BAD;
    if (dft_ps_tree_make(&ps.tree, ps.source, &options.filter) == 0 &&
        dft_ps_flights_fetch(&ps.flights, ps.source) == 0 && take_stacks(&ps) == 0) {
        if (!ps.tree.shown)
            dft_command_nothing(&options, ps.source);
        if (options.json)
            dft_ps_json(&ps);
        if (options.json || print_text(&ps) == 0)
            code = DFT_EXIT_OK;
    }
    dft_ps_tree_free(&ps.tree);
    dft_ps_flights_free(&ps.flights);
    dft_ps_stacks_free(&ps.stacks);
    return dft_command_end(&options, ps.source, code);
}

const struct dft_command dft_command_ps = {
    .name = "ps",
    .arguments = "PATH...",
    .brief = "processes: tree, program, rank, start, end, how it ended, what was in flight",
    .details =
        "There is one line for each process image (a process that execs has several), children under their parents.\n"
        "Below it stand the calls and regions that were in flight when the process was killed, or that are in flight now.\n"
        "With --stacks, the stack of each of their threads follows: what is a hung process doing? A thread is stopped\n"
        "for some 0.2 ms, and goes on as before.",
    .example = "dftmerge ps --stacks traces/",
    .takes = DFT_TAKES_JSON | DFT_TAKES_FILTER | DFT_TAKES_RANKS,
    .run = run,
};
