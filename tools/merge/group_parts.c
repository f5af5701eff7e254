/* SPDX-License-Identifier: MIT */
/* Cuts blocks into parts. Events keep their process, stream and number. format.h describes parts;
 * source.h says how they are read. */
#include "merge/group_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/aggregate.h"
#include "merge/merge_encoder.h"
#include "base/map.h"
#include "format/encode.h"

struct dft_parter {
    const struct dft_group_rules *rules;
    uint32_t division;
    const uint8_t *is_mine; /* by group: its parts are made */
    struct dft_matcher *matcher;
    struct dft_encoder *encoder;
    struct dft_table *table;
    uint64_t interval_ns; /* width of the table's rows */
    struct dft_map seen;  /* ids of the piece */
    uint8_t *groups;      /* group of each event of the batch */
    struct dft_event *events;
    uint32_t *numbers;
    struct dft_arg *args;
    struct dft_call *calls; /* calls that rows refer to */
    size_t events_capacity, args_capacity, calls_capacity;
};

struct dft_parter *dft_parter_create(const struct dft_group_rules *rules, const struct dft_names *names,
                                     uint32_t division, const uint8_t *is_mine)
{
    struct dft_parter *parter = calloc(1, sizeof *parter);

    if (!parter)
        return NULL;
    parter->rules = rules;
    parter->division = division;
    parter->is_mine = is_mine;
    parter->matcher = dft_matcher_create(rules, names);
    parter->encoder = dft_merge_encoder();
    if (parter->matcher && parter->encoder)
        return parter;
    dft_parter_destroy(parter);
    return NULL;
}

void dft_parter_destroy(struct dft_parter *parter)
{
    if (!parter)
        return;
    dft_matcher_destroy(parter->matcher);
    dft_merge_encoder_free(parter->encoder);
    dft_table_destroy(parter->table);
    dft_map_fini(&parter->seen);
    free(parter->groups);
    free(parter->events);
    free(parter->numbers);
    free(parter->args);
    free(parter->calls);
    free(parter);
}

void dft_parts_fini(struct dft_parts *parts)
{
    free(parts->pieces);
    free(parts->bytes);
    free(parts->names);
    memset(parts, 0, sizeof *parts);
}

static int reserve(void *array, size_t *capacity, size_t count, size_t size)
{
    size_t wanted = count + count / 2 + 64;
    void *bigger;

    if (count <= *capacity && *capacity)
        return 0;
    bigger = realloc(*(void **)array, wanted * size);
    if (!bigger)
        return -ENOMEM;
    *(void **)array = bigger;
    *capacity = wanted;
    return 0;
}

static int reserve_all(struct dft_parter *parter, const struct dft_batch *batch)
{
    size_t capacity[3] = {parter->events_capacity, parter->events_capacity, parter->events_capacity};
    int rc = reserve(&parter->events, &capacity[0], batch->count, sizeof *parter->events);

    if (!rc)
        rc = reserve(&parter->numbers, &capacity[1], batch->count, sizeof *parter->numbers);
    if (!rc)
        rc = reserve(&parter->groups, &capacity[2], batch->count, sizeof *parter->groups);
    if (!rc) {
        parter->events_capacity = capacity[0];
        rc = reserve(&parter->args, &parter->args_capacity, batch->nargs, sizeof *parter->args);
    }
    return rc ? rc : reserve(&parter->calls, &parter->calls_capacity, batch->ncalls, sizeof *parter->calls);
}

/* --- results ---------------------------------------------------------------------------------- */

static int keep_block(struct dft_parts *parts, const void *block, long bytes)
{
    int rc;

    if (bytes < 0)
        return (int)bytes;
    rc = reserve(&parts->bytes, &parts->capacity, parts->used + (size_t)bytes, 1);
    if (rc)
        return rc;
    memcpy(parts->bytes + parts->used, block, (size_t)bytes);
    parts->used += (size_t)bytes;
    return 0;
}

