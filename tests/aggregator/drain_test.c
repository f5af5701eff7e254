/* SPDX-License-Identifier: MIT */
/* A drain takes records into columns and rows in one pass, with short ways for those that are alike.
 * Nobody can tell from what it writes: rings of records that are alike, and of all that breaks this,
 * are drained, and decoded one by one; events and rows are the same. Blocks of rows cover whole
 * blocks of events. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/block.h"
#include "format/calls.h"
#include "format/decode.h"
#include "format/hash.h"
#include "model.h"
#include "settings/config.h"
#include "os/self.h"
#include "store/drain_events.h"
#include "store/staging.h"
#include "suites.h"

#define SLOTS_MAX 2048u
#define ROUNDS    400u
#define INTERVAL  50000u

/* What a drain reads of the process, and where its blocks go. */
struct dft_config dft_config;

static struct {
    char *bytes;
    size_t used;
    uint64_t events; /* that were said to be in them */
} file;

void dft_staging_put(struct dft_context *context, const void *block, long length, uint32_t events)
{
    (void)context;
    CU_ASSERT_FATAL(length > 0);
    file.bytes = realloc(file.bytes, file.used + (size_t)length);
    CU_ASSERT_FATAL(file.bytes != NULL);
    memcpy(file.bytes + file.used, block, (size_t)length);
    file.used += (size_t)length;
    file.events += events;
}

static struct random_state random_state;

static uint64_t below(uint64_t n)
{
    return random_below(&random_state, n);
}

static void *memory(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CU_ASSERT_FATAL(at != MAP_FAILED);
    return at;
}

void dft_staging_flush(struct dft_context *context)
{
    (void)context; /* nothing waits */
}

/* --- rings ------------------------------------------------------------------------------------ */

static const uint16_t calls[] = {DFT_CALL_pread, DFT_CALL_read,  DFT_CALL_write, DFT_CALL_fread,
                                 DFT_CALL_lseek, DFT_CALL_fstat, DFT_CALL_open,  DFT_CALL_close,
                                 DFT_CALL_mkdir, DFT_CALL_exit,  DFT_CALL_fsync, DFT_CALL_ANNOTATION + DFT_OP_REGION,
                                 DFT_CALL_fgets, DFT_CALL_execv, DFT_CALL_fork,  DFT_CALL_ANNOTATION + DFT_OP_COUNTER};

static void any_slot(struct dft_slot *slot)
{
    uint64_t size = below(3) ? 4096 : below(UINT32_MAX);

    slot->call = calls[below(sizeof calls / sizeof *calls)];
    if (slot->call < DFT_CALL_COUNT && below(3) == 0)
        slot->call |= (uint16_t)(below(DFT_IO_COUNT + 1) << DFT_SLOT_IO_SHIFT);
    if (below(3) == 0)
        slot->call |= DFT_SLOT_TURN;
    slot->size = (uint32_t)size;
    slot->bits = (uint8_t)(below(6) ? below(4) : below(256));
    slot->file = model_files[below(MODEL_FILES)];
    slot->result = below(5) ? (int64_t)size : (int64_t)below(3) - 1;
    if (slot->bits & DFT_SLOT_UNIT)
        slot->result = (int64_t)(below(100) | (1 + below(9)) << 32);
    slot->offset = below(3) ? (int64_t)(below(9) * 4096) : below(4) ? -1 : (int64_t)random_next(&random_state);
    slot->region = model_regions[below(MODEL_REGIONS)];
    slot->fd = (int32_t)below(5) - 1;
    slot->err = below(8) ? 0 : (uint16_t)below(4);
    slot->depth = (uint16_t)below(3);
}

