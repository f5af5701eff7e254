/* busy_union_ns and in_flight_max of all groups, by a sweep over all events in order of start.
 *
 * A series is what a group is without its time: its calls are followed from interval to interval. It keeps the ends of
 * those that are going on in a heap, and up to where it has been busy. With time as a key both are cut at the bounds of
 * the intervals. */
#include "comm.h"
#include "query_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WALK_MAX (UINT64_C(1) << 26) /* intervals that are walked in all; not reached but by times that are damaged */

struct series {
    uint64_t *ends; /* a heap, the first on top */
    uint32_t count, capacity;
    uint64_t interval; /* the one that it was looked at last */
    uint64_t busy_to;
};

struct sweeping {
    struct dft_asking *asking;
    struct dft_answer *answer;
    struct dft_group_map map;       /* of groups */
    struct dft_group_map of_series; /* the same without time */
    struct series *series;
    uint32_t series_capacity;
    uint64_t width_ns, walked;    /* width 0: time is no key */
    struct dft_counting counting; /* only its memo */
};

/* --- the heap ------------------------------------------------------------------------------------------------------- */

static int push(struct series *series, uint64_t end)
{
    uint32_t at = series->count;

    if (series->count == series->capacity) {
        uint32_t capacity = series->capacity ? 2 * series->capacity : 4;
        uint64_t *bigger = realloc(series->ends, capacity * sizeof *bigger);

        if (!bigger)
            return -ENOMEM;
        series->ends = bigger;
        series->capacity = capacity;
    }
    for (series->count++; at && series->ends[(at - 1) / 2] > end; at = (at - 1) / 2)
        series->ends[at] = series->ends[(at - 1) / 2];
    series->ends[at] = end;
    return 0;
}

static void pop(struct series *series)
{
    uint64_t end = series->ends[--series->count];
    uint32_t at = 0, child;

    while ((child = 2 * at + 1) < series->count) {
        child += child + 1 < series->count && series->ends[child + 1] < series->ends[child];
        if (series->ends[child] >= end)
            break;
        series->ends[at] = series->ends[child];
        at = child;
    }
    if (series->count)
        series->ends[at] = end;
}

static void pop_until(struct series *series, uint64_t now)
{
    while (series->count && series->ends[0] <= now)
        pop(series);
}

/* --- groups --------------------------------------------------------------------------------------------------------- */

static struct dft_group *group_of(struct sweeping *sweeping, const struct dft_group_key *of, uint64_t interval)
{
    struct dft_group_key key = *of;
    int64_t number;

    key.time = interval;
    number = dft_group_map_find(&sweeping->map, &key);
    return number < 0 ? NULL : &sweeping->answer->groups[number];
}

static void note_level(struct sweeping *sweeping, const struct dft_group_key *key, const struct series *series,
                       uint64_t interval)
{
    struct dft_group *group = group_of(sweeping, key, interval);

    if (group && series->count > group->in_flight_max)
        group->in_flight_max = series->count;
}

/* On to `interval`: what is still going on when an interval begins is in flight there. */
static void walk(struct sweeping *sweeping, const struct dft_group_key *key, struct series *series, uint64_t interval)
{
    while (series->count && series->interval < interval && sweeping->walked < WALK_MAX) {
        series->interval++;
        sweeping->walked++;
        pop_until(series, series->interval * sweeping->width_ns);
        if (series->count)
            note_level(sweeping, key, series, series->interval);
    }
    series->interval = interval;
}

/* [from, to) was not counted as busy so far. */
static void add_union(struct sweeping *sweeping, const struct dft_group_key *key, uint64_t from, uint64_t to)
{
    uint64_t width = sweeping->width_ns;

    while (from < to && sweeping->walked < WALK_MAX) {
        uint64_t interval = width ? from / width : 0, end = to;
        struct dft_group *group = group_of(sweeping, key, interval);

        if (width && (to - 1) / width > interval)
            end = (interval + 1) * width;
        if (group)
            group->busy_union_ns += end - from;
        from = end;
        sweeping->walked += width != 0;
    }
}

