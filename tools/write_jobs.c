/* The jobs of a source: name, size, time. */
#include "write_jobs.h"

#include <stdio.h>
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

void dft_text_jobs(const struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_job *jobs = dft_source_jobs(source, &count);

    if (count < 2)
        return;
    printf("\n%-20s %10s %8s %8s %-19s %12s\n", "JOB", "PROCESSES", "RANKS", "OF", "START UTC", "WALL s");
    for (uint32_t i = 0; i < count; i++) {
        time_t seconds = (time_t)(jobs[i].start_ns / 1000000000);
        char when[32] = "-";
        struct tm tm;

        if (jobs[i].start_ns && gmtime_r(&seconds, &tm))
            strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
        printf("%-20s %10u %8u %8u %-19s %12.6f\n", jobs[i].name, jobs[i].processes, jobs[i].ranks, jobs[i].world_size,
               when, (double)(jobs[i].end_ns - jobs[i].start_ns) / 1e9);
    }
}