/* One thing changes: whatever it is, the repeat is over. */
static void change(struct dft_slot *slot)
{
    struct dft_slot other;

    any_slot(&other);
    switch (below(13)) {
    case 11:
        slot->call ^= DFT_SLOT_TURN;
        break;
    case 0:
        slot->size ^= 1;
        break;
    case 1:
        slot->call = other.call;
        break;
    case 2:
        slot->bits ^= (uint8_t)(1u << below(8));
        break;
    case 3:
        slot->file = other.file;
        break;
    case 4:
        slot->result = other.result;
        break;
    case 5:
        slot->offset = other.offset;
        break;
    case 6:
        slot->region = other.region;
        break;
    case 7:
        slot->fd ^= 1;
        break;
    case 8:
        slot->err ^= 2;
        break;
    case 9:
        slot->depth ^= 1;
        break;
    case 10:
        slot->start -= below(300); /* before the last one's end */
        break;
    default:
        slot->duration = (uint32_t)random_next(&random_state);
        slot->start += below(2) << (32 + below(12));
    }
}

static int64_t bytes_of(const struct dft_slot *slot)
{
    uint32_t call = slot->call & DFT_SLOT_CALL_MASK;
    uint8_t op = call < DFT_CALL_COUNT ? dft_call_rows[call].op : (uint8_t)(call - DFT_CALL_ANNOTATION);
    struct dft_event event = {.result = slot->result, .unit = 1};

    if (slot->bits & DFT_SLOT_UNIT) {
        event.result = slot->result & UINT32_MAX;
        event.unit = (uint32_t)(slot->result >> 32);
    }
    return (int64_t)dft_event_bytes(&event, op);
}

/* The record behind `last`: mostly of its repeat. */
static void next_slot(struct dft_slot *slot, const struct dft_slot *last)
{
    memcpy(slot, last, sizeof *slot);
    slot->slots = 1;
    slot->duration = (uint32_t)below(below(2) ? 500 : 3);
    slot->start = last->start + last->duration + below(below(2) ? 200 : 3);
    if (slot->offset != -1)
        slot->offset = (int64_t)((uint64_t)slot->offset + (uint64_t)bytes_of(slot));
    if (below(30) == 0)
        any_slot(slot);
    else if (below(15) == 0)
        change(slot);
}

/* A record of two slots, with its size in the second. */
static void put_part(struct dft_slot *slot, struct dft_slot_part *part, uint32_t marker)
{
    uint64_t size = below(1000);

    slot->slots = 2;
    atomic_store(&part->marker, marker);
    part->part = 1;
    part->used = 9;
    part->payload[0] = DFT_ITEM_SIZE;
    memcpy(part->payload + 1, &size, 8);
}

/* The definition of a name, in as many slots as it takes. Returns their number, 0: there is no room. */
static uint32_t put_name(struct dft_ring *ring, uint64_t at, uint64_t head)
{
    uint32_t length = 12 + (uint32_t)below(below(2) ? 60 : 300), slots = 1 + (5 + length + 55) / DFT_PART_BYTES;
    struct dft_slot *slot = dft_ring_slot(ring, at);
    char items[512] = {DFT_ITEM_TEXT}, *text = items + 5;

    if (at + slots >= head)
        return 0;
    memcpy(items + 1, &length, 4);
    for (uint32_t i = 0; i < length; i++)
        text[i] = (char)('a' + below(26));
    text[0] = below(2) ? '/' : text[0];
    *slot = (struct dft_slot){.call = DFT_CALL_NAME, .slots = (uint8_t)slots, .file = dft_name_id(text, length)};
    for (uint32_t i = 1; i < slots; i++) {
        struct dft_slot_part *part = (struct dft_slot_part *)dft_ring_slot(ring, at + i);
        uint32_t left = 5 + length - (i - 1) * DFT_PART_BYTES;

        part->part = (uint16_t)i;
        part->used = (uint16_t)(left < DFT_PART_BYTES ? left : DFT_PART_BYTES);
        memcpy(part->payload, items + (size_t)(i - 1) * DFT_PART_BYTES, part->used);
        atomic_store(&part->marker, dft_ring_marker(ring, at + i, DFT_SLOT_PART));
    }
    atomic_store(&slot->marker, dft_ring_marker(ring, at, DFT_SLOT_VALID));
    return slots;
}

