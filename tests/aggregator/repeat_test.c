/* SPDX-License-Identifier: MIT */
/* A drain hands on events that are alike as repeats. Nobody can tell from what it writes: rings of
 * records that form repeats, and of all that breaks them, are taken with repeats and without;
 * events, blocks and rows are the same. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "alike.h"
#include "format/encode.h"
#include "format/calls.h"
#include "format/ring_decode.h"
#include "model.h"
#include "suites.h"

#define SLOTS_MAX 2048u
#define ROUNDS    400u
#define INTERVAL  50000u

/* Everything that a drain has, twice: with and without repeats. */
struct side {
    struct dft_ring_decoder decoder;
    struct dft_batch batch;
    uint64_t sequence;
    struct dft_encoder *encoder;
    struct dft_table *fixed, *sum;
    void *fixed_memory;
    size_t fixed_bytes;
};

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

/* --- rings ------------------------------------------------------------------------------------ */

static const uint16_t calls[] = {DFT_CALL_pread, DFT_CALL_read,  DFT_CALL_write, DFT_CALL_fread,
                                 DFT_CALL_lseek, DFT_CALL_fstat, DFT_CALL_open,  DFT_CALL_close,
                                 DFT_CALL_mkdir, DFT_CALL_exit,  DFT_CALL_fsync, DFT_CALL_ANNOTATION + DFT_OP_REGION,
                                 DFT_CALL_fgets, DFT_CALL_execv, DFT_CALL_fork,  DFT_CALL_ANNOTATION + DFT_OP_COUNTER};

