/* SPDX-License-Identifier: MIT */
/* What follows for groups from how many calls of a series go on. With time as a key all is cut at the bounds of the
 * intervals. */
#include "query/sweep.h"

#include "query/query_types.h"

struct at {
    struct dft_sweeping *sweeping;
    const struct dft_group_key *key;
    struct dft_group *group;
    uint64_t group_interval;
    int has_group;
};

static struct dft_group *group_of(struct at *at, uint64_t interval)
{
    struct dft_group_key key = *at->key;
    int64_t number;

    if (at->has_group && at->group_interval == interval)
        return at->group;
    key.time = interval;
    number = dft_group_map_find(&at->sweeping->map, &key);
    at->group = number < 0 ? NULL : &at->sweeping->answer->groups[number];
    at->group_interval = interval;
    at->has_group = 1;
    return at->group;
}

static void note_level(void *context, uint64_t interval, size_t level)
{
    struct dft_group *group = group_of(context, interval);

    if (group && level > group->in_flight_max)
        group->in_flight_max = level;
}

static void add_union(void *context, uint64_t from, uint64_t to)
{
    struct at *at = context;
    struct dft_levels_visit *visit = &at->sweeping->visit;
    uint64_t width = visit->width_ns;

    while (from < to && visit->walked < visit->walk_most) {
        uint64_t interval = width ? from / width : 0, end = to;
        struct dft_group *group = group_of(at, interval);

        if (width && (to - 1) / width > interval)
            end = (interval + 1) * width;
        if (group)
            group->busy_union_ns += end - from;
        from = end;
        visit->walked += width != 0;
    }
}

void dft_sweeping_init(struct dft_sweeping *sweeping, struct dft_answer *answer, uint64_t width_ns)
{
    *sweeping = (struct dft_sweeping){
        .answer = answer,
        .visit = {.width_ns = width_ns, .walk_most = DFT_WALK_MAX, .level = note_level, .busy = add_union}};
}

int dft_series_sweep(struct dft_sweeping *sweeping, const struct dft_group_key *key, struct dft_levels *series,
                     uint64_t *starts, uint64_t *ends, size_t count, uint64_t *scratch)
{
    struct at at = {.sweeping = sweeping, .key = key};

    sweeping->visit.context = &at;
    return dft_levels_sweep(series, &sweeping->visit, starts, ends, count, scratch);
}

void dft_series_finish(struct dft_sweeping *sweeping, const struct dft_group_key *key, struct dft_levels *series)
{
    struct at at = {.sweeping = sweeping, .key = key};

    sweeping->visit.context = &at;
    dft_levels_finish(series, &sweeping->visit);
}
