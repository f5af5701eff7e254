/* SPDX-License-Identifier: MIT */
/* The tables of a replay for people. */
#include "replay/replay_output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/facet_words.h"
#include "base/names.h"
#include "base/write_text.h"

#define LEFT_LINES 20u

const char *dft_replay_call_word(enum dft_replay_call call)
{
    static const char *const words[DFT_REPLAY_CALLS] = {
        [DFT_REPLAY_NONE] = "",
#define DFT_REPLAY(name, on)        [DFT_REPLAY_##name] = #name,
#define DFT_REPLAY_STREAM(name, on) [DFT_REPLAY_##name] = #name,
#define DFT_REPLAY_AS(alias, name)
#define DFT_REPLAY_STREAM_AS(alias, name)
#include "replay/replay_calls.def"
    };

    return words[call];
}

static int cell_rate(struct dft_grid *grid, uint64_t bytes, uint64_t ns)
{
    char room[DFT_TEXT_ROOM], text[DFT_TEXT_ROOM + 4];
    double rate = ns ? (double)bytes * 1e9 / (double)ns : 0;

    if (!bytes || !ns)
        return dft_grid_cell(grid, "");
    snprintf(text, sizeof text, "%s/s", dft_text_bytes(room, rate < 0x1p64 ? (uint64_t)rate : UINT64_MAX));
    return dft_grid_cell(grid, text);
}

static int cells_of(struct dft_grid *grid, const struct dft_replay_tally *tally)
{
    char room[DFT_TEXT_ROOM];
    int rc = dft_grid_cell(grid, dft_text_count(room, tally->calls));

    rc = rc ? rc : dft_grid_cell(grid, tally->bytes ? dft_text_bytes(room, tally->bytes) : "");
    rc = rc ? rc : cell_rate(grid, tally->bytes, tally->ns);
    rc = rc ? rc : dft_grid_cell(grid, dft_text_ns(room, tally->ns));
    return rc ? rc : dft_grid_cell(grid, dft_text_ns(room, dft_tally_p99(tally)));
}

static int print_classes(const struct dft_replay_result *result)
{
    static const struct dft_grid_column columns[] = {{"Class", 1, 0, 0}, {"", 1, 0, 0},         {"Calls", 0, 0, 0},
                                                     {"Bytes", 0, 0, 0}, {"In calls", 0, 0, 0}, {"Time", 0, 0, 0},
                                                     {"p99", 0, 0, 0}};
    struct dft_grid *grid = dft_grid_create(columns, 7);
    int rc = grid ? 0 : -ENOMEM;

    for (uint8_t io = 0; !rc && io < DFT_IO_COUNT; io++) {
        const struct dft_replay_tally *recorded = &result->plan->recorded.by_io[io];

        if (!recorded->events)
            continue;
        rc = dft_grid_cell(grid, dft_io_word(io));
        rc = rc ? rc : dft_grid_cell(grid, "recorded");
        rc = rc ? rc : cells_of(grid, recorded);
        if (rc || !result->threads)
            continue;
        rc = dft_grid_cell(grid, "");
        rc = rc ? rc : dft_grid_cell(grid, "replayed");
        rc = rc ? rc : cells_of(grid, &result->threads->outcome.tallies.by_io[io]);
    }
    if (!rc)
        dft_grid_print(grid, stdout);
    dft_grid_destroy(grid);
    return rc;
}

static int print_kinds(const struct dft_replay_plan *plan)
{
    static const struct dft_grid_column columns[] = {{"Call", 1, 0, 0}, {"Calls", 0, 0, 0}};
    struct dft_grid *grid = dft_grid_create(columns, 2);
    char room[DFT_TEXT_ROOM];
    int rc = grid ? 0 : -ENOMEM;

    for (unsigned i = 0; !rc && i < DFT_REPLAY_CALLS; i++) {
        if (!plan->kinds[i])
            continue;
        rc = dft_grid_cell(grid, dft_replay_call_word((enum dft_replay_call)i));
        rc = rc ? rc : dft_grid_cell(grid, dft_text_count(room, plan->kinds[i]));
    }
    putchar('\n');
    if (!rc)
        dft_grid_print(grid, stdout);
    dft_grid_destroy(grid);
    return rc;
}

