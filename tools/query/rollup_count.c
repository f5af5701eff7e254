/* SPDX-License-Identifier: MIT */
/* Counts the blocks of a rollup, in place of the blocks of the source. */
#include "query/rollup_count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "format/decode.h"
#include "query/spill.h"
#include "query/group_keys.h"
#include "source/source_inside.h"
#include "query/group_map.h"
#include "query/partial.h"
#include "query/query_types.h"

#define EVERYBODY 1u /* there is one combination of processes where they are not told apart */

static int add_names(struct dft_execution *execution, const struct dft_buckets *buckets)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && i < buckets->nnames; i++)
        if (buckets->names[i].text.bytes)
            rc = dft_names_add(execution->names, buckets->names[i].id, buckets->names[i].text.bytes,
                               buckets->names[i].text.length, NULL);
    for (uint32_t i = 0; !rc && i < buckets->ncalls; i++)
        if (buckets->calls[i].text.bytes)
            rc = dft_names_add(execution->names, buckets->calls[i].id, buckets->calls[i].text.bytes,
                               buckets->calls[i].text.length, NULL);
    return rc;
}

/* The group of a call on a file. Returns 1, 0: it is in none that is counted, or -ENOMEM. */
static int group_of(struct dft_execution *execution, struct dft_worker *worker, const struct dft_event *event,
                    const struct dft_row *row, uint32_t *group, int *passes)
{
    struct dft_group_key key;
    const struct dft_call call = {.id = row->subject, .op = row->op, .io = row->io};
    int rc = dft_event_key(execution, worker, NULL, 0, event, &call, &key);

    *passes = rc || !dft_filter_has_files(execution->filter);
    key.process_group = EVERYBODY;
    if (rc != 1)
        return rc;
    rc = dft_group_map_get(&worker->partial.map, &key, group);
    return rc ? rc : 1;
}

static int count_block(struct dft_execution *execution, struct dft_worker *worker, struct dft_buckets *buckets)
{
    struct dft_event event = {.region = buckets->key};
    uint32_t group = 0;
    int rc = add_names(execution, buckets), placed = 0;

    for (uint32_t i = 0; rc >= 0 && i < buckets->count; i++) {
        struct dft_row *row = &buckets->rows[i];
        int passes;

        if (row->kind == DFT_ROW_CALL) { /* the histogram behind it has the same group */
            placed = 0;
            if (execution->want_self && buckets->key)
                rc = dft_add_child(execution, worker, EVERYBODY, 0, buckets->key, row->metrics.dur_sum);
            if (rc < 0)
                return rc;
            if (!dft_call_passes(execution, worker,
                                 &(struct dft_call){.id = row->subject, .op = row->op, .io = row->io}) ||
                !dft_region_passes(execution, worker, buckets->key))
                continue;
            event.file = row->region;
            rc = placed = group_of(execution, worker, &event, row, &group, &passes);
            worker->stats.events += passes ? row->metrics.count : 0;
            worker->stats.events_kept += passes ? row->metrics.count : 0;
        }
        if (placed <= 0 || row->kind > DFT_ROW_HISTOGRAM || (row->kind == DFT_ROW_HISTOGRAM && !execution->histograms))
            continue;
        row->metrics.strided = row->access == DFT_ACCESS_STRIDED ? row->metrics.data : 0;
        row->metrics.random = row->access == DFT_ACCESS_RANDOM ? row->metrics.data : 0;
        row->interval = row->region = 0;
        row->subject = DFT_SUBJECT(group);
        worker->stats.placed_rows += row->kind == DFT_ROW_CALL ? row->metrics.count : 0;
        if (row->kind == DFT_ROW_CALL && execution->query.members)
            rc = dft_members_add_io(&worker->partial.members, group, row);
        rc = rc < 0 ? rc : dft_table_merge(worker->partial.table, row);
        if (rc == -EINVAL) /* bins that no value has: the row says nothing */
            rc = 0;
    }
    return rc < 0 ? rc : dft_merge_partial(execution, worker);
}

int dft_count_rollup(struct dft_execution *execution, struct dft_worker *worker)
{
    const struct dft_rollup *rollup = execution->rollup;
    struct dft_decoder *decoder = dft_decoder_create();
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    size_t offset = 0, found;
    int rc = decoder ? 0 : -ENOMEM;

    while (!rc && rollup->bytes && dft_block_next(rollup->bytes, rollup->length, &offset, &header, &found, &skipped)) {
        struct dft_buckets buckets;
        const char *reason;

        rc = dft_decode_buckets(decoder, &header, rollup->bytes + found + sizeof header, &buckets, &reason);
        if (!rc)
            rc = count_block(execution, worker, &buckets);
    }
    dft_decoder_destroy(decoder);
    return rc;
}
