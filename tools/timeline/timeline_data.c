/* SPDX-License-Identifier: MIT */
/* The time line for programs: JSON and CSV. */
#include "timeline/timeline_output.h"

#include "query/answer_source.h"
#include "base/write_json.h"
#include "base/write_text.h"
#include "object/source_notes.h"

static void json_column(struct dft_json *json, const struct dft_timeline *timeline, uint32_t i)
{
    const struct dft_timeline_column *column = &timeline->columns[i];
    int knows_union = timeline->is_exact || timeline->knows_occupancy;

    dft_json_object(json, NULL);
    dft_json_uint(json, "t_ns", timeline->base_ns + i * timeline->width_ns);
    dft_json_uint(json, "calls", column->calls);
    dft_json_uint(json, "errors", column->errors);
    dft_json_uint(json, "time_ns", column->time_ns);
    dft_json_known_uint(json, "busy_ns", timeline->knows_busy, column->busy_ns);
    dft_json_uint(json, "read", column->read);
    dft_json_uint(json, "written", column->written);
    dft_json_uint(json, "processes", column->processes);
    dft_json_uint(json, "threads", column->threads);
    dft_json_uint(json, "alive", column->alive);
    dft_json_known_uint(json, "in_flight_max", timeline->is_exact, column->in_flight_max);
    dft_json_known_uint(json, "busy_union_ns", knows_union, column->union_ns);
    dft_json_end_object(json);
}

/* Is it that of the processes without a rank, or without a role? */
static int is_nameless(const struct dft_timeline *timeline, const struct dft_timeline_series *series)
{
    return (timeline->by == DFT_BY_RANK || timeline->by == DFT_BY_ROLE) && series->id < 2;
}

static void json_series(struct dft_json *json, const struct dft_timeline *timeline,
                        const struct dft_timeline_series *series)
{
    dft_json_object(json, NULL);
    if (is_nameless(timeline, series))
        dft_json_null(json, dft_by_word(timeline->by));
    else if (timeline->by == DFT_BY_RANK)
        dft_json_uint(json, "rank", series->id - 2);
    else
        dft_json_string(json, dft_by_word(timeline->by), series->name);
    dft_json_uint(json, "calls", series->calls);
    dft_json_uint(json, "time_ns", series->time_ns);
    dft_json_uint(json, "read", series->read);
    dft_json_uint(json, "written", series->written);
    dft_json_array(json, "values");
    for (uint32_t i = 0; i < timeline->count; i++)
        dft_json_uint(json, NULL, series->values[i]);
    dft_json_end_array(json);
    dft_json_end_object(json);
}

void dft_timeline_json(const struct dft_timeline *timeline)
{
    struct dft_json json;
    size_t count;
    char *const *notes = dft_source_notes(timeline->source, &count);

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_uint(&json, "start_ns", timeline->job.start_ns);
    dft_json_uint(&json, "wall_ns", timeline->job.wall_ns);
    dft_json_uint(&json, "width_ns", timeline->width_ns);
    dft_json_string(&json, "source", dft_answer_source_name(timeline->last.source));
    dft_json_uint(&json, "calls_from_events", timeline->last.placed_events);
    dft_json_uint(&json, "calls_from_aggregates", timeline->last.placed_rows);
    dft_json_bool(&json, "exact", timeline->is_exact);
    dft_json_array(&json, "intervals");
    for (uint32_t i = 0; i < timeline->count; i++)
        json_column(&json, timeline, i);
    dft_json_end_array(&json);
    if (timeline->by != DFT_BY_COUNT) {
        dft_json_string(&json, "of", dft_timeline_measure_word(timeline->measure));
        dft_json_array(&json, "series");
        for (size_t i = 0; i < timeline->nseries; i++)
            json_series(&json, timeline, &timeline->series[i]);
        dft_json_end_array(&json);
    }
    dft_json_strings(&json, "notes", notes, count);
    dft_json_end_object(&json);
    putchar('\n');
}

static void csv_known(int known, uint64_t value)
{
    putchar(',');
    if (known)
        printf("%llu", (unsigned long long)value);
}

/* A line for each interval; with series, one for each of them and each interval. */
void dft_timeline_csv(const struct dft_timeline *timeline)
{
    if (timeline->by != DFT_BY_COUNT) {
        printf("%s,t_ns,%s\n", dft_by_word(timeline->by), dft_timeline_measure_word(timeline->measure));
        for (size_t s = 0; s < timeline->nseries; s++)
            for (uint32_t i = 0; i < timeline->count; i++) {
                if (!is_nameless(timeline, &timeline->series[s]))
                    dft_csv_text(stdout, timeline->series[s].name, strlen(timeline->series[s].name));
                printf(",%llu,%llu\n", (unsigned long long)(timeline->base_ns + i * timeline->width_ns),
                       (unsigned long long)timeline->series[s].values[i]);
            }
        return;
    }
    puts("t_ns,calls,errors,time_ns,read,written,processes,threads,busy_ns,in_flight_max,busy_union_ns,alive");
    for (uint32_t i = 0; i < timeline->count; i++) {
        const struct dft_timeline_column *column = &timeline->columns[i];

        printf("%llu,%llu,%llu,%llu,%llu,%llu,%u,%u", (unsigned long long)(timeline->base_ns + i * timeline->width_ns),
               (unsigned long long)column->calls, (unsigned long long)column->errors,
               (unsigned long long)column->time_ns, (unsigned long long)column->read,
               (unsigned long long)column->written, column->processes, column->threads);
        csv_known(timeline->knows_busy, column->busy_ns);
        csv_known(timeline->is_exact, column->in_flight_max);
        csv_known(timeline->is_exact || timeline->knows_occupancy, column->union_ns);
        csv_known(1, column->alive);
        putchar('\n');
    }
}