static void fill_ring(struct dft_ring *ring, uint64_t ticks)
{
    uint64_t head = ring->base + 2 + below(ring->capacity - 2);
    struct dft_slot last = {.start = ticks};

    any_slot(&last);
    for (uint64_t i = ring->base; i < head; i++) {
        struct dft_slot *slot = dft_ring_slot(ring, i);
        uint32_t state = below(300) ? DFT_SLOT_VALID : (uint32_t)below(4);
        uint32_t named = below(20) ? 0 : put_name(ring, i, head);

        if (named) {
            i += named - 1;
            continue;
        }
        next_slot(slot, &last);
        memcpy(&last, slot, sizeof last);
        atomic_store(&slot->marker, dft_ring_marker(ring, i, state) - (below(500) ? 0 : 4));
        if (below(100) == 0 && i + 1 < head) {
            i++;
            put_part(slot, (struct dft_slot_part *)dft_ring_slot(ring, i), dft_ring_marker(ring, i, DFT_SLOT_PART));
        }
    }
    atomic_store(&ring->head, head);
}

static struct dft_ring *make_ring(uint64_t ticks)
{
    uint32_t shift = 6 + (uint32_t)below(6), slots = 1u << shift;
    struct dft_ring *ring = memory(dft_ring_bytes(SLOTS_MAX));

    *ring = (struct dft_ring){
        .stream = 3, .tid = 4, .capacity = slots, .shift = shift, .base = slots * 5 + below(slots) + (below(2) << 40)};
    fill_ring(ring, ticks);
    return ring;
}

/* Clocks of fast and slow counters, some of which had another relation before, or have it later. */
static struct dft_clock make_clock(void)
{
    struct dft_clock clock = {.base_ticks = 1000000 + below(1u << 30), .base_ns = UINT64_C(1700000000) * 1000000000};

    clock.mult = below(2) ? (UINT64_C(1) << 31) + below(UINT32_MAX) : UINT64_C(1) << below(40);
    if (below(4) == 0)
        clock.mult = UINT64_C(5000) << 32; /* many begin, and end, where an interval does */
    if (below(3) == 0) {
        clock.earlier.first = clock.base_ticks - 100000 + below(200000);
        clock.earlier.count = below(100000);
        clock.earlier.base_ticks = clock.base_ticks;
        clock.earlier.base_ns = clock.base_ns - below(1000000);
        clock.earlier.mult = clock.mult + 5;
    }
    return clock;
}

/* --- one by one, and drained ------------------------------------------------------------------ */

/* Events in the order of their numbers, and the rows of all. */
struct result {
    struct dft_event *events;
    struct dft_call *calls; /* of each event; texts are not kept */
    uint32_t count;
    struct dft_table *rows;
    uint64_t last_of_events; /* the highest number that a block of events covers */
    uint32_t blocks_of_rows;
    uint64_t names; /* the sum of the hashes of those that have a text, and of their ids */
};

static void init_decoder(struct dft_ring_decoder *decoder)
{
    *decoder = (struct dft_ring_decoder){.events_max = SLOTS_MAX, .names_max = SLOTS_MAX, .args_max = SLOTS_MAX};
    decoder->text_max = SLOTS_MAX * DFT_PART_BYTES;
    decoder->events = memory(SLOTS_MAX * sizeof *decoder->events);
    decoder->calls = memory(SLOTS_MAX * sizeof *decoder->calls);
    decoder->names = memory(SLOTS_MAX * sizeof *decoder->names);
    decoder->args = memory(SLOTS_MAX * sizeof *decoder->args);
    decoder->text = memory(decoder->text_max);
    decoder->taken = memory(SLOTS_MAX / 8);
    decoder->call_of = memory(DFT_RING_DECODER_HASH * 4);
}

static void init_context(struct dft_context *context)
{
    memset(context, 0, sizeof *context);
    init_decoder(&context->decoder);
    context->decoder.clock = &context->clock;
    context->encoder = dft_encoder_init(memory(dft_encoder_bytes()));
    context->calls = memory((SLOTS_MAX + 1) * sizeof *context->calls);
    context->rows.names = memory(DFT_ROWS_NAMES * sizeof *context->rows.names);
    context->rows.text = memory(DFT_ROWS_TEXT);
}

