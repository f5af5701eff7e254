/* SPDX-License-Identifier: MIT */
/* Rows of jobs as a table, and as JSON. */
#include <errno.h>
#include <string.h>

#include "base/write_json.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "command/write_jobs.h"
#include "mpi/comm.h"
#include "summary/job_rows.h"

/* For --job, where there are several jobs in one run; else --run. */
static const char *name_of(const struct dft_job_rows *rows, const struct dft_job_row *row)
{
    return rows->are_jobs && row->job ? row->job : row->launch->name;
}

/* A column is left out where all rows say the same, or nothing. */
struct shown {
    int job, user, ranks, finding;
};

static struct shown find_shown(const struct dft_job_rows *rows)
{
    struct shown shown = {0};

    for (uint32_t i = 0; i < rows->count; i++) {
        const char *user = rows->list[i].user, *first = rows->list[0].user;

        shown.job |= !rows->are_jobs && rows->list[i].job;
        shown.user |= user && (!first || strcmp(user, first) != 0);
        shown.ranks |= rows->list[i].ranks != 0;
        shown.finding |= rows->list[i].finding != NULL;
    }
    return shown;
}

/* Nothing is cut: names are for --job and --run. */
static struct dft_grid *make_grid(const struct dft_job_rows *rows, struct shown shown)
{
    struct dft_grid_column columns[DFT_TABLE_COLUMNS];
    unsigned n = 0;

    columns[n++] = (struct dft_grid_column){rows->are_jobs ? "job" : "run", 1, 0, 0};
    if (shown.job)
        columns[n++] = (struct dft_grid_column){"job", 1, 0, 3};
    if (shown.user)
        columns[n++] = (struct dft_grid_column){"user", 1, 0, 3};
    columns[n++] = (struct dft_grid_column){"program", 1, 0, 0};
    columns[n++] = (struct dft_grid_column){"from (UTC)", 1, 0, 4};
    columns[n++] = (struct dft_grid_column){"processes", 0, 0, 6};
    if (shown.ranks)
        columns[n++] = (struct dft_grid_column){"ranks", 0, 0, 5};
    columns[n++] = (struct dft_grid_column){"time", 0, 0, 0};
    columns[n++] = (struct dft_grid_column){"in I/O", 0, 0, 7};
    columns[n++] = (struct dft_grid_column){"% of processes", 0, 0, 2};
    columns[n++] = (struct dft_grid_column){"ended", 1, 0, 0};
    if (shown.finding)
        columns[n++] = (struct dft_grid_column){"first finding", 1, 0, 1};
    return dft_grid_create(columns, n);
}

static int add_text(struct dft_grid *grid, const char *text)
{
    return dft_grid_cell(grid, text ? text : "-");
}

static int add_row(struct dft_grid *grid, const struct dft_job_rows *rows, const struct dft_job_row *row,
                   struct shown shown)
{
    const struct dft_source_job *launch = row->launch;
    char cell[DFT_TEXT_ROOM];
    int rc = dft_grid_cell(grid, name_of(rows, row));

    if (shown.job)
        rc = rc ? rc : add_text(grid, row->job);
    if (shown.user)
        rc = rc ? rc : add_text(grid, row->user);
    rc = rc ? rc : add_text(grid, row->program);
    rc = rc ? rc : dft_grid_cell(grid, dft_text_start(cell, launch->start_ns));
    rc = rc ? rc : dft_grid_cell(grid, dft_text_count(cell, launch->processes));
    if (shown.ranks)
        rc = rc ? rc : dft_grid_cell(grid, row->ranks ? dft_text_count(cell, row->ranks) : "-");
    rc = rc ? rc : dft_grid_cell(grid, dft_text_ns(cell, launch->end_ns - launch->start_ns));
    rc = rc ? rc : dft_grid_cell(grid, row->was_read ? dft_text_ns(cell, row->io_ns) : "-");
    rc = rc ? rc : dft_grid_cell(grid, row->lives_ns ? dft_text_share(cell, row->io_ns, row->lives_ns) : "-");
    rc = rc ? rc : add_text(grid, row->ended);
    if (shown.finding)
        rc = rc ? rc : add_text(grid, row->finding);
    return rc;
}

/* What has no row, or half a row, and how to see one. */
static int say_more(const struct dft_job_rows *rows)
{
    const char *option = rows->are_jobs ? "job" : "run";
    uint32_t unread = 0;
    struct dft_sentence text;
    FILE *out = dft_sentence_begin(&text);

    if (!out)
        return -ENOMEM;
    for (uint32_t i = 0; i < rows->count; i++)
        unread += !rows->list[i].was_read;
    if (rows->older)
        fprintf(out, "%u older %ss: dftmerge ps lists them. ", rows->older, option);
    if (unread)
        fprintf(out, "Of %u only name, start and time are known here: they have too much to read. ", unread);
    fprintf(out, "--%s NAME shows one. ", option);
    fputs(rows->is_one_shown ? "Below is the newest, and --run all shows all together."
                             : "Below are all of them together.",
          out);
    return dft_sentence_end(&text, out, "", 0) ? -ENOMEM : 0;
}

int dft_job_rows_print(const struct dft_job_rows *rows)
{
    const struct shown shown = find_shown(rows);
    struct dft_grid *grid;
    int rc = 0;

    if (!rows->count || dft_comm_rank())
        return 0;
    grid = make_grid(rows, shown);
    for (uint32_t i = 0; grid && !rc && i < rows->count; i++)
        rc = add_row(grid, rows, &rows->list[i], shown);
    if (grid && !rc)
        dft_grid_print(grid, stdout);
    dft_grid_destroy(grid);
    rc = grid ? rc : -ENOMEM;
    rc = rc ? rc : say_more(rows);
    putchar('\n');
    return rc;
}

void dft_job_rows_json(struct dft_json *json, const struct dft_job_rows *rows)
{
    dft_json_array(json, "overview");
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct dft_job_row *row = &rows->list[i];

        dft_json_object(json, NULL);
        dft_json_string(json, "name", row->launch->name);
        dft_json_string(json, "job", row->job);
        dft_json_string(json, "user", row->user);
        dft_json_string(json, "program", row->program);
        dft_json_uint(json, "start_ns", row->launch->start_ns);
        dft_json_uint(json, "end_ns", row->launch->end_ns);
        dft_json_uint(json, "processes", row->launch->processes);
        dft_json_known_uint(json, "ranks", row->was_read, row->ranks);
        dft_json_known_uint(json, "io_ns", row->was_read, row->io_ns);
        dft_json_known_uint(json, "processes_ns", row->was_read, row->lives_ns);
        dft_json_string(json, "ended", row->ended);
        dft_json_string(json, "finding", row->finding);
        dft_json_known_uint(json, "finding_cost_ns", row->finding != NULL, row->finding_ns);
        dft_json_known_uint(json, "finding_of_ns", row->finding != NULL, row->finding_of_ns);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}
