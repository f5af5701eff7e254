/* SPDX-License-Identifier: MIT */
/* The room sweep against slow models: levels and unions of intervals in windows of any width, and the order of ends. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"
#include "sweep/cover.h"
#include "sweep/ends.h"
#include "sweep/levels.h"

#define TIME  400u /* of the model, in which each instant is looked at */
#define CALLS 60u
#define PARTS (TIME + 1)

struct seen {
    uint64_t width;
    uint64_t busy[PARTS], most[PARTS];
};

static void see_level(void *context, uint64_t part, size_t level)
{
    struct seen *seen = context;

    if (part < PARTS && level > seen->most[part])
        seen->most[part] = level;
}

static void see_busy(void *context, uint64_t from, uint64_t to)
{
    struct seen *seen = context;

    for (uint64_t t = from; t < to; t++)
        seen->busy[seen->width ? t / seen->width : 0]++;
}

static int ascending(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* Each instant by itself: how many intervals hold it. */
static void model(struct seen *seen, const uint64_t calls[][2], unsigned count)
{
    for (uint64_t t = 0; t < TIME; t++) {
        uint64_t part = seen->width ? t / seen->width : 0, level = 0;

        for (unsigned i = 0; i < count; i++)
            level += calls[i][0] <= t && t < calls[i][1];
        seen->busy[part] += level != 0;
        seen->most[part] = level > seen->most[part] ? level : seen->most[part];
    }
}

static void levels_are_those_of_each_instant(void)
{
    for (unsigned turn = 0; turn < 400; turn++) {
        uint64_t calls[CALLS][2], starts[2 * CALLS], ends[2 * CALLS], scratch[2 * CALLS];
        unsigned count = 1 + roll(CALLS), from = 0;
        struct seen seen = {.width = roll(3) ? 1 + roll(TIME) : 0}, expected = {.width = seen.width};
        struct dft_levels levels = {0};
        struct dft_levels_visit visit = {
            .width_ns = seen.width, .walk_most = UINT32_MAX, .level = see_level, .busy = see_busy, .context = &seen};

        for (unsigned i = 0; i < count; i++) {
            calls[i][0] = roll(TIME - 1);
            calls[i][1] = calls[i][0] + 1 + roll(roll(4) ? 9 : TIME - 1 - (uint32_t)calls[i][0]);
            calls[i][1] = calls[i][1] < TIME ? calls[i][1] : TIME;
        }
        qsort(calls, count, sizeof *calls, ascending);
        while (from < count) { /* windows, each behind the one before; within one in any order */
            unsigned more = 1 + roll(count - from);

            for (unsigned i = 0; i < more; i++) {
                starts[i] = calls[from + more - 1 - i][0];
                ends[i] = calls[from + more - 1 - i][1];
            }
            CU_ASSERT_EQUAL_FATAL(dft_levels_sweep(&levels, &visit, starts, ends, more, scratch), 0);
            from += more;
        }
        dft_levels_finish(&levels, &visit);
        free(levels.ends);
        model(&expected, calls, count);
        CU_ASSERT(!memcmp(seen.busy, expected.busy, sizeof seen.busy));
        CU_ASSERT(!memcmp(seen.most, expected.most, sizeof seen.most));
    }
}

static void ends_come_in_order_and_cover_their_union(void)
{
    for (unsigned turn = 0; turn < 400; turn++) {
        struct dft_sweep_ends ends = {0};
        struct dft_cover cover = {0};
        uint64_t calls[CALLS][2], sum = 0, now = 0;
        unsigned count = 1 + roll(CALLS);

        for (unsigned i = 0; i < count; i++) {
            calls[i][0] = roll(TIME);
            calls[i][1] = calls[i][0] + roll(TIME - (uint32_t)calls[i][0]);
        }
        qsort(calls, count, sizeof *calls, ascending);
        for (unsigned i = 0; i <= count; i++) {
            uint64_t start = i < count ? calls[i][0] : TIME;

            while (ends.count && ends.list[0].time <= start) {
                CU_ASSERT(ends.list[0].time >= now);
                now = ends.list[0].time;
                if (calls[ends.list[0].what][1] > now) { /* it goes on longer than was said */
                    dft_ends_replace(&ends, (struct dft_sweep_end){calls[ends.list[0].what][1], ends.list[0].what});
                    continue;
                }
                dft_cover_change(&cover, -1, now);
                dft_ends_pop(&ends);
            }
            if (i == count)
                break;
            now = start;
            dft_cover_change(&cover, 1, now);
            CU_ASSERT_EQUAL_FATAL(
                dft_ends_push(&ends, (struct dft_sweep_end){start + (calls[i][1] - start) / (1 + roll(2)), i}), 0);
        }
        CU_ASSERT_EQUAL(ends.count, 0);
        free(ends.list);
        for (uint64_t t = 0; t < TIME; t++) {
            int holds = 0;

            for (unsigned i = 0; i < count && !holds; i++)
                holds = calls[i][0] <= t && t < calls[i][1];
            sum += (uint64_t)holds;
        }
        CU_ASSERT_EQUAL(dft_cover_sum(&cover, TIME), sum);
    }
}

int suite_sweep(void)
{
    CU_TestInfo tests[] = {{"levels are those of each instant", levels_are_those_of_each_instant},
                           {"ends come in order, and cover their union", ends_come_in_order_and_cover_their_union},
                           CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"sweep", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
