/* busy_union_ns: how long at least one event of a group was going on, by a sweep over all events in order of start. */
#include "query_inside.h"

#include <errno.h>
#include <stdlib.h>

struct sweeping {
    struct dft_asking *asking;
    struct dft_answer *answer;
    const struct dft_group_map *map;
    struct dft_counting counting; /* only its memo */
};

static int sweep(void *context, const struct dft_event_at *at)
{
    struct sweeping *sweeping = context;
    const struct dft_event *event = at->event;
    struct dft_group_key key, final;
    struct dft_group *group;
    uint64_t end = event->start_ns + event->dur_ns;
    int64_t number;
    int rc;

    if (!dft_event_counts(event, at->op) || event->phase != DFT_PHASE_COMPLETE)
        return 0;
    if (!dft_event_key(sweeping->asking, &sweeping->counting, at->process, at->tid, event, at->call, at->op, &key))
        return 0;
    rc = dft_final_key(sweeping->asking, &key, &final);
    if (rc)
        return rc;
    number = dft_group_map_find(sweeping->map, &final);
    if (number < 0 || number >= (int64_t)sweeping->answer->count)
        return 0;
    group = &sweeping->answer->groups[number];
    if (end < event->start_ns)
        end = UINT64_MAX;
    if (end > group->union_end) {
        uint64_t from = event->start_ns > group->union_end ? event->start_ns : group->union_end;

        group->busy_union_ns += end - from;
        group->union_end = end;
    }
    return 0;
}

int dft_count_union(struct dft_asking *asking, struct dft_answer *answer, const struct dft_group_map *map)
{
    struct sweeping sweeping = {.asking = asking, .answer = answer, .map = map};
    int rc;

    sweeping.counting.memo = calloc(DFT_MEMO, sizeof *sweeping.counting.memo);
    if (!sweeping.counting.memo)
        return -ENOMEM;
    rc = dft_source_ordered(asking->source, asking->filter, sweep, &sweeping);
    free(sweeping.counting.memo);
    return rc;
}
