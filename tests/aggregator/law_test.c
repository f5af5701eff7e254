/* SPDX-License-Identifier: MIT */
/* The law: any split of a set of events over tables, merged in any order and shape, through the
 * file format or not, gives the same rows, and those of the slow and obvious model. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "suites.h"
#include "format/block.h"
#include "format/decode.h"
#include "format/encode.h"

#define EVENTS_MAX 400u
#define PARTS_MAX  6u

struct law {
    struct random_state random;
    uint64_t seed, interval_ns;
    unsigned keep;
    struct dft_event events[EVENTS_MAX];
    uint32_t count;
    struct dft_encoder *encoder; /* NULL: rows are merged as they are */
    struct dft_decoder *decoder;
};

static void law_fail(const struct law *law, const char *where, const char *what)
{
    fprintf(stderr, "%s: seed %llu, %u events, interval %llu, keep %u: %s\n", where, (unsigned long long)law->seed,
            law->count, (unsigned long long)law->interval_ns, law->keep, what);
    CU_FAIL_FATAL("the law is broken");
}

static void law_random_events(struct law *law)
{
    static const uint64_t bases[] = {0, UINT64_C(1700000000000000000), UINT64_MAX - 1000000};
    static const uint64_t intervals[] = {1000, 1000000, 777, 40};
    struct model_times times = {.base_ns = bases[random_below(&law->random, 3)]};

    law->interval_ns = intervals[random_below(&law->random, 4)];
    times.spread_ns = law->interval_ns * (1 + random_below(&law->random, 200));
    times.dur_ns = law->interval_ns / 3 + 1;
    times.long_ns = law->interval_ns * (1 + random_below(&law->random, 150));
    if (random_below(&law->random, 2)) {
        times.calls = 1 + (uint32_t)random_below(&law->random, 2);
        times.regions = 1;
    }
    law->keep = (unsigned)random_below(&law->random, 8);
    law->count = 1 + (uint32_t)random_below(&law->random, EVENTS_MAX);
    for (uint32_t i = 0; i < law->count; i++) {
        model_random_event(&law->random, &times, &law->events[i]);
        if (law->events[i].start_ns < times.base_ns)
            law->events[i].start_ns = UINT64_MAX;
    }
}

static void law_shuffle(struct law *law)
{
    for (uint32_t i = law->count; i > 1; i--) {
        uint32_t j = (uint32_t)random_below(&law->random, i);
        struct dft_event swap = law->events[i - 1];

        law->events[i - 1] = law->events[j];
        law->events[j] = swap;
    }
}

/* The calls that the rows refer to, as the tracer would give them with a block. */
static uint32_t law_calls_of(const struct dft_row *rows, uint32_t count, struct dft_call *calls)
{
    uint32_t n = 0;

    for (uint32_t c = 0; c < MODEL_CALLS; c++) {
        int used = 0;

        for (uint32_t i = 0; i < count; i++)
            used |= rows[i].kind != DFT_ROW_FILE && rows[i].subject == model_calls[c].id;
        if (used)
            calls[n++] = model_calls[c];
    }
    return n;
}

/* Rows to a block and back. What comes back is valid until the next time. */
static void law_through_a_block(struct law *law, struct dft_row **rows, uint32_t *count)
{
    struct dft_call calls[MODEL_CALLS];
    struct dft_buckets buckets = {
        .key = 1, .stream = 2, .tid = 3, .first = 4, .last = 5, .interval_ns = law->interval_ns};
    struct dft_buckets decoded;
    struct dft_block_header header;
    struct dft_skipped skipped = {0};
    size_t offset = 0, found;
    const void *block;
    const char *why = "no block found";
    long length;

    buckets.rows = *rows;
    buckets.count = *count;
    buckets.calls = calls;
    buckets.ncalls = law_calls_of(*rows, *count, calls);
    length = dft_encode_buckets(law->encoder, &buckets, &block);
    if (length <= 0)
        law_fail(law, "encode", "refused");
    if (dft_block_next(block, (size_t)length, &offset, &header, &found, &skipped) != 1 ||
        dft_decode_buckets(law->decoder, &header, (const char *)block + found + sizeof(header), &decoded, &why))
        law_fail(law, "decode", why);
    if (decoded.interval_ns != law->interval_ns)
        law_fail(law, "decode", "another interval");
    why = model_difference(*rows, *count, decoded.rows, decoded.count, 0);
    if (why)
        law_fail(law, "a row comes back different", why);
    *rows = decoded.rows;
    *count = decoded.count;
}

static void law_merge_into(struct law *law, struct dft_table *part, struct dft_table *into)
{
    struct dft_row *rows;
    uint32_t count, position = 0;

    if (law->encoder ? dft_table_rows(part, &rows, &count) : dft_table_rows_unsorted(part, &rows, &count))
        law_fail(law, "rows", "no memory");
    if (!count)
        return;
    if (law->encoder)
        law_through_a_block(law, &rows, &count);
    if (random_below(&law->random, 2)) {
        if (dft_table_merge_rows(into, rows, count, &position) || position != count)
            law_fail(law, "merge of many", "refused");
        return;
    }
    for (uint32_t i = count; i > 0; i--)
        if (dft_table_merge(into, &rows[i - 1]))
            law_fail(law, "merge", "refused");
}

/* Adds events through a small fixed table that is flushed whenever it is full, and now and then for
 * no reason. */