static int keep_name(struct dft_parter *parter, struct dft_parts *parts, uint64_t id)
{
    uint64_t *place = id ? dft_map_put(&parter->seen, id) : NULL;

    if (!id || (place && (*place)++))
        return 0;
    if (!place || reserve(&parts->names, &parts->names_capacity, parts->nnames + 1, sizeof *parts->names))
        return -ENOMEM;
    parts->names[parts->nnames++] = id;
    return 0;
}

static int keep_names(struct dft_parter *parter, struct dft_parts *parts, const struct dft_batch *batch)
{
    uint64_t file = 0, region = 0;
    int rc = 0;

    dft_map_clear(&parter->seen);
    for (uint32_t i = 0; i < batch->count && !rc; i++) {
        const struct dft_event *event = &batch->events[i];

        rc = keep_name(parter, parts, batch->calls[event->call].id);
        if (!rc && event->file != file)
            rc = keep_name(parter, parts, file = event->file);
        if (!rc && event->region != region)
            rc = keep_name(parter, parts, region = event->region);
        if (!rc)
            rc = keep_name(parter, parts, event->file2);
    }
    for (uint32_t i = 0; i < batch->nargs && !rc; i++)
        rc = keep_name(parter, parts, batch->args[i].key);
    return rc;
}

/* --- rows ------------------------------------------------------------------------------------- */

static int add_rows(struct dft_parter *parter, const struct dft_batch *batch, uint64_t interval_ns)
{
    uint32_t position = 0;

    if (!parter->table || parter->interval_ns != interval_ns) {
        dft_table_destroy(parter->table);
        parter->table = dft_table_create(interval_ns, DFT_KEEP_HISTOGRAMS);
        parter->interval_ns = interval_ns;
    }
    if (!parter->table)
        return -ENOMEM;
    dft_table_clear(parter->table);
    return dft_table_add(parter->table, batch, &position);
}

static int keep_rows(struct dft_parter *parter, const struct dft_batch *batch, uint64_t interval_ns,
                     struct dft_parts *parts)
{
    struct dft_buckets buckets = {.key = batch->key,
                                  .stream = batch->stream,
                                  .tid = batch->tid,
                                  .first = batch->first,
                                  .last = batch->last,
                                  .part = batch->part,
                                  .interval_ns = interval_ns,
                                  .calls = parter->calls};
    const void *block;
    long bytes;
    int rc = add_rows(parter, batch, interval_ns);

    if (!rc)
        rc = dft_table_rows(parter->table, &buckets.rows, &buckets.count);
    if (rc || !buckets.count)
        return rc;
    buckets.start = UINT64_MAX;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t start = batch->events[i].start_ns, end = start + batch->events[i].dur_ns;

        buckets.start = start < buckets.start ? start : buckets.start;
        buckets.end = end > buckets.end ? end : buckets.end;
    }
    dft_map_clear(&parter->seen);
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct dft_call *call = &batch->calls[batch->events[i].call];
        uint64_t *place = dft_map_put(&parter->seen, call->id);

        if (!place)
            return -ENOMEM;
        if (!(*place)++)
            parter->calls[buckets.ncalls++] = *call;
    }
    bytes = dft_encode_buckets(parter->encoder, &buckets, &block);
    return keep_block(parts, block, bytes);
}

/* --- pieces ----------------------------------------------------------------------------------- */

