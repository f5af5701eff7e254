/* SPDX-License-Identifier: MIT */
/* busy_union_ns and in_flight_max of all groups: a sweep over the calls of each, in windows of
 * time.
 *
 * The start and the end of a call and the number of its series are kept, 24 bytes, so that a window
 * holds four million and blocks, which may all span the whole time, are decoded as seldom. Threads
 * decode; one thread sweeps. */
#include "query/busy_union.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/pages.h"
#include "mpi/comm.h"
#include "query/execution.h"
#include "query/group_keys.h"
#include "query/group_map.h"
#include "query/grouper.h"
#include "query/query_types.h"
#include "query/sweep.h"
#include "views/filter.h"
#include "object/source_notes.h"
#include "views/source_order.h"
#include "views/source_window.h"

#define CALLS_MAX (UINT32_C(4) << 20) /* of a window: with what sorts them at most 48 bytes each */
#define SEEN      2048u

struct call {
    uint64_t start, end;
    uint32_t series;
};

/* The series of what looked alike in a batch. */
struct seen {
    uint64_t file, region, stack, batch;
    uint32_t call, series, facets;
};

/* What one thread keeps. */
struct keeper {
    struct call *calls;
    size_t count, capacity;
    struct dft_worker *worker; /* only its memory of files and stacks */
    struct seen *seen;
    uint64_t batch;
};

struct unions {
    struct dft_execution *execution;
    struct dft_sweeping sweeping;
    pthread_mutex_t lock; /* of all_series, and of what the execution remembers of texts */
    struct dft_group_map all_series;
    struct dft_levels *series;
    uint32_t series_capacity;
    struct keeper *keepers;
    unsigned nkeepers;
};

/* --- calls of a batch ------------------------------------------------------------------------- */

static int number_of(struct unions *unions, const struct dft_group_key *counted, uint32_t *number)
{
    struct dft_group_key key;
    int rc;

    pthread_mutex_lock(&unions->lock);
    rc = dft_final_key(unions->execution, counted, &key);
    key.time = 0;
    *number = DFT_NO_GROUP;
    if (!rc && (unions->sweeping.visit.width_ns || dft_group_map_find(&unions->sweeping.map, &key) >= 0))
        rc = dft_group_map_get(&unions->all_series, &key, number);
    pthread_mutex_unlock(&unions->lock);
    return rc;
}

static int series_of(struct unions *unions, struct keeper *keeper, const struct dft_source_process *process,
                     const struct dft_batch *batch, const struct dft_event *event, uint32_t *series)
{
    uint64_t hash = ((event->file ^ event->region) + event->stack + event->call) * UINT64_C(0x9e3779b97f4a7c15);
    struct seen *seen = &keeper->seen[(hash >> 32) % SEEN];
    const struct dft_call *call = &batch->calls[event->call];
    uint32_t facets = dft_key_facets(unions->execution, event, call->op);
    struct dft_group_key key;
    int rc = 0;

    if (seen->facets == facets && seen->file == event->file && seen->region == event->region &&
        seen->stack == event->stack && seen->call == event->call && seen->batch == keeper->batch && !event->file2) {
        *series = seen->series;
        return 0;
    }
    *series = DFT_NO_GROUP;
    if (dft_event_key(unions->execution, keeper->worker, process, batch->tid, event, call, &key))
        rc = number_of(unions, &key, series);
    if (!rc && !event->file2)
        *seen = (struct seen){event->file, event->region, event->stack, keeper->batch, event->call, *series, facets};
    return rc;
}

static int reserve(struct keeper *keeper, size_t more)
{
    size_t capacity = keeper->capacity ? keeper->capacity : 4096;
    struct call *bigger;

    while (capacity - keeper->count < more)
        capacity *= 2;
    if (capacity == keeper->capacity)
        return 0;
    bigger = dft_pages_grow(keeper->calls, keeper->capacity * sizeof *bigger, capacity * sizeof *bigger);
    if (!bigger)
        return -ENOMEM;
    keeper->calls = bigger;
    keeper->capacity = capacity;
    return 0;
}