static int series_of(struct sweeping *sweeping, const struct dft_group_key *of, struct series **series)
{
    struct dft_group_key key = *of;
    uint32_t number;

    key.time = 0;
    if (dft_group_map_get(&sweeping->of_series, &key, &number))
        return -ENOMEM;
    if (number >= sweeping->series_capacity) {
        uint32_t capacity = sweeping->series_capacity ? 2 * sweeping->series_capacity : 256;
        struct series *bigger = realloc(sweeping->series, capacity * sizeof *bigger);

        if (!bigger)
            return -ENOMEM;
        memset(bigger + sweeping->series_capacity, 0, (capacity - sweeping->series_capacity) * sizeof *bigger);
        sweeping->series = bigger;
        sweeping->series_capacity = capacity;
    }
    *series = &sweeping->series[number];
    return 0;
}

static int add_call(struct sweeping *sweeping, const struct dft_group_key *key, uint64_t start, uint64_t end)
{
    uint64_t interval = sweeping->width_ns ? start / sweeping->width_ns : 0;
    struct series *series;
    int rc = series_of(sweeping, key, &series);

    if (rc)
        return rc;
    walk(sweeping, key, series, interval);
    pop_until(series, start);
    if (end <= start)
        return 0;
    rc = push(series, end);
    if (rc)
        return rc;
    note_level(sweeping, key, series, interval);
    if (end > series->busy_to) {
        add_union(sweeping, key, start > series->busy_to ? start : series->busy_to, end);
        series->busy_to = end;
    }
    return 0;
}

/* --- the sweep ------------------------------------------------------------------------------------------------------ */

static int sweep(void *context, const struct dft_event_at *at)
{
    struct sweeping *sweeping = context;
    const struct dft_event *event = at->event;
    struct dft_group_key key, final;
    uint64_t end = event->start_ns + event->dur_ns;
    int rc;

    if (!dft_event_counts(event, at->op) || event->phase != DFT_PHASE_COMPLETE)
        return 0;
    if (!dft_event_key(sweeping->asking, &sweeping->counting, at->process, at->tid, event, at->call, at->op, &key))
        return 0;
    rc = dft_final_key(sweeping->asking, &key, &final);
    if (rc)
        return rc;
    if (!sweeping->width_ns && dft_group_map_find(&sweeping->map, &final) < 0)
        return 0;
    return add_call(sweeping, &final, event->start_ns, end < event->start_ns ? UINT64_MAX : end);
}

/* What goes on behind the last start. */
static void finish(struct sweeping *sweeping)
{
    for (uint32_t i = 0; sweeping->width_ns && i < sweeping->of_series.count; i++)
        walk(sweeping, &sweeping->of_series.keys[i], &sweeping->series[i], UINT64_MAX / sweeping->width_ns);
}

static void sweeping_free(struct sweeping *sweeping)
{
    if (!sweeping)
        return;
    for (uint32_t i = 0; i < sweeping->of_series.count && i < sweeping->series_capacity; i++)
        free(sweeping->series[i].ends);
    free(sweeping->series);
    dft_group_map_fini(&sweeping->of_series);
    dft_group_map_fini(&sweeping->map);
    free(sweeping->counting.memo);
    free(sweeping);
}

int dft_count_union(struct dft_asking *asking, struct dft_answer *answer)
{
    struct sweeping *sweeping = calloc(1, sizeof *sweeping);
    uint32_t number;
    int rc = sweeping ? 0 : -ENOMEM, over;

    if (!rc) {
        sweeping->asking = asking;
        sweeping->answer = answer;
        sweeping->width_ns = DFT_HAS(asking, DFT_BY_TIME) ? asking->query.width_ns : 0;
        sweeping->counting.memo = calloc(DFT_MEMO, sizeof *sweeping->counting.memo);
        rc = sweeping->counting.memo ? 0 : -ENOMEM;
    }
    for (uint32_t i = 0; !rc && i < answer->count; i++) /* each key is there once: its number is that of the group */
        rc = dft_group_map_get(&sweeping->map, &answer->groups[i].key, &number);
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_source_ordered(asking->source, asking->filter, sweep, sweeping);
    if (!rc)
        finish(sweeping);
    over = sweeping && sweeping->walked >= WALK_MAX;
    sweeping_free(sweeping);
    dft_comm_broadcast(&over, sizeof over);
    if (over) {
        dft_source_note(asking->source, 0,
                        "calls span too many intervals: busy_union_ns and in_flight_max are not known");
        answer->has_union = 0;
    }
    return rc;
}