static void begin_result(struct result *result, unsigned keep)
{
    *result = (struct result){.events = calloc(SLOTS_MAX, sizeof *result->events),
                              .calls = calloc(SLOTS_MAX, sizeof *result->calls),
                              .rows = dft_table_create(INTERVAL, keep)};
    CU_ASSERT_FATAL(result->events && result->calls && result->rows);
}

static void end_result(struct result *result)
{
    free(result->events);
    free(result->calls);
    dft_table_destroy(result->rows);
}

static void add_events(struct result *result, const struct dft_batch *batch)
{
    for (uint32_t i = 0; i < batch->nnames; i++)
        if (batch->names[i].text.bytes)
            result->names +=
                dft_name_id(batch->names[i].text.bytes, batch->names[i].text.length) * 3 + batch->names[i].id;

    for (uint32_t i = 0; i < batch->count; i++) {
        result->calls[result->count] = batch->calls[batch->events[i].call];
        result->events[result->count] = batch->events[i];
        result->events[result->count++].call = 0;
    }
}

static void decode_one_by_one(const struct dft_ring *ring, struct dft_ring_decoder *decoder, struct result *result)
{
    uint64_t sequence = ring->base;

    memset(decoder->taken, 0, SLOTS_MAX / 8);
    while (sequence < atomic_load(&ring->head)) {
        struct dft_batch batch;
        uint32_t position = 0;

        dft_ring_decode(ring, &sequence, atomic_load(&ring->head), decoder, &batch);
        add_events(result, &batch);
        CU_ASSERT_FATAL(dft_table_add(result->rows, &batch, &position) == 0 && position == batch.count);
    }
}

static void read_events(struct result *result, const struct dft_block_header *header, const void *payload)
{
    static struct dft_decoder *decoder;
    struct dft_batch batch;
    const char *reason;

    decoder = decoder ? decoder : dft_decoder_create();
    CU_ASSERT_FATAL(decoder && dft_decode_events(decoder, header, payload, &batch, &reason) == 0);
    CU_ASSERT_FATAL(result->count + batch.count <= SLOTS_MAX);
    add_events(result, &batch);
    if (batch.last > result->last_of_events)
        result->last_of_events = batch.last;
}

static void read_rows(struct result *result, const struct dft_block_header *header, const void *payload)
{
    static struct dft_decoder *decoder;
    struct dft_buckets buckets;
    const char *reason;

    decoder = decoder ? decoder : dft_decoder_create();
    CU_ASSERT_FATAL(decoder && dft_decode_buckets(decoder, header, payload, &buckets, &reason) == 0);
    for (uint32_t i = 0; i < buckets.count; i++)
        CU_ASSERT_FATAL(dft_table_merge(result->rows, &buckets.rows[i]) == 0);
    /* Rows never come before their events: a process that is killed between the two would lose these. */
    CU_ASSERT(dft_config.enable_aggregation || buckets.last <= result->last_of_events);
    result->blocks_of_rows++;
}

static void read_file(struct result *result)
{
    struct dft_block_header header;
    struct dft_skipped skipped = {0};
    size_t offset = 0, found;

    while (dft_block_next(file.bytes, file.used, &offset, &header, &found, &skipped)) {
        const char *payload = file.bytes + found + sizeof header;

        if (header.type == DFT_BLOCK_EVENTS)
            read_events(result, &header, payload);
        else
            read_rows(result, &header, payload);
    }
    CU_ASSERT(skipped.bytes == 0 && offset == file.used);
}

/* Rows of a small table, which is full again and again, are written then. */
static void drain_ring(const struct dft_ring *ring, struct dft_context *context, uint32_t rows, struct result *result)
{
    uint64_t sequence = ring->base, head = atomic_load(&ring->head);
    size_t bytes = dft_table_bytes(rows);
    void *fixed = memory(bytes);

    file.used = 0;
    file.events = 0;
    context->table = dft_table_init(fixed, rows, INTERVAL,
                                    DFT_KEEP_HISTOGRAMS | (dft_config.enable_aggregation ? DFT_KEEP_FILES : 0));
    memset(context->decoder.taken, 0, SLOTS_MAX / 8);
    dft_context_drop_rows(context);
    while (sequence < head) {
        uint64_t part = sequence + 1 + below(head - sequence);

        while (sequence < part) /* what is not filled in is not used */
            memset(context->decoder.events, 0xa5, SLOTS_MAX * sizeof *context->decoder.events),
                dft_drain_block(context, ring, &sequence, part);
    }
    dft_drain_rows(context);
    CU_ASSERT_FATAL(!context->failed);
    munmap(fixed, bytes);
    read_file(result);
}