static int print_differences(const struct dft_replay_outcome *outcome)
{
    static const struct dft_grid_column columns[] = {
        {"Call", 1, 0, 0}, {"Made", 0, 0, 0}, {"Other result", 0, 0, 0}, {"Not made: no such file", 0, 0, 0}};
    struct dft_grid *grid = dft_grid_create(columns, 4);
    char room[DFT_TEXT_ROOM];
    int rc = grid ? 0 : -ENOMEM, lines = 0;

    for (unsigned i = 0; !rc && i < DFT_REPLAY_CALLS; i++) {
        if (!outcome->differs[i] && !outcome->skipped[i])
            continue;
        lines++;
        rc = dft_grid_cell(grid, dft_replay_call_word((enum dft_replay_call)i));
        rc = rc ? rc : dft_grid_cell(grid, dft_text_count(room, outcome->done[i]));
        rc = rc ? rc : dft_grid_cell(grid, dft_text_count(room, outcome->differs[i]));
        rc = rc ? rc : dft_grid_cell(grid, dft_text_count(room, outcome->skipped[i]));
    }
    if (!rc && lines) {
        puts("\nOther than recorded:");
        dft_grid_print(grid, stdout);
    }
    dft_grid_destroy(grid);
    return rc;
}

static int left_cells(struct dft_grid *grid, const struct dft_names *names, const struct dft_replay_left *left)
{
    struct dft_text category, name;
    char text[18], room[DFT_TEXT_ROOM], *escaped;
    int rc;

    dft_names_call(names, left->call, &category, &name, text);
    escaped = dft_text_escaped(name.bytes, name.length);
    rc = escaped ? dft_grid_cell(grid, escaped) : -ENOMEM;
    free(escaped);
    rc = rc ? rc : dft_grid_cell(grid, dft_text_count(room, left->events));
    return rc ? rc : dft_grid_cell(grid, dft_replay_reason_text(left->reason));
}

static int print_left(const struct dft_replay_plan *plan)
{
    static const struct dft_grid_column columns[] = {{"Call", 1, 1, 0}, {"Events", 0, 0, 0}, {"Why", 1, 0, 0}};
    size_t n = plan->lefts.count < LEFT_LINES ? plan->lefts.count : LEFT_LINES;
    struct dft_grid *grid;
    int rc = 0;

    if (!n)
        return 0;
    grid = dft_grid_create(columns, 3);
    if (!grid)
        return -ENOMEM;
    for (size_t i = 0; !rc && i < n; i++)
        rc = left_cells(grid, plan->resolver.names, &plan->lefts.list[i]);
    puts("\nLeft out:");
    if (!rc)
        dft_grid_print(grid, stdout);
    if (n < plan->lefts.count)
        printf("... and %zu further lines (--json has all)\n", plan->lefts.count - n);
    dft_grid_destroy(grid);
    return rc;
}

static void print_plan(const struct dft_replay_plan *plan)
{
    char rooms[6][DFT_TEXT_ROOM];

    printf("%s call%s of %s thread%s in %s process%s, recorded in %s\n", dft_text_count(rooms[0], plan->events),
           plan->events == 1 ? "" : "s", dft_text_count(rooms[1], plan->threads.count),
           plan->threads.count == 1 ? "" : "s", dft_text_count(rooms[2], plan->processes),
           plan->processes == 1 ? "" : "es", dft_text_ns(rooms[3], plan->last_ns - plan->first_ns));
    printf("Before the start: %s file%s and %s folder%s with %s; the files need up to ",
           dft_text_count(rooms[0], plan->files), plan->files == 1 ? "" : "s", dft_text_count(rooms[1], plan->folders),
           plan->folders == 1 ? "" : "s", dft_text_bytes(rooms[2], plan->start_bytes));
    printf("%s\n", dft_text_bytes(rooms[3], plan->need_bytes));
}

static void print_end(const struct dft_replay_result *result)
{
    const struct dft_replay_threads *threads = result->threads;
    uint64_t recorded = result->plan->last_ns - result->plan->first_ns, replayed = threads->end_ns - threads->begin_ns;
    char rooms[2][DFT_TEXT_ROOM], share[DFT_TEXT_ROOM];

    printf("Replayed at speed %s in %s", result->speed, dft_text_ns(rooms[0], replayed));
    if (recorded)
        printf(" (%s of the recorded time)", dft_text_share(share, replayed, recorded));
    if (threads->paced)
        printf("; calls began up to %s late", dft_text_ns(rooms[1], threads->outcome.late_ns));
    puts("\n");
}

int dft_replay_text(const struct dft_replay_result *result)
{
    int rc;

    print_plan(result->plan);
    if (result->threads)
        print_end(result);
    else
        putchar('\n');
    rc = print_classes(result);
    if (!rc && result->threads)
        rc = print_differences(&result->threads->outcome);
    else if (!rc)
        rc = print_kinds(result->plan);
    return rc ? rc : print_left(result->plan);
}
