/* SPDX-License-Identifier: MIT */
/* Coverage, against sets of sequence numbers: which blocks count, and which answer for rows and for
 * events. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "judge/source_cover.h"
#include "object/source_inside.h"
#include "suites.h"

#define NUMBERS 48u
#define MOST    12u

static uint64_t range(uint64_t first, uint64_t last)
{
    return (UINT64_MAX >> (63 - last)) & (UINT64_MAX << first);
}

static int by_first(const void *left, const void *right)
{
    const struct dft_block *a = *(struct dft_block *const *)left, *b = *(struct dft_block *const *)right;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->last > b->last ? -1 : a->last < b->last;
}

/* What the model says of a block: the numbers that are new in it, none when it is not kept; and
 * what it answers. */
struct said {
    uint64_t numbers;
    unsigned state, use;
};

/* Blocks of one type: those that begin first, and of these the longest, are looked at first. */
static void slow_states(struct dft_block *const *sorted, uint32_t count, uint16_t type, struct said *said,
                        const struct dft_block *blocks)
{
    const struct dft_block *before = NULL;
    uint64_t taken = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct dft_block *block = sorted[i];
        uint64_t numbers = range(block->first, block->last);
        struct said *of = &said[block - blocks];

        if (block->type != type)
            continue;
        if (before && before->first == block->first && before->last == block->last) {
            of->state = DFT_BLOCK_IDENTICAL;
        } else if (!(numbers & ~taken)) {
            of->state = DFT_BLOCK_COVERED;
        } else {
            of->state = numbers & taken ? DFT_BLOCK_OVERLAPS : DFT_BLOCK_USED;
            if (of->state == DFT_BLOCK_USED || type == DFT_BLOCK_EVENTS)
                of->numbers = numbers & ~taken;
            taken |= of->numbers;
        }
        before = block;
    }
}

/* Blocks that share a number belong together, and so do those that share one with the same
 * block. */
static void slow_uses(const struct dft_block *blocks, uint32_t count, struct said *said)
{
    uint64_t done = 0;

    for (uint32_t seed = 0; seed < count; seed++) {
        uint64_t all = said[seed].numbers & ~done ? said[seed].numbers : 0, of[2] = {0}, before = 0;

        while (all != before) {
            before = all;
            for (uint32_t i = 0; i < count; i++)
                all |= said[i].numbers & all ? said[i].numbers : 0;
        }
        for (uint32_t i = 0; i < count; i++)
            of[blocks[i].type == DFT_BLOCK_BUCKETS] |= said[i].numbers & all;
        for (uint32_t i = 0; i < count; i++) {
            int is_row = blocks[i].type == DFT_BLOCK_BUCKETS, events_do = of[0] && !(of[1] & ~of[0]);
            int rows_do = of[1] && (!(of[0] & ~of[1]) || !events_do);

            if (!(said[i].numbers & all))
                continue;
            said[i].use = (of[0] && of[1] && (!is_row || events_do) ? DFT_IN_BOTH : 0u);
            said[i].use |= is_row ? (of[0] ? 0u : DFT_IN_EVENTS) : DFT_IN_EVENTS;
            said[i].use |= rows_do == is_row ? DFT_IN_ROWS : 0u;
        }
        done |= all;
    }
}

static uint32_t make_blocks(struct dft_block *blocks, int damaged)
{
    uint32_t count = 0, wanted = 1 + roll(MOST);

    for (uint32_t at = 0; count < wanted;) {
        uint32_t first = damaged ? roll(NUMBERS) : at, length = 1 + roll(8);
        uint32_t last = first + length < NUMBERS ? first + length - 1 : NUMBERS - 1, copy = roll(4);

        if (at >= NUMBERS)
            break;
        for (uint32_t kind = 0; kind < 2 && count < wanted; kind++) /* a writer's block, and its rows */
            if (copy != kind)
                blocks[count++] = (struct dft_block){.type = kind ? DFT_BLOCK_BUCKETS : DFT_BLOCK_EVENTS,
                                                     .first = first,
                                                     .last = last,
                                                     .count = last - first + 1,
                                                     .start = 10 + first,
                                                     .end = 20 + last};
        if (copy == 3 && count < wanted) { /* a file that is there twice */
            blocks[count] = blocks[count - 1];
            count++;
        }
        at = last + 1 + roll(3);
    }
    for (uint32_t i = count; i > 1; i--) { /* in any order */
        uint32_t k = roll(i);
        struct dft_block swapped = blocks[k];

        blocks[k] = blocks[i - 1];
        blocks[i - 1] = swapped;
    }
    for (uint32_t i = 0; i < count; i++)
        blocks[i].offset = 100 * i;
    return count;
}

