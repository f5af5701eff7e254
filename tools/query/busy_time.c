/* SPDX-License-Identifier: MIT */
/* Busy time of time groups: a call belongs to the interval in which it starts, its time to all
 * those it spans.
 *
 * Each interval that a call spans gets the nanoseconds that lie in it, into `edge` of the group of
 * that interval: at once while counting, so that groups need no others to be complete, and may
 * come in batches and from other ranks. A group may consist of nothing but such time.
 *
 * Rows say the same with `edge` and `step` (row.h). A step goes on until another one takes it
 * back, perhaps in another block: it is added to all intervals up to the last, and what is too
 * much is taken back by the other (sums wrap). That is dear where there are many; then rows do not
 * answer.
 *
 * The `step` of a group says how many calls cover its whole interval, where this is one interval of
 * the rows. */
#include "query/busy_time.h"

#include <errno.h>
#include <string.h>

#include "query/execution.h"
#include "query/group_map.h"
#include "query/partial.h"
#include "query/query_types.h"
#include "object/object.h"

#define SPAN_MAX  (UINT64_C(1) << 18) /* intervals of one call, or to which a step is added: beyond it nobody knows */
#define STEPS_MAX 4096u               /* to which one step is added, while events could answer */

/* Adds to the group with this key and time. */
static int add_busy(struct dft_worker *worker, const struct dft_group_key *of, uint8_t op, uint64_t time,
                    uint64_t busy_ns, uint64_t step)
{
    struct dft_group_key key = *of;
    struct dft_row row = {.kind = DFT_ROW_CALL, .op = op};
    uint32_t number;
    int rc;

    key.time = time;
    rc = dft_group_map_get(&worker->partial.map, &key, &number);
    if (rc)
        return rc;
    dft_metrics_clear(&row.metrics);
    row.metrics.edge = busy_ns;
    row.metrics.step = (int64_t)step;
    row.subject = DFT_SUBJECT(number);
    return dft_table_merge(worker->partial.table, &row);
}

int dft_spread_event(struct dft_execution *execution, struct dft_worker *worker, const struct dft_group_key *key,
                     uint8_t op, uint64_t start_ns, uint64_t dur_ns)
{
    uint64_t width = execution->query.width_ns, end = start_ns + dur_ns - execution->query.base_ns;
    uint64_t first = dft_slot_of(execution, start_ns), last = (end - 1) / width;
    int rc;

    if (last - first > SPAN_MAX) {
        worker->stats.busy_unknown = 1;
        return 0;
    }
    /* The table counts the whole duration where it starts: what lies behind is taken from there. */
    rc = add_busy(worker, key, op, first, (first + 1) * width - end, 0);
    for (uint64_t k = first + 1; !rc && k <= last; k++)
        rc = add_busy(worker, key, op, k, k < last ? width : end - k * width, k < last);
    return rc;
}

int dft_spread_row(struct dft_execution *execution, struct dft_worker *worker, const struct dft_group_key *key,
                   struct dft_row *row, uint64_t start_ns)
{
    uint64_t width = execution->query.width_ns, first = dft_slot_of(execution, start_ns), begin, end, last;
    uint64_t step = (uint64_t)row->metrics.step;
    int rc = 0;

    dft_source_span(execution->source, &begin, &end);
    last = dft_slot_of(execution, end);
    if (execution->filter->from_ns || execution->filter->to_ns != UINT64_MAX) /* of which calls is what goes on? */
        worker->stats.busy_unknown = 1;
    if (!step)
        return 0;
    row->metrics.edge +=
        step * (execution->query.base_ns + (first + 1) * width - start_ns); /* a whole number of the row's intervals */
    if (last <= first)
        return 0;
    if (execution->rows_only && last - first > STEPS_MAX)
        return DFT_NOT_EXACT;
    if (last - first > SPAN_MAX)
        worker->stats.busy_unknown = 1;
    for (uint64_t k = first + 1; !rc && k <= last && last - first <= SPAN_MAX; k++)
        rc = add_busy(worker, key, row->op, k, step * width, step);
    return rc;
}
