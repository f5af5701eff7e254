/* SPDX-License-Identifier: MIT */
/* Collects counter tracks: bytes and calls from rows or events, and samples of counters. */
#include "export/export_tracks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/names.h"
#include "base/order.h"
#include "format/ops.h"
#include "export/export_levels.h"
#include "mpi/comm.h"
#include "query/answer.h"
#include "query/answer_pages.h"
#include "query/query.h"
#include "views/source_counters.h"
#include "object/source_notes.h"
#include "intake/source_visit.h"

#define SERIES_MAX (UINT16_MAX - DFT_TRACKS)

static int add(struct dft_tracks *tracks, uint32_t process, unsigned track, uint64_t time_ns, double value)
{
    return DFT_ARRAY_PUSH(tracks->points, tracks->capacity, tracks->count,
                          (struct dft_track_point){process, (uint16_t)track, time_ns, value});
}

static int by_time(const void *left, const void *right)
{
    const struct dft_track_point *a = left, *b = right;

    DFT_ORDER(a->process, b->process);
    DFT_ORDER(a->track, b->track);
    DFT_ORDER(a->time_ns, b->time_ns);
    DFT_ORDER(a->value, b->value);
    return 0;
}

/* --- bytes and calls ---------------------------------------------------------------------------- */

static int take_group(struct dft_tracks *tracks, const struct dft_answer *answer, const struct dft_group *group)
{
    const struct dft_source_process *process = answer->process_group[group->key.process_group - 1];
    double per_second = 1e9 / (double)answer->query.width_ns;
    uint64_t time_ns = answer->query.base_ns + group->key.time * answer->query.width_ns;
    enum dft_class class = dft_op_class(group->key.op);
    int rc = add(tracks, process->number, DFT_TRACK_CALLS, time_ns, (double)group->metrics.count * per_second);

    if (!rc && group->metrics.bytes && (class == DFT_CLASS_READ || class == DFT_CLASS_WRITE))
        rc = add(tracks, process->number, class == DFT_CLASS_READ ? DFT_TRACK_READ : DFT_TRACK_WRITTEN, time_ns,
                 (double)group->metrics.bytes * per_second);
    return rc;
}

/* Sums up points of one interval, and ends a track that has no point in the next one. */
static int close_gaps(struct dft_tracks *tracks, uint64_t width_ns)
{
    size_t count = tracks->count, n = 0;
    int rc = 0;

    if (count)
        qsort(tracks->points, count, sizeof *tracks->points, by_time);
    for (size_t i = 0; i < count; i++) {
        struct dft_track_point *last = n ? &tracks->points[n - 1] : NULL, *point = &tracks->points[i];

        if (last && last->process == point->process && last->track == point->track && last->time_ns == point->time_ns)
            last->value += point->value;
        else
            tracks->points[n++] = *point;
    }
    tracks->count = n;
    for (size_t i = 0; !rc && i < n; i++) {
        struct dft_track_point point = tracks->points[i];
        const struct dft_track_point *next = i + 1 < n ? &tracks->points[i + 1] : NULL;

        if (!next || next->process != point.process || next->track != point.track ||
            next->time_ns > point.time_ns + width_ns)
            rc = add(tracks, point.process, point.track, point.time_ns + width_ns, 0);
    }
    return rc;
}

static int take_level(void *context, uint32_t process, int is_open, uint64_t time_ns, double value)
{
    return add(context, process, is_open ? DFT_TRACK_OPEN : DFT_TRACK_FLIGHT, time_ns, value);
}

/* Levels are known as far as events are. Points outside --from and --to are left out, but for the
 * value that holds at --from. */
static int add_levels(struct dft_tracks *tracks, const struct dft_export *export, const struct dft_level_grid *grid)
{
    uint64_t from = export->filter->from_ns, to = export->filter->to_ns;
    size_t first = tracks->count, n = first;
    int rc = dft_levels_each(export, grid, take_level, tracks);

    if (!rc && n < tracks->count)
        qsort(&tracks->points[n], tracks->count - n, sizeof *tracks->points, by_time);
    for (size_t i = first; !rc && i < tracks->count; i++) {
        struct dft_track_point point = tracks->points[i];

        if (point.time_ns >= to)
            continue;
        point.time_ns = point.time_ns < from ? from : point.time_ns;
        if (n > first && tracks->points[n - 1].process == point.process && tracks->points[n - 1].track == point.track &&
            tracks->points[n - 1].time_ns == point.time_ns)
            n--;
        tracks->points[n++] = point;
    }
    tracks->count = n;
    return rc;
}