static struct dft_source *source_of(const struct dft_block *blocks, uint32_t count)
{
    struct dft_source_options options = {.threads = 1};
    struct dft_source *source = dft_source_create(&options);

    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    source->files = calloc(1, sizeof *source->files);
    source->processes = calloc(1, sizeof *source->processes);
    source->blocks = calloc(count, sizeof *source->blocks);
    CU_ASSERT_FATAL(source->files && source->processes && source->blocks);
    source->files[0].path = strdup("trace");
    source->nfiles = source->nprocesses = 1;
    memcpy(source->blocks, blocks, count * sizeof *blocks);
    source->nblocks = count;
    return source;
}

/* One round; returns what differs from the model. */
static unsigned compare(int damaged)
{
    struct dft_block blocks[MOST], *sorted[MOST];
    struct said said[MOST] = {{0}};
    uint32_t count = make_blocks(blocks, damaged);
    struct dft_source *source = source_of(blocks, count);
    uint64_t rows = 0, events = 0, all = 0;
    unsigned differ = 0;

    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &blocks[i];
    qsort(sorted, count, sizeof *sorted, by_first);
    for (uint16_t type = 0; type < DFT_TYPES; type++)
        slow_states(sorted, count, type, said, blocks);
    slow_uses(blocks, count, said);
    CU_ASSERT_EQUAL_FATAL(dft_source_cover(source), 0);
    for (uint32_t i = 0; i < count; i++) {
        const struct dft_block *got = &source->blocks[i];

        if (said[i].state == DFT_BLOCK_IDENTICAL || got->state == DFT_BLOCK_IDENTICAL)
            continue; /* which of two copies is kept is not said here */
        differ += got->state != said[i].state || got->use != said[i].use;
    }
    for (uint32_t i = 0; i < count; i++) { /* each number once, whoever answers */
        const struct dft_block *got = &source->blocks[i];
        uint64_t first = got->state == DFT_BLOCK_OVERLAPS ? got->covered + 1 : got->first;
        uint64_t numbers = got->use ? range(first, got->last) : 0;

        differ += got->use & DFT_IN_ROWS && rows & numbers;
        differ += got->use & DFT_IN_EVENTS && events & numbers;
        rows |= got->use & DFT_IN_ROWS ? numbers : 0;
        events |= got->use & DFT_IN_EVENTS ? numbers : 0;
        all |= range(blocks[i].first, blocks[i].last);
    }
    differ += !damaged && (rows != all || events != all);
    dft_source_close(source);
    return differ;
}

static void writers(void)
{
    unsigned differ = 0;

    for (int round = 0; round < 5000; round++)
        differ += compare(0);
    CU_ASSERT_EQUAL(differ, 0);
}

static void anything(void)
{
    unsigned differ = 0;

    for (int round = 0; round < 20000; round++)
        differ += compare(1);
    CU_ASSERT_EQUAL(differ, 0);
}

/* Events 1-10 are there whole, as rows alone from 11 on; a file that was there twice, and a block
 * that reaches over another. */
