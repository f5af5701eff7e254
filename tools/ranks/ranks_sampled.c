/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: the search for the first cause over samples: memory in use, memory of GPUs,
 * processor time.
 *
 * Each process has a level that holds until its next sample, and ends with its last one. The level of
 * a rank is the sum over its processes. For processor time it is the growth from one sample to the next,
 * in thousandths of a processor. */
#include "ranks/ranks_sampled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "base/saturate.h"
#include "format/hash.h"
#include "mpi/comm.h"
#include "intake/source_visit.h"

#define MEMORY_FLOOR (INT64_C(64) << 20)
#define CPU_FLOOR    500 /* half a processor */

#define NAME(text) dft_name_id("process\0" text, sizeof "process\0" text - 1)

enum { ID_RSS, ID_GPU, ID_USER, ID_SYSTEM, IDS };

/* A value of a process from a time on. */
struct level {
    uint32_t measure, rank, process, id;
    int64_t time_ns, value;
};

struct levels {
    struct level *list;
    size_t count, capacity;
};

struct sampling {
    struct dft_ranks_job *job;
    uint64_t ids[IDS];
    struct levels *workers, all;
};

const char *dft_ranks_sampled_name(enum dft_ranks_sampled_measure measure)
{
    static const char *const names[] = {"memory", "gpu_memory", "cpu"};

    return names[measure];
}

/* --- reading ------------------------------------------------------------------------------------ */

static uint32_t measure_of(uint32_t id)
{
    return id == ID_RSS ? DFT_SAMPLED_MEMORY : id == ID_GPU ? DFT_SAMPLED_GPU_MEMORY : DFT_SAMPLED_CPU;
}

static int take_block(void *context, unsigned worker, const struct dft_source_process *process,
                      const struct dft_block *block, struct dft_counters *counters)
{
    struct sampling *sampling = context;
    struct levels *levels = &sampling->workers[worker];
    int rc = 0;

    (void)block;
    for (uint32_t i = 0; !rc && i < counters->count; i++) {
        const struct dft_counter_sample *sample = &counters->samples[i];
        const struct dft_counter_series *series = &counters->series[sample->series];
        uint64_t time = sample->time_ns;
        uint32_t id = 0;

        while (id < IDS && sampling->ids[id] != series->id)
            id++;
        if (id == IDS)
            continue;
        time += (uint64_t)dft_clocks_shift(&sampling->job->clocks, process->number, time);
        rc = DFT_ARRAY_PUSH(levels->list, levels->capacity, levels->count,
                            (struct level){measure_of(id), sampling->job->rank_of[process->number] - 1, process->number,
                                           id, (int64_t)time, (int64_t)dft_counter_sample_number(sample, series)});
    }
    return rc;
}

static int select_block(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct sampling *sampling = context;

    return block->type == DFT_BLOCK_COUNTERS &&
           (block->state == DFT_BLOCK_USED || block->state == DFT_BLOCK_OVERLAPS) &&
           sampling->job->rank_of[process->number] && dft_filter_process(sampling->job->filter, process);
}

static int take_rank(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct levels *all = context;
    size_t count = length / sizeof *all->list;

    (void)rank;
    if (DFT_ARRAY_RESERVE(all->list, all->capacity, all->count + count + 1))
        return -ENOMEM;
    if (count)
        memcpy(all->list + all->count, bytes, length);
    all->count += count;
    return 0;
}

static int read_all(struct sampling *sampling)
{
    unsigned threads = dft_source_threads(sampling->job->source);
    struct levels own = {0};
    int rc;

    sampling->workers = calloc(threads, sizeof *sampling->workers);
    rc = dft_comm_agree(sampling->workers ? 0 : -ENOMEM);
    if (!rc)
        rc = dft_source_visit(sampling->job->source,
                              &(struct dft_visit){.context = sampling, .select = select_block, .counters = take_block});
    for (unsigned i = 0; sampling->workers && i < threads; i++) {
        if (!rc)
            rc = take_rank(&own, 0, sampling->workers[i].list, sampling->workers[i].count * sizeof *own.list);
        free(sampling->workers[i].list);
    }
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_comm_exchange(own.list, own.count * sizeof *own.list, take_rank, &sampling->all);
    free(own.list);
    free(sampling->workers);
    return rc;
}

/* --- levels ------------------------------------------------------------------------------------- */

static int by_process(const void *left, const void *right)
{
    const struct level *a = left, *b = right;

    DFT_ORDER(a->process, b->process);
    DFT_ORDER(a->id, b->id);
    DFT_ORDER(a->time_ns, b->time_ns);
    DFT_ORDER(a->value, b->value);
    return 0;
}