static int add_moved(struct dft_tracks *tracks, const struct dft_export *export)
{
    struct dft_query query = {.by = {DFT_BY_PROCESS, DFT_BY_OP, DFT_BY_TIME}, .nby = 3, .bounded = 1};
    struct dft_level_grid grid;
    struct dft_answer answer;
    int rc;

    for (unsigned op = 0; op < DFT_OP_COUNT; op++)
        query.ops |= (uint64_t)(dft_op_class((uint8_t)op) < DFT_CLASS_NONE) << op;
    rc = dft_query_run(export->source, export->filter, &query, &answer);
    if (rc == -E2BIG) {
        dft_source_note(export->source, 0,
                        "the tracks of bytes and calls are left out: there are too many intervals of processes (--from "
                        "and --to choose some)");
        return 0;
    }
    if (rc)
        return rc;
    for (uint32_t i = 0; !rc && i < answer.count; i++)
        rc = take_group(tracks, &answer, &answer.groups[i]);
    if (!rc)
        rc = close_gaps(tracks, answer.query.width_ns);
    tracks->width_ns = answer.query.width_ns;
    grid = (struct dft_level_grid){answer.query.base_ns, answer.query.width_ns};
    dft_answer_fini(&answer);
    rc = dft_comm_agree(rc);
    if (!rc && dft_source_kept(export->source) == DFT_KEPT_ALL)
        rc = add_levels(tracks, export, &grid);
    return rc;
}

/* --- samples ------------------------------------------------------------------------------------ */

struct sample {
    uint64_t id, time_ns;
    double value;
    uint32_t process;
    uint32_t total;
};

struct sampling {
    const struct dft_filter *filter;
    struct samples {
        struct sample *list;
        size_t count, capacity;
    } * workers;
    struct samples all;
};

static int take_block(void *context, unsigned worker, const struct dft_source_process *process,
                      const struct dft_block *block, struct dft_counters *counters)
{
    struct sampling *sampling = context;
    struct samples *samples = &sampling->workers[worker];
    int rc = 0;

    (void)block;
    for (uint32_t i = 0; !rc && i < counters->count; i++) {
        const struct dft_counter_sample *sample = &counters->samples[i];
        const struct dft_counter_series *series = &counters->series[sample->series];

        if (sample->time_ns < sampling->filter->from_ns ||
            (sample->time_ns >= sampling->filter->to_ns && sampling->filter->to_ns != UINT64_MAX) ||
            !dft_filter_names(sampling->filter, series->id))
            continue;
        rc = DFT_ARRAY_PUSH(samples->list, samples->capacity, samples->count,
                            (struct sample){series->id, sample->time_ns, dft_counter_sample_number(sample, series),
                                            process->number, series->kind == DFT_COUNTER_TOTAL});
    }
    return rc;
}

static int select_block(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct sampling *sampling = context;

    return block->type == DFT_BLOCK_COUNTERS &&
           (block->state == DFT_BLOCK_USED || block->state == DFT_BLOCK_OVERLAPS) &&
           dft_filter_process(sampling->filter, process);
}

static int by_counter(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;

    DFT_ORDER(a->process, b->process);
    DFT_ORDER(a->id, b->id);
    DFT_ORDER(a->time_ns, b->time_ns);
    DFT_ORDER(a->value, b->value);
    return 0;
}

static int take_samples(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct samples *all = context;
    size_t count = length / sizeof *all->list;

    (void)rank;
    if (DFT_ARRAY_RESERVE(all->list, all->capacity, all->count + count))
        return -ENOMEM;
    if (count)
        memcpy(all->list + all->count, bytes, length);
    all->count += count;
    return 0;
}

/* Gives rank 0 the samples of all threads of all ranks. */
static int gather(struct sampling *sampling, unsigned threads)
{
    struct samples own = {0};
    int rc = 0;

    for (unsigned i = 0; !rc && i < threads; i++)
        rc = take_samples(&own, 0, sampling->workers[i].list, sampling->workers[i].count * sizeof *own.list);
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_comm_gather(own.list, own.count * sizeof *own.list, take_samples, &sampling->all);
    free(own.list);
    return rc;
}

