/* SPDX-License-Identifier: MIT */
/* The jobs and runs of a source: name, size, time. */
#include "command/write_jobs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/write_text.h"

void dft_json_jobs(struct dft_json *json, const struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_job *jobs = dft_source_jobs(source, &count);

    dft_json_array(json, "jobs");
    for (uint32_t i = 0; i < count; i++) {
        dft_json_object(json, NULL);
        dft_json_string(json, "name", jobs[i].name);
        dft_json_uint(json, "processes", jobs[i].processes);
        dft_json_uint(json, "ranks", jobs[i].ranks);
        dft_json_uint(json, "world_size", jobs[i].world_size);
        dft_json_uint(json, "start_ns", jobs[i].start_ns);
        dft_json_uint(json, "end_ns", jobs[i].end_ns);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

const char *dft_text_start(char *text, uint64_t start_ns)
{
    time_t seconds = (time_t)(start_ns / 1000000000);
    struct tm tm;

    strcpy(text, "-");
    if (start_ns && gmtime_r(&seconds, &tm))
        strftime(text, DFT_TEXT_ROOM, "%Y-%m-%d %H:%M:%S", &tm);
    return text;
}

static int add_count(struct dft_grid *grid, uint32_t count)
{
    char cell[DFT_TEXT_ROOM];

    return dft_grid_cell(grid, dft_text_count(cell, count));
}

static int add_job(struct dft_grid *grid, const struct dft_source_job *job, int has_ranks)
{
    char cell[DFT_TEXT_ROOM];
    int rc = dft_grid_cell(grid, job->name);

    rc = rc ? rc : add_count(grid, job->processes);
    if (has_ranks) {
        rc = rc ? rc : add_count(grid, job->ranks);
        rc = rc ? rc : add_count(grid, job->world_size);
    }
    rc = rc ? rc : dft_grid_cell(grid, dft_text_start(cell, job->start_ns));
    return rc ? rc : dft_grid_cell(grid, dft_text_ns(cell, job->end_ns - job->start_ns));
}

/* Names are for --job and --run, and never cut. */
static int put_table(const char *title, const struct dft_source_job *jobs, uint32_t count, int has_ranks)
{
    const struct dft_grid_column with[] = {{title, 1, 0, 0}, {"processes", 0, 0, 1},  {"ranks", 0, 0, 0},
                                           {"of", 0, 0, 0},  {"from (UTC)", 1, 0, 2}, {"time", 0, 0, 0}};
    const struct dft_grid_column without[] = {with[0], with[1], with[4], with[5]};
    struct dft_grid *grid;
    int rc = 0;

    if (count < 2)
        return 0;
    grid = has_ranks ? dft_grid_create(with, 6) : dft_grid_create(without, 4);
    for (uint32_t i = 0; grid && !rc && i < count; i++)
        rc = add_job(grid, &jobs[i], has_ranks);
    if (grid && !rc) {
        putchar('\n');
        dft_grid_print(grid, stdout);
    }
    dft_grid_destroy(grid);
    return grid ? rc : -ENOMEM;
}

int dft_text_jobs(const struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_job *jobs = dft_source_jobs(source, &count);

    return put_table("job", jobs, count, 1);
}

void dft_json_runs(struct dft_json *json, const struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_job *runs = dft_source_runs(source, &count, NULL);

    dft_json_array(json, "runs");
    for (uint32_t i = 0; i < count; i++) {
        dft_json_object(json, NULL);
        dft_json_string(json, "name", runs[i].id.length ? runs[i].name : NULL);
        dft_json_uint(json, "processes", runs[i].processes);
        dft_json_uint(json, "start_ns", runs[i].start_ns);
        dft_json_uint(json, "end_ns", runs[i].end_ns);
        dft_json_bool(json, "left_out", runs[i].left_out);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

int dft_text_runs(const struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_job *runs = dft_source_runs(source, &count, NULL);

    return put_table("run", runs, count, 0);
}
