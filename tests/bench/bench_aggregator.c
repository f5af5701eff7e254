/* SPDX-License-Identifier: MIT */
/* Times the aggregator alone: events into a fixed table as a drain does it, and rows into a growing
 * one as the tools do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggregator/aggregate.h"
#include "format/event.h"
#include "format/ops.h"

#define BATCH_EVENTS 4096u
#define BATCHES      200
#define CALLS        6u
#define TABLE_ROWS   4096u
#define BLOCK_ROWS   1024u
#define ROWS         (4u << 20)

static uint64_t bench_random(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static double bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void bench_fill(struct dft_event *events, uint32_t calls, uint32_t regions, uint64_t *now_ns)
{
    for (uint32_t i = 0; i < BATCH_EVENTS; i++) {
        uint64_t dur = 400 + bench_random() % 64 * (bench_random() % 32);

        events[i] = (struct dft_event){
            .start_ns = *now_ns,
            .dur_ns = dur,
            .file = (bench_random() % 100 + 1) * UINT64_C(0x9e3779b97f4a7c15),
            .region = bench_random() % regions * UINT64_C(0xff51afd7ed558ccd),
            .result = 4096,
            .offset = (int64_t)(bench_random() % 1000) * 4096,
            .call = (uint32_t)(bench_random() % calls),
            .calls = 1,
            .unit = 1,
        };
        *now_ns += dur + 300 + bench_random() % 1000;
    }
}

/* The best of many batches: what the code costs when nothing disturbs it. */
static int bench_add(const char *title, uint32_t calls, uint32_t regions, unsigned keep)
{
    static const uint8_t ops[CALLS] = {DFT_OP_READ, DFT_OP_WRITE, DFT_OP_OPEN, DFT_OP_CLOSE, DFT_OP_SEEK, DFT_OP_STAT};
    static struct dft_event events[BATCH_EVENTS];
    struct dft_call kinds[CALLS];
    struct dft_batch batch = {.events = events, .count = BATCH_EVENTS, .calls = kinds, .ncalls = CALLS};
    void *memory = aligned_alloc(64, dft_table_bytes(TABLE_ROWS));
    uint64_t now_ns = UINT64_C(1700000000000000000);
    double add_ns = 1e18, flush_ns = 1e18;
    struct dft_table *table;
    uint32_t rows = 0;

    if (!memory)
        return 1;
    memset(memory, 0, dft_table_bytes(TABLE_ROWS));
    table = dft_table_init(memory, TABLE_ROWS, 1000000000, keep);
    for (uint32_t i = 0; i < CALLS; i++)
        kinds[i] = (struct dft_call){.id = bench_random(), .op = ops[i], .io = (uint8_t)dft_op_io(ops[i])};
    for (int i = 0; i < BATCHES; i++) {
        uint32_t position = 0;
        struct dft_row *list;
        double start, middle, end;

        bench_fill(events, calls, regions, &now_ns);
        start = bench_now_ns();
        if (dft_table_add(table, &batch, &position))
            return 1;
        middle = bench_now_ns();
        dft_table_rows(table, &list, &rows);
        dft_table_clear(table);
        end = bench_now_ns();
        add_ns = middle - start < add_ns ? middle - start : add_ns;
        flush_ns = end - middle < flush_ns ? end - middle : flush_ns;
    }
    printf("%-44s %6.1f ns an event to add, %5.2f to flush (%u rows)\n", title, add_ns / BATCH_EVENTS,
           flush_ns / BATCH_EVENTS, rows);
    free(memory);
    return 0;
}

/* Merges `count` rows, the n-th of subject n or of a chance one of `distinct`; a block at a time,
 * as decoding gives them. Returns ns, 0 on failure. */
static double bench_blocks(struct dft_table *table, uint32_t count, uint32_t distinct, int by_chance)
{
    static struct dft_row block[BLOCK_ROWS];
    double merge_ns = 0;

    for (uint32_t at = 0; at < count; at += BLOCK_ROWS) {
        uint32_t position = 0;
        double start;

        for (uint32_t i = 0; i < BLOCK_ROWS; i++) {
            uint64_t number = by_chance ? bench_random() % distinct : at + i;

            block[i] = (struct dft_row){.kind = DFT_ROW_CALL, .subject = number * UINT64_C(0x9e3779b97f4a7c15)};
            dft_metrics_clear(&block[i].metrics);
            block[i].metrics.count = block[i].metrics.samples = 1;
            block[i].metrics.dur_sum = at + i;
            if (i % 2) /* moves data */
                block[i].metrics.data = block[i].metrics.bytes = 1;
        }
        start = bench_now_ns();
        if (dft_table_merge_rows(table, block, BLOCK_ROWS, &position))
            return 0;
        merge_ns += bench_now_ns() - start;
    }
    return merge_ns;
}

static int bench_merge(uint32_t distinct)
{
    struct dft_table *table = dft_table_create(1000000000, 0);
    double new_ns, merge_ns, start, end;
    struct dft_row *list;
    uint32_t rows;

    if (!table)
        return 1;
    new_ns = bench_blocks(table, distinct, distinct, 0);
    merge_ns = bench_blocks(table, ROWS, distinct, 1);
    start = bench_now_ns();
    if (!new_ns || !merge_ns || dft_table_rows(table, &list, &rows))
        return 1;
    end = bench_now_ns();
    printf("rows merged into %8u %24.1f million a second, %.1f when new; %5.0f ns a row to sort\n", rows,
           ROWS / merge_ns * 1e3, rows / new_ns * 1e3, (end - start) / rows);
    dft_table_destroy(table);
    return 0;
}

int main(void)
{
    return bench_add("one call, histograms", 1, 1, DFT_KEEP_HISTOGRAMS) ||
           bench_add("six calls, histograms", CALLS, 1, DFT_KEEP_HISTOGRAMS) ||
           bench_add("six calls in four regions, histograms", CALLS, 4, DFT_KEEP_HISTOGRAMS) ||
           bench_add("the same, and rows of 100 files", CALLS, 4, DFT_KEEP_HISTOGRAMS | DFT_KEEP_FILES) ||
           bench_merge(1u << 10) || bench_merge(1u << 15) || bench_merge(1u << 20);
}
