/* SPDX-License-Identifier: MIT */
/* Parts: a part is a block that holds those events of a range that belong to one group. The rules
 * stand in source.h. */
#include "judge/source_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object/source_inside.h"
#include "object/source_notes.h"

/* --- groups ----------------------------------------------------------------------------------- */

/* Counts the different groups of a division that are here. *groups: the groups that the division
 * has. */
static uint32_t count_groups(const struct dft_source *source, uint32_t division, uint32_t *groups)
{
    uint8_t seen[DFT_PART_GROUPS] = {0};
    uint32_t count = 0;

    *groups = 0;
    for (size_t i = 0; i < source->ngroups; i++) {
        const struct dft_group_record *record = &source->groups[i].record;

        if (DFT_PART_DIVISION(record->part) != division)
            continue;
        count += !seen[DFT_PART_GROUP(record->part)]++;
        *groups = record->groups > *groups ? record->groups : *groups;
    }
    return count;
}

static int is_whole(const struct dft_source *source, uint32_t division)
{
    uint32_t groups, count = count_groups(source, division, &groups);

    return count && count == groups;
}

/* --- ranges ----------------------------------------------------------------------------------- */

enum meeting { MEETS_NOTHING, LIES_WITHIN, MEETS_IN_PART };

/* Sorts the ranges that were taken and joins ranges that touch. */
static void join_spans(struct dft_covering *covering)
{
    struct dft_span *spans = covering->spans;
    size_t n = 0;

    if (covering->nspans)
        qsort(spans, covering->nspans, sizeof *spans, dft_span_by_first);
    for (size_t i = 0; i < covering->nspans; i++) {
        if (n && (spans[n - 1].last == UINT64_MAX || spans[i].first <= spans[n - 1].last + 1))
            spans[n - 1].last = spans[i].last > spans[n - 1].last ? spans[i].last : spans[n - 1].last;
        else
            spans[n++] = spans[i];
    }
    covering->nspans = n;
}

static enum meeting meet(const struct dft_span *spans, size_t count, uint64_t first, uint64_t last)
{
    size_t low = 0, high = count;

    while (low < high) { /* the first span that does not end before the range */
        size_t middle = low + (high - low) / 2;

        if (spans[middle].last < first)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || spans[low].first > last)
        return MEETS_NOTHING;
    return spans[low].first <= first && spans[low].last >= last ? LIES_WITHIN : MEETS_IN_PART;
}

/* --- divisions -------------------------------------------------------------------------------- */

struct division {
    struct dft_block **blocks;
    size_t count;
    uint64_t events;
    uint32_t number;
    int whole;
};

/* Puts the division with most events first. */
static int by_events(const void *left, const void *right)
{
    const struct division *a = left, *b = right;

    if (a->whole != b->whole)
        return a->whole ? -1 : 1;
    if (a->events != b->events)
        return a->events > b->events ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static size_t find_divisions(const struct dft_source *source, struct dft_block **blocks, size_t count,
                             struct division *divisions)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t number = DFT_PART_DIVISION(blocks[i]->part);

        if (!n || divisions[n - 1].number != number)
            divisions[n++] =
                (struct division){.blocks = blocks + i, .number = number, .whole = is_whole(source, number)};
        divisions[n - 1].count++;
        if (blocks[i]->type == DFT_BLOCK_EVENTS)
            divisions[n - 1].events += blocks[i]->count;
    }
    if (n)
        qsort(divisions, n, sizeof *divisions, by_events);
    return n;
}

static int is_ranged(const struct dft_block *block)
{
    return block->first <= block->last && (block->count || block->type == DFT_BLOCK_BUCKETS);
}

/* Leaves out what other divisions have said. `in_flight`: they have said what was in flight.
 * `sure`: they are complete, so that nothing can be missing. */