/* Writes a piece. A piece that is too large is halved, and each half covers a part of the range. */
static int put_piece(struct dft_parter *parter, struct dft_batch *batch, uint64_t interval_ns, struct dft_parts *parts)
{
    struct dft_batch half = *batch, rest = *batch;
    int ranged = batch->first <= batch->last;
    const void *block;
    long bytes = batch->count > DFT_BLOCK_EVENTS_MAX ? -E2BIG : dft_encode_events(parter->encoder, batch, &block);
    struct dft_parts_piece *piece = &parts->pieces[parts->npieces - 1];
    int rc;

    if (bytes != -E2BIG || batch->count < 2) {
        rc = keep_block(parts, block, bytes);
        piece->blocks++;
        if (!rc && interval_ns && ranged) {
            size_t used = parts->used;

            rc = keep_rows(parter, batch, interval_ns, parts);
            piece->blocks += parts->used > used;
        }
        return rc;
    }
    half.count = batch->count / 2;
    half.nargs = 0;
    while (half.nargs < batch->nargs && batch->args[half.nargs].event < half.count)
        half.nargs++;
    rest.events += half.count;
    rest.count -= half.count;
    rest.args += half.nargs;
    rest.nargs -= half.nargs;
    for (uint32_t i = 0; i < rest.nargs; i++)
        rest.args[i].event -= half.count;
    if (ranged) {
        uint32_t before = half.numbers[half.count - 1] + 1;

        half.last = batch->first + before - 1;
        rest.first = half.last + 1;
        rest.numbers += half.count;
        for (uint32_t i = 0; i < rest.count; i++)
            parter->numbers[rest.numbers - parter->numbers + i] -= before;
    }
    rc = put_piece(parter, &half, interval_ns, parts);
    return rc ? rc : put_piece(parter, &rest, interval_ns, parts);
}

/* Writes the events of one group. */
static int put_group(struct dft_parter *parter, const struct dft_batch *batch, uint64_t first, uint32_t group,
                     uint64_t interval_ns, struct dft_parts *parts)
{
    struct dft_batch part = *batch;
    struct dft_parts_piece *piece;
    int rc;

    part.events = parter->events;
    part.args = parter->args;
    part.numbers = batch->first <= batch->last ? parter->numbers : NULL;
    part.first = first;
    part.part = parter->division * DFT_PART_GROUPS + group;
    part.names = NULL;
    part.count = part.nargs = part.nnames = 0;
    for (uint32_t i = 0, arg = 0; i < batch->count; i++) {
        for (; arg < batch->nargs && batch->args[arg].event == i; arg++) {
            if (parter->groups[i] != group)
                continue;
            part.args[part.nargs] = batch->args[arg];
            part.args[part.nargs++].event = part.count;
        }
        if (parter->groups[i] != group)
            continue;
        part.events[part.count] = batch->events[i];
        parter->numbers[part.count++] = (uint32_t)(dft_batch_number(batch, i) - first);
    }
    rc = reserve(&parts->pieces, &parts->pieces_capacity, parts->npieces + 1, sizeof *parts->pieces);
    if (rc)
        return rc;
    piece = &parts->pieces[parts->npieces++];
    *piece = (struct dft_parts_piece){
        .group = group, .events = part.count, .from = parts->used, .names_from = parts->nnames};
    rc = keep_names(parter, parts, &part);
    if (!rc)
        rc = put_piece(parter, &part, interval_ns, parts);
    piece->bytes = parts->used - piece->from;
    piece->names = parts->nnames - piece->names_from;
    return rc;
}

int dft_parter_run(struct dft_parter *parter, const struct dft_block *block, const struct dft_batch *batch,
                   uint64_t interval_ns, struct dft_parts *parts)
{
    uint64_t first = block->state == DFT_BLOCK_OVERLAPS ? block->covered + 1 : batch->first;
    uint8_t present[DFT_RULES_MAX + 1] = {0};
    int rc = reserve_all(parter, batch);

    /* The texts of calls go with the names. */
    for (uint32_t i = 0; i < batch->ncalls; i++)
        batch->calls[i].text = (struct dft_text){0};
    for (uint32_t i = 0; i < batch->count && !rc; i++) {
        int group = dft_matcher_group(parter->matcher, &batch->calls[batch->events[i].call], &batch->events[i]);

        if (group < 0)
            rc = group;
        else
            present[parter->groups[i] = (uint8_t)group] = 1;
    }
    for (uint32_t group = 0; group < sizeof present && !rc; group++)
        if (present[group] && parter->is_mine[group])
            rc = put_group(parter, batch, first, group, interval_ns, parts);
    return rc;
}
