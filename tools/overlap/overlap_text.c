/* SPDX-License-Identifier: MIT */
/* dftmerge overlap for people: the verdict, and a table. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "overlap/overlap_output.h"
#include "intake/source_names.h"

/* A line of the table. */
struct line {
    const struct dft_overlap_times *times;
    uint64_t data_ns;
    uint32_t number; /* of a team, a process or a scope */
};

/* --- the head --------------------------------------------------------------------------------- */

static const char *teams_word(const struct dft_overlap *overlap)
{
    int ranked = overlap->teams[0].rank >= 0;

    return dft_overlap_working(overlap) == 1 ? ranked ? "rank" : "program" : ranked ? "ranks" : "programs";
}

static void say_verdict(FILE *out, const struct dft_overlap *overlap)
{
    const struct dft_overlap_times *all = &overlap->all;
    const char *about = overlap->is_exact ? "" : "about ";
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];

    if (!all->io_ns) {
        fputs("no I/O in this time", out);
        return;
    }
    fprintf(out, "I/O %s%s: %s (%s) hidden behind compute, ", about, dft_text_ns(a, all->io_ns),
            dft_text_ns(b, all->hidden_ns), dft_text_share(c, all->hidden_ns, all->io_ns));
    fprintf(out, "%s (%s) exposed", dft_text_ns(a, all->exposed_ns), dft_text_share(b, all->exposed_ns, all->io_ns));
    fprintf(out, ", which is %s of the time of %" PRIu32 " %s%s", dft_text_share(d, all->exposed_ns, all->wall_ns),
            dft_overlap_working(overlap), teams_word(overlap), overlap->nlaunching ? " and of what started them" : "");
}

static void say_compute(FILE *out, const struct dft_overlap *overlap)
{
    const struct dft_overlap_times *all = &overlap->all;
    uint64_t data_ns = 0;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];

    for (uint32_t i = 0; i < overlap->nteams; i++)
        data_ns += overlap->teams[i].data_ns;
    fprintf(out, "compute %s%s (%s), idle %s (%s)", overlap->is_exact ? "" : "about ", dft_text_ns(a, all->compute_ns),
            dft_text_share(b, all->compute_ns, all->wall_ns), dft_text_ns(c, all->idle_ns),
            dft_text_share(d, all->idle_ns, all->wall_ns));
    if (data_ns)
        fprintf(out, ", waiting for data %s (%s)", dft_text_ns(a, data_ns), dft_text_share(b, data_ns, all->wall_ns));
}

static void say_doubts(FILE *out, const struct dft_overlap *overlap)
{
    if (!overlap->has_compute)
        fputs("no region computes here: compute is the time outside I/O and waits; --compute names regions that do",
              out);
    if (!overlap->is_exact)
        fprintf(out, "%sestimated from aggregates, in 64ths of their interval; events make it exact",
                overlap->has_compute ? "" : "; ");
}

static int put_sentence(const struct dft_overlap *overlap, void (*say)(FILE *out, const struct dft_overlap *overlap))
{
    struct dft_sentence sentence;
    FILE *out = dft_sentence_begin(&sentence);

    if (out)
        say(out, overlap);
    return dft_sentence_end(&sentence, out, "", 0);
}