static void compare_events(const struct result *a, const struct result *b)
{
    CU_ASSERT_FATAL(a->count == b->count && a->names == b->names);
    for (uint32_t i = 0; i < a->count; i++) {
        const struct dft_event *x = &a->events[i], *y = &b->events[i];

        CU_ASSERT_FATAL(a->calls[i].id == b->calls[i].id && a->calls[i].op == b->calls[i].op);
        CU_ASSERT_FATAL(a->calls[i].io == b->calls[i].io);
        CU_ASSERT_FATAL(x->start_ns == y->start_ns && x->dur_ns == y->dur_ns);
        CU_ASSERT_FATAL(x->file == y->file && x->file2 == y->file2 && x->region == y->region);
        CU_ASSERT_FATAL(x->size == y->size && x->result == y->result && x->offset == y->offset);
        CU_ASSERT_FATAL(x->stack == y->stack && x->id == y->id && x->calls == y->calls && x->unit == y->unit);
        CU_ASSERT_FATAL(x->flags == y->flags && x->mode == y->mode && x->fd == y->fd);
        CU_ASSERT_FATAL(x->err == y->err && x->depth == y->depth && x->phase == y->phase && x->bits == y->bits);
    }
}

static void compare_rows(const struct result *a, const struct result *b)
{
    struct dft_row *rows_a = NULL, *rows_b = NULL;
    uint32_t na = 0, nb = 0;

    CU_ASSERT_FATAL(!dft_table_rows(a->rows, &rows_a, &na) && !dft_table_rows(b->rows, &rows_b, &nb));
    CU_ASSERT_PTR_NULL(model_difference(rows_a, na, rows_b, nb, 0));
}

static void drain_and_compare(int aggregates_only)
{
    static struct dft_ring_decoder decoder;
    static struct dft_context context;
    uint32_t events = 0, blocks = 0;

    dft_config = (struct dft_config){.enable_aggregation = aggregates_only, .inc_metadata = 1, .trace_interval_ms = 1};
    init_decoder(&decoder);
    init_context(&context);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct dft_clock clock = make_clock();
        struct dft_ring *ring = make_ring(clock.base_ticks - 100000 + below(200000));
        unsigned keep = DFT_KEEP_HISTOGRAMS | (aggregates_only ? DFT_KEEP_FILES : 0);
        struct result plain, drained;

        context.clock = clock;
        decoder.clock = &clock;
        begin_result(&plain, keep);
        begin_result(&drained, keep);
        decode_one_by_one(ring, &decoder, &plain);
        drain_ring(ring, &context, DFT_TABLE_ROWS_MIN + (uint32_t)below(1000), &drained);
        if (!aggregates_only)
            compare_events(&plain, &drained);
        CU_ASSERT_EQUAL(file.events, plain.count);
        compare_rows(&plain, &drained);
        CU_ASSERT(memcmp(decoder.taken, context.decoder.taken, SLOTS_MAX / 8) == 0);
        events += plain.count;
        blocks += drained.blocks_of_rows;
        end_result(&plain);
        end_result(&drained);
        munmap(ring, dft_ring_bytes(SLOTS_MAX));
    }
    CU_ASSERT(events > ROUNDS * 100 && blocks > ROUNDS);
}

static void test_same(void)
{
    drain_and_compare(0);
}

static void test_aggregates(void)
{
    drain_and_compare(1);
}

int suite_drain(void)
{
    CU_TestInfo tests[] = {{"drained or decoded one by one: the same", test_same},
                           {"and with aggregates alone", test_aggregates},
                           CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"drain", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    random_state.state = 42;
    return CU_register_suites(suites) != CUE_SUCCESS;
}
