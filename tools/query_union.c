/* busy_union_ns: how long at least one event of a group was going on, by a sweep over all events in order of start. */
#include "comm.h"
#include "query_inside.h"

#include <errno.h>
#include <stdlib.h>

struct sweeping {
    struct dft_asking *asking;
    struct dft_answer *answer;
    struct dft_group_map map;
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
    number = dft_group_map_find(&sweeping->map, &final);
    if (number < 0)
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

int dft_count_union(struct dft_asking *asking, struct dft_answer *answer)
{
    struct sweeping *sweeping = calloc(1, sizeof *sweeping);
    uint32_t number;
    int rc = sweeping ? 0 : -ENOMEM;

    if (!rc) {
        sweeping->asking = asking;
        sweeping->answer = answer;
        sweeping->counting.memo = calloc(DFT_MEMO, sizeof *sweeping->counting.memo);
        rc = sweeping->counting.memo ? 0 : -ENOMEM;
    }
    for (uint32_t i = 0; !rc && i < answer->count; i++) /* each key is there once: its number is that of the group */
        rc = dft_group_map_get(&sweeping->map, &answer->groups[i].key, &number);
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_source_ordered(asking->source, asking->filter, sweep, sweeping);
    if (sweeping) {
        dft_group_map_fini(&sweeping->map);
        free(sweeping->counting.memo);
    }
    free(sweeping);
    return rc;
}
