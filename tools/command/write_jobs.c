/* SPDX-License-Identifier: MIT */
/* The jobs and runs of a source: name, size, time. */
#include "command/write_jobs.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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

static const char *start_of(char *capacity, size_t size, const struct dft_source_job *job)
{
    time_t seconds = (time_t)(job->start_ns / 1000000000);
    struct tm tm;

    strcpy(capacity, "-");
    if (job->start_ns && gmtime_r(&seconds, &tm))
        strftime(capacity, size, "%Y-%m-%d %H:%M:%S", &tm);
    return capacity;
}

void dft_text_jobs(const struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_job *jobs = dft_source_jobs(source, &count);

    if (count < 2)
        return;
    printf("\n%-20s %10s %8s %8s %-19s %12s\n", "JOB", "PROCESSES", "RANKS", "OF", "START UTC", "WALL s");
    for (uint32_t i = 0; i < count; i++) {
        char when[32];

        printf("%-20s %10u %8u %8u %-19s %12.6f\n", jobs[i].name, jobs[i].processes, jobs[i].ranks, jobs[i].world_size,
               start_of(when, sizeof when, &jobs[i]), (double)(jobs[i].end_ns - jobs[i].start_ns) / 1e9);
    }
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

void dft_text_runs(const struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_job *runs = dft_source_runs(source, &count, NULL);

    if (count < 2)
        return;
    printf("\n%-32s %10s %-19s %12s\n", "RUN", "PROCESSES", "START UTC", "WALL s");
    for (uint32_t i = 0; i < count; i++) {
        char when[32];

        printf("%-32s %10u %-19s %12.6f\n", runs[i].name, runs[i].processes, start_of(when, sizeof when, &runs[i]),
               (double)(runs[i].end_ns - runs[i].start_ns) / 1e9);
    }
}