static void by_hand(void)
{
    const struct dft_block blocks[] = {
        {.type = DFT_BLOCK_EVENTS, .first = 1, .last = 10, .count = 10, .start = 100, .end = 200},
        {.type = DFT_BLOCK_BUCKETS, .first = 1, .last = 10, .start = 100, .end = 200},
        {.type = DFT_BLOCK_BUCKETS, .first = 11, .last = 15, .start = 201, .end = 250},
        {.type = DFT_BLOCK_EVENTS, .first = 1, .last = 10, .count = 10, .start = 100, .end = 200, .offset = 7},
        {.type = DFT_BLOCK_EVENTS, .first = 8, .last = 12, .count = 5, .start = 180, .end = 260},
    };
    struct dft_source *source = source_of(blocks, 5);
    const struct dft_block *got = source->blocks;

    CU_ASSERT_EQUAL_FATAL(dft_source_cover(source), 0);
    CU_ASSERT(got[0].state == DFT_BLOCK_USED && got[3].state == DFT_BLOCK_IDENTICAL);
    CU_ASSERT(got[4].state == DFT_BLOCK_OVERLAPS && got[4].covered == 10);
    CU_ASSERT(got[1].use & DFT_IN_ROWS && !(got[0].use & DFT_IN_ROWS) && got[0].use & DFT_IN_EVENTS);
    CU_ASSERT(got[2].use & DFT_IN_ROWS && !(got[2].use & DFT_IN_EVENTS) && got[4].use & DFT_IN_EVENTS);
    CU_ASSERT(source->start_ns == 100 && source->end_ns == 260 && source->processes[0].events == 15);
    dft_source_close(source);
}

/* Blocks, and how many notes there are of what one kind lacks. */
static struct dft_source *covered(const struct dft_block *blocks, uint32_t count, size_t notes)
{
    struct dft_source *source = source_of(blocks, count);

    CU_ASSERT_EQUAL_FATAL(dft_source_cover(source), 0);
    CU_ASSERT_EQUAL(source->notes.count, notes);
    return source;
}

/* The names of a vfork child's files may come in a block of the parent that has no events. */
static void names_alone(void)
{
    const struct dft_block events[] = {
        {.type = DFT_BLOCK_EVENTS, .first = 1, .last = 10, .count = 10, .start = 100, .end = 200},
        {.type = DFT_BLOCK_EVENTS, .first = 11, .last = 12},
        {.type = DFT_BLOCK_EVENTS, .first = 13, .last = 20, .count = 8, .start = 201, .end = 300},
        {.type = DFT_BLOCK_EVENTS, .first = 21, .last = 22},
        {.type = DFT_BLOCK_BUCKETS, .first = 1, .last = 22, .count = 3, .start = 100, .end = 300},
    };
    const struct dft_block rows[] = {
        {.type = DFT_BLOCK_EVENTS, .first = 1, .last = 4},
        {.type = DFT_BLOCK_BUCKETS, .first = 1, .last = 9, .count = 3, .start = 100, .end = 300},
    };
    struct dft_block lacking[5];
    struct dft_source *source = covered(events, 5, 0);

    CU_ASSERT(source->blocks[4].use == (DFT_IN_ROWS | DFT_IN_BOTH));
    CU_ASSERT(source->blocks[0].use == (DFT_IN_EVENTS | DFT_IN_BOTH) && source->blocks[1].use == DFT_IN_EVENTS);
    dft_source_close(source);
    source = covered(rows, 2, 0);
    CU_ASSERT(source->blocks[0].use == DFT_IN_EVENTS && source->blocks[1].use == (DFT_IN_ROWS | DFT_IN_EVENTS));
    dft_source_close(source);
    memcpy(lacking, events, sizeof lacking);
    lacking[4].last = 23; /* an event that no block has */
    dft_source_close(covered(lacking, 5, 1));
    memcpy(lacking, events, sizeof lacking);
    lacking[3].first = 22; /* and one before the names */
    dft_source_close(covered(lacking, 5, 1));
}

int suite_cover(void)
{
    CU_TestInfo tests[] = {{"by hand", by_hand},
                           {"blocks of names alone", names_alone},
                           {"what writers make", writers},
                           {"any ranges", anything},
                           CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"coverage", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
