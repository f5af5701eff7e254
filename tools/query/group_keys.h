/* SPDX-License-Identifier: MIT */
/* Which group an event or a row belongs to. */
#ifndef DFT_GROUP_KEYS_H
#define DFT_GROUP_KEYS_H

#include "format/event.h"
#include "query/execution.h"
#include "views/filter_event.h"

/* The key of one event of this call; returns 0 when it belongs to no group. */
int dft_event_key(struct dft_execution *execution, struct dft_worker *worker, const struct dft_source_process *process,
                  uint32_t tid, const struct dft_event *event, const struct dft_call *call, struct dft_group_key *key);
/* The facets of an event and of a row that are keys. */
static inline uint32_t dft_key_facets(const struct dft_execution *execution, const struct dft_event *event, uint8_t op)
{
    if (!execution->facets)
        return 0;
    return execution->facets &
           dft_facets_of(dft_op_is_data(op), event->size, event->calls, event->offset, event->bits, event->err);
}

static inline uint32_t dft_row_facets(const struct dft_execution *execution, const struct dft_row *row)
{
    return execution->facets & dft_all_row_facets(row);
}
/* Is one of its files queried? */
int dft_event_file_passes(struct dft_execution *execution, struct dft_worker *worker, const struct dft_event *event);
/* Does a call pass the filter? When its text would decide and is not known, that is remembered. */
int dft_call_passes(struct dft_execution *execution, struct dft_worker *worker, const struct dft_call *call);
/* Does the innermost region (0: none) around an event or a row? Likewise. */
int dft_region_passes(struct dft_execution *execution, struct dft_worker *worker, uint64_t region);
/* Does an event of a call that passes pass by what is its own, but for its files? */
static inline int dft_event_passes(struct dft_execution *execution, struct dft_worker *worker,
                                   const struct dft_event *event, uint8_t op)
{
    return dft_filter_time(execution->filter, event) &&
           (!execution->picks || dft_filter_looks(execution->filter, event, op)) &&
           (!dft_filter_has(execution->filter, DFT_FILTER_REGION) ||
            dft_region_passes(execution, worker, event->region));
}
int dft_add_child(struct dft_execution *execution, struct dft_worker *worker, uint32_t process_group, uint32_t tid,
                  uint64_t region, uint64_t dur_ns);
/* The counted key of the group that a parent (process group, tid, region) belongs to. */
struct dft_group_key dft_parent_group(const struct dft_execution *execution, const struct dft_group_key *parent);
/* The key of an answer's group from that of a counted one (a final one stays as it is). */
int dft_final_key(struct dft_execution *execution, const struct dft_group_key *counted, struct dft_group_key *final);
/* Is the event one of those that count? (aggregate.h) */
int dft_event_counts(const struct dft_event *event, uint8_t op);

#endif