static int by_rank(const void *left, const void *right)
{
    const struct level *a = left, *b = right;

    DFT_ORDER(a->measure, b->measure);
    DFT_ORDER(a->rank, b->rank);
    DFT_ORDER(a->time_ns, b->time_ns);
    DFT_ORDER(a->process, b->process);
    DFT_ORDER(a->id, b->id);
    return 0;
}

/* Totals become their growth, and the level of a process ends with its last sample. */
static int make_levels(struct levels *levels)
{
    size_t count = levels->count;
    int rc = 0;

    if (count)
        qsort(levels->list, count, sizeof *levels->list, by_process);
    for (size_t i = 0; !rc && i < count; i++) {
        struct level *level = &levels->list[i], *next = i + 1 < count ? level + 1 : NULL;

        if (next && (next->process != level->process || next->id != level->id))
            next = NULL;
        if (level->measure != DFT_SAMPLED_CPU) {
            struct level end = *level;

            end.time_ns++;
            end.value = 0;
            if (!next)
                rc = DFT_ARRAY_PUSH(levels->list, levels->capacity, levels->count, end);
        } else if (next && next->time_ns > level->time_ns) {
            level->value = dft_int_of(((double)next->value - (double)level->value) * 1000 /
                                      (double)(next->time_ns - level->time_ns));
        } else {
            level->value = 0;
        }
    }
    if (levels->count)
        qsort(levels->list, levels->count, sizeof *levels->list, by_rank);
    return rc;
}

/* --- the search --------------------------------------------------------------------------------- */

static int by_number(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

/* The median time between samples of a rank. */
static int64_t usual_interval(const struct dft_metric_series *series, uint32_t count, int64_t *room)
{
    size_t n = 0;

    for (uint32_t r = 0; r < count; r++)
        for (uint32_t i = 1; i < series[r].count; i++)
            if (series[r].samples[i].time_ns > series[r].samples[i - 1].time_ns)
                room[n++] = series[r].samples[i].time_ns - series[r].samples[i - 1].time_ns;
    if (!n)
        return 0;
    qsort(room, n, sizeof *room, by_number);
    return room[n / 2];
}

/* What the levels [from, to) of one measure come to. */
static int search(struct dft_ranks_job *job, struct dft_ranks_sampled *sampled, const struct level *levels,
                  size_t count)
{
    uint32_t nprocesses, n = 0;
    struct dft_metric_series *series = malloc((job->nranks + 1u) * sizeof *series);
    struct dft_sample *samples = malloc((count + 1) * sizeof *samples);
    int64_t *now, *room = malloc((count + 1) * sizeof *room), sum = 0;
    int rc = -ENOMEM;

    dft_source_processes(job->source, &nprocesses);
    now = calloc((size_t)nprocesses * IDS + 1, sizeof *now);
    if (!series || !samples || !now || !room)
        goto out;
    for (size_t i = 0; i < count; i++) {
        const struct level *level = &levels[i];
        int64_t *value = &now[(size_t)level->process * IDS + level->id];

        if (!i || level->rank != levels[i - 1].rank) {
            series[n++] = (struct dft_metric_series){.rank = level->rank, .samples = &samples[i]};
            sum = 0;
        }
        sum += level->value - *value;
        *value = level->value;
        samples[i] = (struct dft_sample){level->time_ns, sum < 0 ? 0 : sum};
        if (series[n - 1].count && samples[i - 1].time_ns == level->time_ns) { /* of several processes at once */
            samples[i - 1].value = samples[i].value;
            samples[i] = samples[i - 1];
        }
        series[n - 1].count++;
    }
    sampled->nranks = n;
    rc = dft_first_cause_find(series, n, sampled->floor, usual_interval(series, n, room), n < job->nranks,
                              &sampled->cause);
out:
    free(series);
    free(samples);
    free(now);
    free(room);
    return rc;
}

int dft_ranks_sampled(struct dft_ranks_job *job)
{
    struct sampling sampling = {
        .job = job, .ids = {NAME("rss_bytes"), NAME("gpu_memory_bytes"), NAME("cpu_user_ns"), NAME("cpu_system_ns")}};
    size_t from = 0;
    int rc;

    for (int m = 0; m < DFT_SAMPLED; m++)
        job->sampled[m].floor = m == DFT_SAMPLED_CPU ? CPU_FLOOR : MEMORY_FLOOR;
    if (!dft_source_used(job->source, DFT_BLOCK_COUNTERS))
        return 0;
    rc = read_all(&sampling);
    if (!rc)
        rc = make_levels(&sampling.all);
    for (int m = 0; !rc && m < DFT_SAMPLED; m++) {
        size_t to = from;

        while (to < sampling.all.count && sampling.all.list[to].measure == (uint32_t)m)
            to++;
        if (to > from)
            rc = search(job, &job->sampled[m], sampling.all.list + from, to - from);
        from = to;
    }
    free(sampling.all.list);
    return dft_comm_agree(rc);
}