static void law_add_fixed(struct law *law, const struct dft_event *events, uint32_t count, struct dft_table *into)
{
    uint32_t capacity = 16 + (uint32_t)random_below(&law->random, 60), position = 0;
    void *memory = aligned_alloc(64, dft_table_bytes(capacity));
    struct dft_table *table;

    if (!memory)
        abort();
    memset(memory, 0, dft_table_bytes(capacity));
    table = dft_table_init(memory, capacity, law->interval_ns, law->keep);
    while (position < count) {
        uint32_t upto = position + 1 + (uint32_t)random_below(&law->random, count - position);
        struct dft_batch batch = {
            .events = (struct dft_event *)events, .count = upto, .calls = model_calls, .ncalls = MODEL_CALLS};
        uint32_t before = position;
        int rc = dft_table_add(table, &batch, &position);

        if (rc == -ENOSPC ? position == before && dft_table_count(table) == 0 : rc != 0)
            law_fail(law, "add to a fixed table", "an event does not go into an empty table");
        if (rc == -ENOSPC || random_below(&law->random, 3) == 0) {
            law_merge_into(law, table, into);
            dft_table_clear(table);
        }
    }
    law_merge_into(law, table, into);
    free(memory);
}

/* The events in an order in which those of some calls follow each other, as those who group them
 * have them, or any other; all but one that is left for dft_table_add, since an order need not name
 * all. */
static int law_add_ordered(struct law *law, struct dft_table *table, struct dft_batch *batch)
{
    uint32_t count = batch->count, n = 0, last = count ? count - 1 : 0, position = last, *order;
    int rc;

    order = malloc((count + 1u) * sizeof *order);
    if (!order)
        abort();
    for (uint32_t call = 0; call < MODEL_CALLS; call++)
        for (uint32_t i = 0; i < last; i++)
            if (batch->events[i].call == call)
                order[n++] = i;
    for (uint32_t i = 0; i < last; i++) /* of calls that are not there: passed over */
        if (batch->events[i].call >= MODEL_CALLS)
            order[n++] = i;
    for (uint32_t swaps = random_below(&law->random, 2) ? 0 : n; swaps > 0; swaps--) {
        uint32_t i = (uint32_t)random_below(&law->random, n), j = (uint32_t)random_below(&law->random, n);
        uint32_t swap = order[i];

        order[i] = order[j];
        order[j] = swap;
    }
    rc = n == last ? dft_table_add_ordered(table, batch, order, n) : -1;
    free(order);
    return rc ? rc : dft_table_add(table, batch, &position);
}

static void law_add_growing(struct law *law, const struct dft_event *events, uint32_t count, struct dft_table *into)
{
    struct dft_table *table = dft_table_create(law->interval_ns, law->keep);
    struct dft_batch batch = {
        .events = (struct dft_event *)events, .count = count, .calls = model_calls, .ncalls = MODEL_CALLS};
    uint32_t position = 0;

    if (!table ||
        (random_below(&law->random, 2) ? law_add_ordered(law, table, &batch) : dft_table_add(table, &batch, &position)))
        law_fail(law, "add to a growing table", "refused");
    law_merge_into(law, table, into);
    dft_table_destroy(table);
}

/* Deals the events out to parts, each to a table of its own kind, and merges the tables in a random
 * tree. */
static struct dft_table *law_split(struct law *law)
{
    struct dft_table *parts[PARTS_MAX];
    uint32_t nparts = 1 + (uint32_t)random_below(&law->random, PARTS_MAX), done = 0;

    law_shuffle(law);
    for (uint32_t p = 0; p < nparts; p++) {
        uint32_t share =
            p + 1 == nparts ? law->count - done : (uint32_t)random_below(&law->random, law->count - done + 1);

        parts[p] = dft_table_create(law->interval_ns, 0);
        if (!parts[p])
            abort();
        if (random_below(&law->random, 2))
            law_add_fixed(law, law->events + done, share, parts[p]);
        else
            law_add_growing(law, law->events + done, share, parts[p]);
        done += share;
    }
    while (nparts > 1) {
        uint32_t from = (uint32_t)random_below(&law->random, nparts),
                 into = (uint32_t)random_below(&law->random, nparts);

        if (from == into)
            continue;
        law_merge_into(law, parts[from], parts[into]);
        dft_table_destroy(parts[from]);
        parts[from] = parts[--nparts];
    }
    return parts[0];
}

static void law_compare(struct law *law, struct dft_table *table)
{
    struct model model = {.interval_ns = law->interval_ns, .keep = law->keep};
    struct dft_row *rows, *expected;
    const char *why;
    uint32_t count;

    model_add(&model, law->events, law->count);
    expected = model_rows(&model);
    if (dft_table_rows(table, &rows, &count))
        law_fail(law, "rows", "no memory");
    why = model_difference(expected, model.count, rows, count, 0);
    if (why)
        law_fail(law, "model and table", why);
    model_free_rows(&model, expected);
    model_free(&model);
}

static void law_run(struct law *law, uint64_t first_seed, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        law->seed = first_seed + round;
        law->random.state = law->seed * UINT64_C(0x9e3779b97f4a7c15);
        law_random_events(law);
        for (unsigned split = 0; split < 3; split++) {
            struct dft_table *table = law_split(law);

            law_compare(law, table);
            dft_table_destroy(table);
        }
    }
}

static void test_law_in_memory(void)
{
    static struct law law;

    law_run(&law, 1, 120);
}

static void test_law_through_blocks(void)
{
    static struct law law;
    void *memory = aligned_alloc(64, (dft_encoder_bytes() + 63) & ~(size_t)63);

    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    memset(memory, 0, dft_encoder_bytes());
    law.encoder = dft_encoder_init(memory);
    law.decoder = dft_decoder_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(law.decoder);
    law_run(&law, 100000, 60);
    dft_decoder_destroy(law.decoder);
    free(memory);
}

int suite_law(void)
{
    CU_TestInfo tests[] = {
        {"any split, in memory", test_law_in_memory},
        {"any split, through blocks of the file", test_law_through_blocks},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"law", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