static int64_t keep(void *context, unsigned worker, const struct dft_source_process *process,
                    const struct dft_batch *batch, uint64_t from, uint64_t to)
{
    struct unions *unions = context;
    struct keeper *keeper = &unions->keepers[worker];
    size_t before = keeper->count;
    uint8_t passes[batch->ncalls + 1];
    int rc = reserve(keeper, batch->count);

    for (uint32_t i = 0; i < batch->ncalls; i++)
        passes[i] = (uint8_t)dft_call_passes(unions->execution, keeper->worker, &batch->calls[i]);
    keeper->batch++;
    for (uint32_t i = 0; !rc && i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];
        uint64_t end = event->start_ns + event->dur_ns, base = unions->execution->query.base_ns;
        uint32_t series;

        if (event->call >= batch->ncalls || !passes[event->call] || event->start_ns < from || event->start_ns > to ||
            event->phase != DFT_PHASE_COMPLETE || !event->dur_ns ||
            !dft_event_counts(event, batch->calls[event->call].op) ||
            !dft_event_passes(unions->execution, keeper->worker, event, batch->calls[event->call].op))
            continue;
        rc = series_of(unions, keeper, process, batch, event, &series);
        if (!rc && series != DFT_NO_GROUP)
            keeper->calls[keeper->count++] =
                (struct call){event->start_ns - base, end < event->start_ns ? UINT64_MAX : end - base, series};
    }
    return rc ? rc : (int64_t)(keeper->count - before);
}

static void clear(void *context)
{
    struct unions *unions = context;

    for (unsigned i = 0; i < unions->nkeepers; i++)
        unions->keepers[i].count = 0;
}

/* --- a window --------------------------------------------------------------------------------- */

/* The calls of each series together: those of series i in [places[i], places[i + 1]), where their
 * ends also have room for the ends that the series has from before. */
struct sorted {
    uint64_t *starts, *ends, *scratch;
    size_t *places, *at;
    size_t bytes, bytes_of_places, scratch_bytes;
};

static void sorted_free(struct sorted *sorted)
{
    dft_pages_free(sorted->starts, sorted->bytes);
    dft_pages_free(sorted->ends, sorted->bytes);
    dft_pages_free(sorted->scratch, sorted->scratch_bytes);
    dft_pages_free(sorted->places, sorted->bytes_of_places);
    dft_pages_free(sorted->at, sorted->bytes_of_places);
}

static int make_places(struct unions *unions, struct sorted *sorted)
{
    uint32_t n = unions->all_series.count;
    size_t sum = 0, longest = 0;

    sorted->bytes_of_places = (n + 1u) * sizeof *sorted->places;
    sorted->places = dft_pages_grow(NULL, 0, sorted->bytes_of_places);
    sorted->at = dft_pages_grow(NULL, 0, sorted->bytes_of_places);
    if (!sorted->places || !sorted->at)
        return -ENOMEM;
    memset(sorted->at, 0, sorted->bytes_of_places);
    for (unsigned k = 0; k < unions->nkeepers; k++)
        for (size_t i = 0; i < unions->keepers[k].count; i++)
            sorted->at[unions->keepers[k].calls[i].series]++;
    for (uint32_t i = 0; i < n; i++) {
        size_t count = sorted->at[i];

        longest = count > longest ? count : longest;
        sorted->places[i] = sorted->at[i] = sum;
        sum += count + unions->series[i].count;
    }
    sorted->places[n] = sum;
    sorted->bytes = (sum + 1) * sizeof *sorted->starts;
    sorted->scratch_bytes = (longest + 1) * sizeof *sorted->scratch;
    sorted->starts = dft_pages_grow(NULL, 0, sorted->bytes);
    sorted->ends = dft_pages_grow(NULL, 0, sorted->bytes);
    sorted->scratch = dft_pages_grow(NULL, 0, sorted->scratch_bytes);
    return sorted->starts && sorted->ends && sorted->scratch ? 0 : -ENOMEM;
}

/* Every series that there is has its place. */
static int reserve_series(struct unions *unions)
{
    uint32_t capacity = unions->all_series.count;
    struct dft_levels *bigger;

    if (capacity <= unions->series_capacity)
        return 0;
    bigger = dft_pages_grow(unions->series, unions->series_capacity * sizeof *bigger, capacity * sizeof *bigger);
    if (!bigger)
        return -ENOMEM;
    memset(bigger + unions->series_capacity, 0, (capacity - unions->series_capacity) * sizeof *bigger);
    unions->series = bigger;
    unions->series_capacity = capacity;
    return 0;
}