static void leave_out(struct dft_covering *covering, const struct division *division, int in_flight, int sure)
{
    for (size_t i = 0; i < division->count; i++) {
        struct dft_block *block = division->blocks[i];
        const char *path = covering->source->files[block->file].path;
        enum meeting meeting;

        if (block->state == DFT_BLOCK_UNKNOWN)
            continue;
        if (!is_ranged(block)) {
            block->state = in_flight ? DFT_BLOCK_COVERED : block->state;
            continue;
        }
        meeting = meet(covering->spans, covering->nspans, block->first, block->last);
        if (meeting == MEETS_NOTHING)
            continue;
        block->state = DFT_BLOCK_COVERED;
        if (meeting == MEETS_IN_PART)
            dft_source_note(covering->source, 1,
                            "%s: block at %llu: other files hold a part of its range; left out, so that nothing "
                            "counts twice",
                            path, (unsigned long long)block->offset);
        else if (!sure)
            dft_source_note(covering->source, 1,
                            "%s: the same events were organised into other groups in other files, of which some are "
                            "not here; left out, so that nothing counts twice",
                            path);
    }
}

static int has_in_flight(const struct division *division)
{
    for (size_t i = 0; i < division->count; i++)
        if (division->blocks[i]->state == DFT_BLOCK_USED && division->blocks[i]->type == DFT_BLOCK_EVENTS &&
            !is_ranged(division->blocks[i]))
            return 1;
    return 0;
}

static void cover_division(struct dft_covering *covering, const struct division *division)
{
    for (size_t from = 0, to; from < division->count; from = to) {
        for (to = from + 1; to < division->count && division->blocks[to]->part == division->blocks[from]->part;)
            to++;
        dft_cover_part(covering, division->blocks + from, to - from);
    }
}

void dft_cover_parts(struct dft_covering *covering, struct dft_block **blocks, size_t count, int in_flight)
{
    struct division *divisions = malloc((count + 1) * sizeof *divisions);
    size_t n;
    int sure = 1;

    if (!divisions) {
        covering->rc = -ENOMEM;
        return;
    }
    n = find_divisions(covering->source, blocks, count, divisions);
    for (size_t i = 0; i < n; i++) {
        join_spans(covering);
        leave_out(covering, &divisions[i], in_flight, sure);
        cover_division(covering, &divisions[i]);
        in_flight |= has_in_flight(&divisions[i]);
        sure &= divisions[i].whole;
    }
    free(divisions);
}

/* --- notes ------------------------------------------------------------------------------------ */

/* Are blocks of the division used, or has the division no blocks? */
static int is_asked(const struct dft_source *source, uint32_t division)
{
    size_t blocks = 0, used = 0;

    for (size_t i = 0; i < source->nblocks; i++) {
        if (DFT_PART_DIVISION(source->blocks[i].part) != division)
            continue;
        blocks++;
        used += source->blocks[i].state == DFT_BLOCK_USED || source->blocks[i].state == DFT_BLOCK_OVERLAPS;
    }
    return used || !blocks;
}

static void mark_processes(struct dft_source *source, uint32_t division)
{
    for (size_t i = 0; i < source->nblocks; i++)
        if (DFT_PART_DIVISION(source->blocks[i].part) == division)
            source->processes[source->blocks[i].process].parts = 1;
    /* other groups may have all events of the process */
    for (uint32_t p = 0; p < source->nprocesses; p++)
        source->processes[p].parts |= !source->processes[p].events && !source->processes[p].rows_only;
}

void dft_groups_notes(struct dft_source *source)
{
    for (size_t i = 0; i < source->ngroups; i++) {
        const struct dft_found_group *group = &source->groups[i];
        uint32_t groups, division = DFT_PART_DIVISION(group->record.part),
                         count = count_groups(source, division, &groups);

        if (count == groups || !is_asked(source, division))
            continue;
        mark_processes(source, division);
        dft_source_note(source, 0, "%s: only the group %.*s of the events, one of %u (%u %s here)",
                        source->files[group->file].path, (int)group->record.name.length, group->record.name.bytes,
                        groups, count, count == 1 ? "is" : "are");
    }
}