static int put_head(const struct dft_overlap *overlap)
{
    int rc = put_sentence(overlap, say_verdict);

    if (!rc)
        rc = put_sentence(overlap, say_compute);
    if (!rc && (!overlap->has_compute || !overlap->is_exact))
        rc = put_sentence(overlap, say_doubts);
    return rc;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct dft_source_process *process_of(struct dft_source *source, uint32_t number)
{
    uint32_t count;

    return &dft_source_processes(source, &count)[number];
}

/* The last part of the executable's path, escaped; freed by the caller. */
static char *program_of(const struct dft_source_process *process)
{
    struct dft_text exe = process->process.exe;
    uint32_t from = exe.length;

    while (from && exe.bytes[from - 1] != '/')
        from--;
    return dft_text_escaped(exe.length ? exe.bytes + from : "?", exe.length ? exe.length - from : 1);
}

static char *process_name(struct dft_source *source, uint32_t number, const char *what)
{
    const struct dft_source_process *process = process_of(source, number);
    char *program = program_of(process), *role = NULL, *name = NULL;
    struct dft_text text = process->process.role;

    if (text.length)
        role = dft_text_escaped(text.bytes, text.length);
    if (program && asprintf(&name, "%s%s%s %" PRIu32 "%s", role ? role : "", role ? ", " : "", program,
                            process->process.pid, what) < 0)
        name = NULL;
    free(program);
    free(role);
    return name;
}

static char *team_name(const struct dft_overlap *overlap, struct dft_source *source, uint32_t number)
{
    const struct dft_overlap_team *team = &overlap->teams[number];
    char *name = NULL;

    if (team->rank < 0)
        return process_name(source, team->trainer, "");
    return asprintf(&name, "rank %" PRId64, team->rank) < 0 ? NULL : name;
}

/* "epoch 3", "step 17 of epoch 3", and whose where there are several teams. */
static char *scope_name(const struct dft_overlap *overlap, struct dft_source *source,
                        const struct dft_overlap_scope *scope)
{
    char *team = overlap->nteams > 1 ? team_name(overlap, source, scope->team) : strdup(""), *name = NULL;
    char of[40] = "";

    if (scope->epoch >= 0)
        snprintf(of, sizeof of, " of epoch %" PRId64, scope->epoch);
    if (team && asprintf(&name, "%s%s%s %" PRId64 "%s", team, *team ? ", " : "",
                         scope->kind == DFT_REGION_EPOCH ? "epoch" : "step", scope->number, of) < 0)
        name = NULL;
    free(team);
    return name;
}

static char *line_name(const struct dft_overlap *overlap, struct dft_source *source, enum dft_overlap_by by,
                       uint32_t number)
{
    const struct dft_overlap_process *process = &overlap->processes[number];

    if (by == DFT_OVERLAP_BY_RANK)
        return team_name(overlap, source, number);
    if (by != DFT_OVERLAP_BY_PROCESS)
        return scope_name(overlap, source, &overlap->scopes[number]);
    return process_name(source, process->process,
                        overlap->teams[process->team].processes > 1 && dft_overlap_is_trainer(overlap, process) &&
                                overlap->has_compute
                            ? " (trainer)"
                            : "");
}

static uint32_t make_lines(const struct dft_overlap *overlap, enum dft_overlap_by by, struct line *lines)
{
    enum dft_region_kind kind = by == DFT_OVERLAP_BY_EPOCH ? DFT_REGION_EPOCH : DFT_REGION_STEP;
    uint32_t n = 0;

    for (uint32_t i = 0; by == DFT_OVERLAP_BY_RANK && i < overlap->nteams; i++)
        lines[n++] = (struct line){&overlap->teams[i].times, overlap->teams[i].data_ns, i};
    for (uint32_t i = 0; by == DFT_OVERLAP_BY_PROCESS && i < overlap->nprocesses; i++)
        lines[n++] = (struct line){&overlap->processes[i].times, overlap->processes[i].data_ns, i};
    for (uint32_t i = 0; by >= DFT_OVERLAP_BY_EPOCH && i < overlap->nscopes; i++)
        if (overlap->scopes[i].kind == kind)
            lines[n++] = (struct line){&overlap->scopes[i].times, overlap->scopes[i].data_ns, i};
    return n;
}

static int by_exposed(const void *left, const void *right)
{
    const struct line *a = left, *b = right;

    if (a->times->exposed_ns != b->times->exposed_ns)
        return a->times->exposed_ns > b->times->exposed_ns ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int put_line(struct dft_grid *grid, const struct line *line, int has_data, char *name)
{
    const struct dft_overlap_times *t = line->times;
    const uint64_t values[] = {t->wall_ns, t->compute_ns, t->io_ns, t->hidden_ns, t->exposed_ns, t->idle_ns};
    char text[DFT_TEXT_ROOM];
    int rc = 0;

    if (!name)
        return -ENOMEM;
    for (unsigned i = 0; !rc && i < sizeof values / sizeof *values; i++)
        rc = dft_grid_cell(grid, dft_text_ns(text, values[i]));
    if (!rc)
        rc = dft_grid_cell(grid, t->io_ns ? dft_text_share(text, t->hidden_ns, t->io_ns) : "");
    if (!rc && has_data)
        rc = dft_grid_cell(grid, line->data_ns ? dft_text_ns(text, line->data_ns) : "");
    if (!rc)
        rc = dft_grid_cell(grid, name);
    free(name);
    return rc;
}

/* Ranks and processes by what is exposed, epochs and steps by time. */
static int put_table(const struct dft_overlap *overlap, struct dft_source *source, enum dft_overlap_by by,
                     struct line *lines, uint32_t count, uint64_t top)
{
    const struct dft_grid_column with[] = {{"wall", 0, 0, 3},     {"compute", 0, 0, 0},  {"I/O", 0, 0, 0},
                                           {"hidden", 0, 0, 2},   {"exposed", 0, 0, 0},  {"idle", 0, 0, 1},
                                           {"% hidden", 0, 0, 4}, {"for data", 0, 0, 5}, {"", 1, 1, 0}};
    const struct dft_grid_column without[] = {with[0], with[1], with[2], with[3], with[4], with[5], with[6], with[8]};
    struct dft_grid *grid = dft_grid_create(overlap->has_data ? with : without, overlap->has_data ? 9 : 8);
    int rc = grid ? 0 : -ENOMEM;

    if (by < DFT_OVERLAP_BY_EPOCH && count)
        qsort(lines, count, sizeof *lines, by_exposed);
    for (uint32_t i = 0; !rc && i < count && i < top; i++)
        rc = put_line(grid, &lines[i], overlap->has_data, line_name(overlap, source, by, lines[i].number));
    if (!rc && count) {
        putchar('\n');
        dft_grid_print(grid, stdout);
    }
    if (!rc && count > top)
        printf("and %" PRIu64 " more (--top)\n", count - top);
    dft_grid_destroy(grid);
    return rc;
}

static void put_nothing(const struct dft_overlap *overlap, enum dft_overlap_by by)
{
    const char *what = by == DFT_OVERLAP_BY_EPOCH ? "epoch" : "step";

    if (overlap->is_exact)
        printf("no region is %s %s here; --%s names regions that are\n", *what == 'e' ? "an" : "a", what, what);
    else
        printf("aggregates do not tell one %s from the next\n", what);
}

int dft_overlap_text(const struct dft_overlap *overlap, struct dft_source *source, enum dft_overlap_by by, uint64_t top)
{
    struct line *lines = calloc(overlap->nprocesses + overlap->nteams + overlap->nscopes + 1u, sizeof *lines);
    uint32_t count;
    int rc;

    if (!lines)
        return -ENOMEM;
    rc = put_head(overlap);
    count = make_lines(overlap, by, lines);
    if (!count)
        put_nothing(overlap, by);
    if (!rc && (count != 1 || by >= DFT_OVERLAP_BY_EPOCH)) /* one alone is in the head */
        rc = put_table(overlap, source, by, lines, count, top);
    if (!rc && by >= DFT_OVERLAP_BY_EPOCH && overlap->more_scopes)
        printf("%" PRIu64 " later epochs and steps are not looked at by themselves\n", overlap->more_scopes);
    free(lines);
    return rc;
}