static int sweep_window(void *context)
{
    struct unions *unions = context;
    struct sorted sorted = {0};
    int rc = reserve_series(unions);

    if (!rc)
        rc = make_places(unions, &sorted);
    for (unsigned k = 0; !rc && k < unions->nkeepers; k++)
        for (size_t i = 0; i < unions->keepers[k].count; i++) {
            const struct call *call = &unions->keepers[k].calls[i];
            size_t at = sorted.at[call->series]++;

            sorted.starts[at] = call->start;
            sorted.ends[at] = call->end;
        }
    for (uint32_t i = 0; !rc && i < unions->all_series.count; i++) {
        size_t first = sorted.places[i];

        if (sorted.at[i] > first)
            rc = dft_series_sweep(&unions->sweeping, &unions->all_series.keys[i], &unions->series[i],
                                  sorted.starts + first, sorted.ends + first, sorted.at[i] - first, sorted.scratch);
    }
    sorted_free(&sorted);
    clear(unions);
    return rc;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int unions_init(struct unions *unions, struct dft_execution *execution, struct dft_answer *answer)
{
    uint32_t number;
    int rc = 0;

    unions->execution = execution;
    dft_sweeping_init(&unions->sweeping, answer, DFT_HAS(execution, DFT_BY_TIME) ? execution->query.width_ns : 0);
    unions->nkeepers = execution->nworkers;
    unions->keepers = calloc(unions->nkeepers, sizeof *unions->keepers);
    for (unsigned i = 0; unions->keepers && i < unions->nkeepers; i++) {
        struct keeper *keeper = &unions->keepers[i];

        keeper->worker = calloc(1, sizeof *keeper->worker);
        keeper->seen = calloc(SEEN, sizeof *keeper->seen);
        if (keeper->worker)
            keeper->worker->memo = calloc(DFT_MEMO, sizeof *keeper->worker->memo);
        if (!keeper->worker || !keeper->worker->memo || !keeper->seen)
            return -ENOMEM;
    }
    for (uint32_t i = 0; !rc && i < answer->count; i++) /* each key is there once: its number is that of the group */
        rc = dft_group_map_get(&unions->sweeping.map, &answer->groups[i].key, &number);
    return unions->keepers ? rc : -ENOMEM;
}

static void unions_fini(struct unions *unions)
{
    for (unsigned i = 0; unions->keepers && i < unions->nkeepers; i++) {
        struct keeper *keeper = &unions->keepers[i];

        dft_pages_free(keeper->calls, keeper->capacity * sizeof *keeper->calls);
        if (keeper->worker)
            free(keeper->worker->memo);
        free(keeper->worker);
        free(keeper->seen);
    }
    free(unions->keepers);
    for (uint32_t i = 0; i < unions->series_capacity; i++)
        free(unions->series[i].ends);
    dft_pages_free(unions->series, unions->series_capacity * sizeof *unions->series);
    dft_group_map_fini(&unions->all_series);
    dft_group_map_fini(&unions->sweeping.map);
}

int dft_count_union(struct dft_execution *execution, struct dft_answer *answer)
{
    struct unions unions = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct dft_sweep sweep = {
        .context = &unions, .most = CALLS_MAX, .keep = keep, .window = sweep_window, .clear = clear};
    int rc = dft_comm_agree(unions_init(&unions, execution, answer)), over;

    if (!rc)
        rc = dft_source_sweep(execution->source, execution->filter, &sweep);
    for (uint32_t i = 0; !rc && i < unions.series_capacity; i++)
        dft_series_finish(&unions.sweeping, &unions.all_series.keys[i], &unions.series[i]);
    over = unions.sweeping.visit.walked >= DFT_WALK_MAX;
    unions_fini(&unions);
    dft_comm_broadcast(&over, sizeof over);
    if (over) {
        dft_source_note(execution->source, 0,
                        "calls span too many intervals: busy_union_ns and in_flight_max are not known");
        answer->has_union = 0;
    }
    return rc;
}