static int series_of(struct dft_tracks *tracks, const struct sample *sample, size_t *position)
{
    for (*position = 0; *position < tracks->nseries; ++*position)
        if (tracks->series[*position].id == sample->id && tracks->series[*position].total == sample->total)
            return 0;
    return tracks->nseries == SERIES_MAX
               ? -E2BIG
               : DFT_ARRAY_PUSH(tracks->series, tracks->series_capacity, tracks->nseries,
                                (struct dft_track_series){sample->id, (uint8_t)sample->total});
}

/* A total grows at a rate until its next sample. */
static int add_samples(struct dft_tracks *tracks, struct samples *all)
{
    size_t position = 0;
    int rc = 0;

    if (all->count)
        qsort(all->list, all->count, sizeof *all->list, by_counter);
    for (size_t i = 0; !rc && i < all->count; i++) {
        const struct sample *sample = &all->list[i], *next = i + 1 < all->count ? sample + 1 : NULL;
        double value = sample->value;

        if (!i || sample->id != sample[-1].id)
            rc = series_of(tracks, sample, &position);
        if (next && (next->process != sample->process || next->id != sample->id))
            next = NULL;
        if (sample->total)
            value = next && next->time_ns > sample->time_ns
                        ? (next->value - value) * 1e9 / (double)(next->time_ns - sample->time_ns)
                        : 0;
        if (!rc)
            rc = add(tracks, sample->process, (unsigned)(DFT_TRACKS + position), sample->time_ns, value);
    }
    return rc == -E2BIG ? 0 : rc;
}

static int add_sampled(struct dft_tracks *tracks, const struct dft_export *export)
{
    unsigned threads = dft_source_threads(export->source);
    struct sampling sampling = {.filter = export->filter, .workers = calloc(threads, sizeof *sampling.workers)};
    int rc = dft_comm_agree(sampling.workers ? 0 : -ENOMEM);

    if (!rc)
        rc = dft_source_visit(
            export->source, &(struct dft_visit){.context = &sampling, .select = select_block, .counters = take_block});
    if (!rc)
        rc = gather(&sampling, threads);
    if (!rc)
        rc = add_samples(tracks, &sampling.all);
    for (unsigned i = 0; sampling.workers && i < threads; i++)
        free(sampling.workers[i].list);
    free(sampling.all.list);
    free(sampling.workers);
    return rc;
}

/* --- all ---------------------------------------------------------------------------------------- */

int dft_tracks_make(struct dft_tracks *tracks, const struct dft_export *export)
{
    int rc = dft_comm_agree(add_moved(tracks, export));

    if (!rc && !dft_filter_has_files(export->filter) && dft_source_has_counters(export->source))
        rc = dft_comm_agree(add_sampled(tracks, export));
    if (!rc && tracks->count)
        qsort(tracks->points, tracks->count, sizeof *tracks->points, by_time);
    return rc;
}

void dft_tracks_fini(struct dft_tracks *tracks)
{
    free(tracks->points);
    free(tracks->series);
}

void dft_tracks_visit(const struct dft_tracks *tracks, const struct dft_names *names,
                      void (*emit)(void *context, uint32_t process, struct dft_text category, struct dft_text name,
                                   const struct dft_track_point *point),
                      void *context)
{
    static const struct dft_text moved[] = {
        [DFT_TRACK_READ] = {"bytes read/s", 12}, [DFT_TRACK_WRITTEN] = {"bytes written/s", 15},
        [DFT_TRACK_CALLS] = {"calls/s", 7},      [DFT_TRACK_FLIGHT] = {"bytes in flight", 15},
        [DFT_TRACK_OPEN] = {"files open", 10},
    };

    for (size_t i = 0; i < tracks->count; i++) {
        const struct dft_track_point *point = &tracks->points[i];
        struct dft_text category = {"I/O", 3}, name;
        char room[18], rate[256];

        if (point->track < DFT_TRACKS) {
            name = moved[point->track];
        } else {
            const struct dft_track_series *series = &tracks->series[point->track - DFT_TRACKS];

            dft_names_call(names, series->id, &category, &name, room);
            if (series->total) {
                name.length = name.length < sizeof rate - 2 ? name.length : (uint32_t)sizeof rate - 2;
                memcpy(rate, name.bytes, name.length);
                memcpy(rate + name.length, "/s", 2);
                name = (struct dft_text){rate, name.length + 2};
            }
        }
        emit(context, point->process, category, name, point);
    }
}