static void any_slot(struct dft_slot *slot)
{
    uint64_t size = below(3) ? 4096 : below(UINT32_MAX);

    slot->call = calls[below(sizeof calls / sizeof *calls)];
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
    switch (below(12)) {
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
    uint8_t op =
        slot->call < DFT_CALL_COUNT ? dft_call_rows[slot->call].op : (uint8_t)(slot->call - DFT_CALL_ANNOTATION);
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

static void fill_ring(struct dft_ring *ring, uint64_t ticks)
{
    uint64_t head = ring->base + 2 + below(ring->capacity - 2);
    struct dft_slot last = {.start = ticks};

    any_slot(&last);
    for (uint64_t i = ring->base; i < head; i++) {
        struct dft_slot *slot = dft_ring_slot(ring, i);
        uint32_t state = below(300) ? DFT_SLOT_VALID : (uint32_t)below(4);

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

/* --- both ways -------------------------------------------------------------------------------- */

static void side_init(struct side *side, int with_repeats)
{
    struct dft_ring_decoder *decoder = &side->decoder;

    *decoder = (struct dft_ring_decoder){.events_max = SLOTS_MAX, .names_max = SLOTS_MAX, .args_max = SLOTS_MAX};
    decoder->text_max = SLOTS_MAX * DFT_PART_BYTES;
    decoder->events = memory(SLOTS_MAX * sizeof *decoder->events);
    decoder->calls = memory(SLOTS_MAX * sizeof *decoder->calls);
    decoder->names = memory(SLOTS_MAX * sizeof *decoder->names);
    decoder->args = memory(SLOTS_MAX * sizeof *decoder->args);
    decoder->text = memory(decoder->text_max);
    decoder->taken = memory(SLOTS_MAX / 8);
    decoder->call_of = memory(DFT_RING_DECODER_HASH * 4);
    if (with_repeats) {
        decoder->repeats = memory(SLOTS_MAX / 2 * sizeof *decoder->repeats);
        decoder->when = memory(SLOTS_MAX * sizeof *decoder->when);
    }
    side->encoder = dft_encoder_init(memory(dft_encoder_bytes()));
}

/* Rows of a small table, which is full again and again, are merged. */
static void begin_rows(struct side *side, uint32_t rows, unsigned keep)
{
    side->fixed_bytes = dft_table_bytes(rows);
    side->fixed_memory = memory(side->fixed_bytes);
    side->fixed = dft_table_init(side->fixed_memory, rows, INTERVAL, keep);
    side->sum = dft_table_create(INTERVAL, keep);
    CU_ASSERT_FATAL(side->fixed && side->sum);
}

static void add_rows(struct side *side)
{
    uint32_t position = 0, count;
    struct dft_row *rows;
    int rc;

    do {
        rc = dft_table_add(side->fixed, &side->batch, &position);
        CU_ASSERT_FATAL(dft_table_rows(side->fixed, &rows, &count) == 0);
        for (uint32_t i = 0; i < count; i++)
            CU_ASSERT_FATAL(dft_table_merge(side->sum, &rows[i]) == 0);
        dft_table_clear(side->fixed);
    } while (rc);
    CU_ASSERT_FATAL(position == side->batch.count);
}

static void end_rows(struct side *side)
{
    dft_table_destroy(side->sum);
    munmap(side->fixed_memory, side->fixed_bytes);
}

static void compare_rows(struct side *plain, struct side *with)
{
    struct dft_row *a = NULL, *b = NULL;
    uint32_t na = 0, nb = 0;

    CU_ASSERT_FATAL(!dft_table_rows(plain->sum, &a, &na) && !dft_table_rows(with->sum, &b, &nb));
    CU_ASSERT_PTR_NULL(model_difference(a, na, b, nb, 0));
    end_rows(plain);
    end_rows(with);
}

/* Returns how many events were left out. */
static uint32_t compare_events(const struct dft_batch *plain, const struct dft_batch *with)
{
    uint32_t next = 0, left_out = 0;

    for (uint32_t i = 0; i < plain->count; i++) {
        const struct dft_repeat *repeat = &with->repeats[next];
        struct dft_event event = with->events[i];

        if (next < with->nrepeats && i >= repeat->first) {
            const struct dft_event *first = &with->events[repeat->first];

            dft_repeat_event(with, repeat, i, dft_event_bytes(first, with->calls[first->call].op), &event);
            left_out += i > repeat->first;
            next += i == repeat->first + repeat->count - 1;
        }
        CU_ASSERT_FATAL(dft_is_alike(&event, &plain->events[i]));
        CU_ASSERT_FATAL(event.start_ns == plain->events[i].start_ns && event.dur_ns == plain->events[i].dur_ns);
        CU_ASSERT_FATAL(event.offset == plain->events[i].offset);
    }
    CU_ASSERT_EQUAL(next, with->nrepeats);
    return left_out;
}

static void compare_blocks(struct side *plain, struct side *with)
{
    const void *a, *b;
    long na = dft_encode_events(plain->encoder, &plain->batch, &a);
    long nb = dft_encode_events(with->encoder, &with->batch, &b);

    CU_ASSERT_FATAL(na > 0 && na == nb);
    CU_ASSERT_FATAL(memcmp(a, b, (size_t)na) == 0);
}

static void test_same(void)
{
    uint32_t events = 0, left_out = 0;
    struct side plain, with;

    side_init(&plain, 0);
    side_init(&with, 1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct dft_clock clock = make_clock();
        struct dft_ring *ring = make_ring(clock.base_ticks - 100000 + below(200000));
        uint32_t rows = DFT_TABLE_ROWS_MIN + (uint32_t)below(1000);
        unsigned keep = (unsigned)below(4);

        plain.decoder.clock = with.decoder.clock = &clock;
        plain.sequence = with.sequence = ring->base;
        memset(plain.decoder.taken, 0, SLOTS_MAX / 8);
        memset(with.decoder.taken, 0, SLOTS_MAX / 8);
        begin_rows(&plain, rows, keep);
        begin_rows(&with, rows, keep);
        while (plain.sequence < atomic_load(&ring->head)) {
            memset(with.decoder.events, 0xa5,
                   SLOTS_MAX * sizeof *with.decoder.events); /* what is not filled in is not used */
            dft_ring_decode(ring, &plain.sequence, atomic_load(&ring->head), &plain.decoder, &plain.batch);
            dft_ring_decode(ring, &with.sequence, atomic_load(&ring->head), &with.decoder, &with.batch);
            CU_ASSERT_FATAL(plain.sequence == with.sequence && plain.batch.count == with.batch.count);
            CU_ASSERT(plain.batch.first == with.batch.first && plain.batch.last == with.batch.last);
            CU_ASSERT_EQUAL(plain.batch.nrepeats, 0);
            left_out += compare_events(&plain.batch, &with.batch);
            events += plain.batch.count;
            compare_blocks(&plain, &with);
            add_rows(&plain);
            add_rows(&with);
        }
        CU_ASSERT(memcmp(plain.decoder.taken, with.decoder.taken, SLOTS_MAX / 8) == 0);
        compare_rows(&plain, &with);
        munmap(ring, dft_ring_bytes(SLOTS_MAX));
    }
    CU_ASSERT(events > ROUNDS * 100);
    CU_ASSERT(left_out > events / 2 && left_out < events);
}

int suite_repeats(void)
{
    CU_TestInfo tests[] = {{"taken as repeats or one by one: the same", test_same}, CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"repeats", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    random_state.state = 42;
    return CU_register_suites(suites) != CUE_SUCCESS;
}
