/* SPDX-License-Identifier: MIT */
/* Random calls for rows_test: records as wrappers fill them in, and the same as events. */
#include "rows_test.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "format/hash.h"
#include "format/slot_event.h"
#include "os/clock.h"
#include "thread/append.h"

/* --- random numbers --------------------------------------------------------------------------- */

static uint64_t seed;

void begin_random(uint64_t from)
{
    seed = from;
}

uint64_t below(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (seed >> 11) % n;
}

int once_in(uint64_t n)
{
    return below(n) == 0;
}

/* --- random records --------------------------------------------------------------------------- */

static uint64_t ticks_of(uint64_t ns)
{
    return (uint64_t)(((unsigned __int128)ns << 32) / run.mult);
}

/* Short, or across parts of intervals, intervals, many intervals. */
static uint64_t random_duration(void)
{
    if (!once_in(run.is_dense ? 1000 : 16))
        return ticks_of(below(run.width / 2000 + 2));
    if (once_in(2))
        return ticks_of(below(run.width / 8));
    if (!once_in(8))
        return ticks_of(below(run.width * 3));
    return ticks_of(below(run.width * (once_in(4) ? 200 : 30)));
}

/* Of calls that begin one after another, and of some that began before others ended. */
static uint64_t random_start(uint64_t duration)
{
    run.now += ticks_of(below(run.width / 1000 + 2)) +
               (once_in(run.is_dense ? 3000 : 300) ? ticks_of(below(run.width * 20)) : 0);
    if (!once_in(8) || run.now < BASE_TICKS + duration)
        run.now += duration;
    return run.now - duration;
}

static uint64_t random_file(uint32_t *number, enum dft_io *io)
{
    char text[64];
    struct dft_text path = {text, 0};
    uint64_t id;

    *number = (uint32_t)(once_in(3) ? below(run.nfiles) : below(run.nfiles) % 3);
    *io = *number % 5 == 4 ? DFT_IO_STARTUP : DFT_IO_NONE;
    path.length = (uint32_t)snprintf(text, sizeof text, "/data/%u/%u", *number % 7, *number);
    id = dft_name_id(text, path.length);
    return dft_name_was_sent(&run.thread, id) ? id : dft_rows_define(&run.thread, id, path, *io);
}

static uint64_t random_name(uint32_t count)
{
    uint64_t number = below(count);

    return number ? number * UINT64_C(0x9e3779b97f4a7c15) : 0;
}

static uint64_t random_size(void)
{
    static const uint32_t sizes[] = {0, 1, 40, 4096, 4096, 4096, 65536, 1u << 20};

    return once_in(4) ? below(UINT64_C(1) << (1 + below(22))) : sizes[below(8)];
}

/* Where the access lies, with its bits. */
static void set_offset(struct dft_slot *record, uint32_t file, uint64_t bytes)
{
    uint64_t *end = &run.offsets[file];

    if (once_in(6)) {
        record->offset = -1;
        return;
    }
    if (once_in(4)) {
        *end = once_in(40) ? below(UINT64_C(1) << 50) : below(1u << 24);
        record->bits = (uint8_t)below(3);
    } else {
        record->bits = DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE;
    }
    record->offset = (int64_t)*end;
    if (once_in(1000))
        record->offset = INT64_MAX - (int64_t)below(3);
    *end += bytes;
}

/* A data call's sizes, as wrappers fill them in: a number of items and their length, or bytes. */
static void set_data(struct dft_slot *record, uint8_t op, uint32_t file)
{
    uint64_t unit = 1 + (dft_op_bytes(op) == DFT_BYTES_ITEMS && once_in(2) ? below(64) : 0), bytes;

    record->size = run.is_dense ? 4096 : (uint32_t)random_size();
    record->result = (int64_t)(once_in(4) ? below(record->size + 1) : record->size) / (int64_t)unit;
    if (once_in(10)) {
        record->err = once_in(2) ? EAGAIN : EIO;
        record->result = unit > 1 ? 0 : -1;
    }
    bytes = record->result > 0 ? (uint64_t)record->result * unit : 0;
    set_offset(record, file, bytes);
    if (bytes && once_in(5))
        record->call |= DFT_SLOT_TURN;
    if (unit > 1) {
        record->bits |= DFT_SLOT_UNIT;
        record->result = (int64_t)((uint64_t)record->result | unit << 32);
    }
}

static uint8_t op_of(const struct dft_slot *record)
{
    return dft_slot_op(dft_slot_number(record->call));
}

static struct dft_slot random_record(void)
{
    static const uint8_t ops[] = {DFT_OP_REGION, DFT_OP_REGION, DFT_OP_REGION, DFT_OP_INSTANT, DFT_OP_COUNTER};
    struct dft_slot record = {.offset = -1, .fd = 3, .region = random_name(run.nregions)};
    uint64_t duration = random_duration();
    enum dft_io io;
    uint32_t file;

    duration = duration > UINT32_MAX ? UINT32_MAX : duration;
    record.duration = (uint32_t)duration;
    record.start = random_start(duration);
    if (once_in(12)) {
        record.call = (uint16_t)(DFT_CALL_ANNOTATION + ops[below(5)]);
        record.file = random_name(6) + 1;
        return record;
    }
    record.call = run.calls[below(run.ncalls)];
    record.file = random_file(&file, &io);
    if (io)
        record.call |= (uint16_t)((io + 1) << DFT_SLOT_IO_SHIFT);
    if (once_in(20))
        record.file = 0;
    if (dft_op_is_data(op_of(&record))) {
        set_data(&record, op_of(&record), file);
        return record;
    }
    record.err = once_in(6) ? ENOENT : 0;
    record.result = record.err ? -1 : (int64_t)below(1000);
    record.size = (uint32_t)below(1u << 20);
    record.offset = once_in(2) ? -1 : (int64_t)below(4096);
    if (once_in(30))
        record.bits = DFT_PHASE_BEGIN << DFT_SLOT_PHASE_SHIFT;
    return record;
}

/* --- the same as events ----------------------------------------------------------------------- */

/* What the items of a record say, and whether there is such an item. */
struct further {
    uint64_t size, duration;
    uint32_t unit, calls;
    uint8_t phase, has_size, has_duration, has_unit, has_calls, has_phase;
};

static void add_event(struct dft_event *event, uint8_t op, uint32_t call, uint64_t subject, uint64_t start,
                      uint64_t duration)
{
    struct dft_call of = {.id = subject, .op = op, .io = dft_slot_io(call, (uint8_t)dft_op_io(op))};
    struct dft_batch batch = {.events = event, .count = 1, .calls = &of, .ncalls = 1};
    const uint32_t number = dft_slot_number(call);
    struct dft_clock clock;
    uint32_t position = 0;

    if (number < DFT_CALL_COUNT)
        of.id = dft_name_id(dft_call_text(&dft_call_rows[number]), dft_call_rows[number].length);
    dft_clock_update(&clock);
    event->call = 0;
    event->start_ns = dft_clock_ns(&clock, start);
    event->dur_ns = dft_clock_since(&clock, event->start_ns, start + duration);
    CU_ASSERT_EQUAL_FATAL(dft_table_add(run.by_events, &batch, &position), 0);
}

static void add_record(const struct dft_slot *record, const struct further *further)
{
    const uint8_t op = op_of(record);
    struct dft_event event;

    dft_slot_event(record, &event, dft_meaning_of(op));
    if (dft_slot_number(record->call) >= DFT_CALL_COUNT)
        dft_slot_annotation(&event, op);
    event.size = further->has_size && dft_op_is_data(op) ? further->size : event.size;
    event.unit = further->has_unit ? further->unit : event.unit;
    event.calls = further->has_calls ? further->calls : 1;
    event.phase = further->has_phase ? further->phase : event.phase;
    add_event(&event, op, record->call, record->file, record->start,
              further->has_duration ? further->duration : record->duration);
}

/* --- giving records --------------------------------------------------------------------------- */

/* Items one behind the other. */
struct text {
    uint8_t bytes[256];
    uint32_t length;
};

static void item(struct text *text, uint8_t tag, const void *value, uint32_t length)
{
    text->bytes[text->length] = tag;
    if (value)
        memcpy(text->bytes + text->length + 1, value, length);
    text->length += 1 + length;
}

/* What no row is made of. */
static void item_to_skip(struct text *text)
{
    static const uint8_t tags[] = {DFT_ITEM_FLAGS,      DFT_ITEM_FILE2, DFT_ITEM_ID,   DFT_ITEM_ARG_INT,
                                   DFT_ITEM_ARG_DOUBLE, DFT_ITEM_MODE,  DFT_ITEM_STACK};
    static const uint8_t lengths[] = {4, 8, 8, 16, 16, 4, 8};
    uint64_t which = below(8);
    uint8_t argument[12 + 20] = {1, 2, 3, 4, 5, 6, 7, 8, (uint8_t)below(21)};

    if (which == 7)
        item(text, DFT_ITEM_ARG_STRING, argument, 12 + argument[8]);
    else
        item(text, tags[which], argument, lengths[which]);
}

static void random_items(struct dft_slot *record, struct further *further, struct text *text)
{
    if (dft_op_is_data(op_of(record)) && !record->err && once_in(2)) {
        *further = (struct further){.size = below(UINT64_C(1) << (20 + below(20))), .has_size = 1};
        record->size = (uint32_t)further->size;
        record->bits &= ~DFT_SLOT_UNIT;
        record->result = (int64_t)below(1u << 20);
        if (dft_op_bytes(op_of(record)) == DFT_BYTES_ITEMS) {
            further->unit = (uint32_t)below(1u << 12);
            further->has_unit = 1;
        }
        further->calls = (uint32_t)below(3) * (uint32_t)below(1000);
        further->has_calls = (uint8_t)once_in(2);
    }
    if (once_in(4)) {
        further->duration = random_duration();
        further->has_duration = 1;
    }
    if (once_in(10)) {
        further->phase = (uint8_t)below(5);
        further->has_phase = 1;
    }
    for (int i = 0; i < 5; i++) {
        if (once_in(3))
            item_to_skip(text);
        if (i == 0 && further->has_size)
            item(text, DFT_ITEM_SIZE, &further->size, 8);
        if (i == 1 && further->has_duration)
            item(text, DFT_ITEM_DURATION, &further->duration, 8);
        if (i == 2 && further->has_unit)
            item(text, DFT_ITEM_UNIT, &further->unit, 4);
        if (i == 3 && further->has_calls)
            item(text, DFT_ITEM_CALLS, &further->calls, 4);
        if (i == 4 && further->has_phase)
            item(text, DFT_ITEM_PHASE, &further->phase, 1);
    }
}

/* A record with items, which are split over pieces anywhere. Returns whether it was taken. */
static int give_long(struct dft_slot *record)
{
    struct further further = {.calls = 1};
    struct dft_pieces pieces = {.count = 0};
    struct text text = {.length = 0};

    random_items(record, &further, &text);
    for (uint32_t from = 0, n; from < text.length; from += n) {
        n = (uint32_t)below(text.length - from + 1);
        n = pieces.count == 7 ? text.length - from : n;
        dft_pieces_add(&pieces, text.bytes + from, n);
    }
    if (!dft_rows_take_long(&run.thread, record, &pieces))
        return 0;
    add_record(record, &further);
    return 1;
}

/* A run of calls on a stream, or the other half of a copy. */
static int give_burst(const struct dft_slot *record)
{
    const uint32_t calls = (uint32_t)below(50);
    const uint64_t bytes = once_in(3) ? below(UINT64_C(1) << 35) : below(5000);
    struct dft_burst burst = {.call = dft_slot_number(record->call),
                              .io = record->call >> DFT_SLOT_IO_SHIFT & 7,
                              .moved = dft_burst_pack(calls, bytes),
                              .file = record->file,
                              .region = record->region,
                              .start = record->start,
                              .duration = once_in(4) ? random_duration() : record->duration,
                              .offset = record->offset,
                              .fd = record->fd,
                              .bits = record->bits & (DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE)};
    struct dft_event event = {.file = record->file,
                              .region = record->region,
                              .size = bytes,
                              .result = (int64_t)bytes,
                              .offset = record->offset,
                              .calls = calls,
                              .unit = 1};
    struct dft_burst open = burst;

    if (record->call & DFT_SLOT_TURN)
        burst.bits |= DFT_BIT_TURN;
    event.bits = burst.bits;
    if (!dft_rows_take_burst(&run.thread, &burst, once_in(2) ? &open : NULL))
        return 0;
    add_event(&event, op_of(record), record->call & ~DFT_SLOT_TURN, 0, burst.start, burst.duration);
    return 1;
}

int give(void)
{
    const struct further nothing = {.size = 0};
    struct dft_slot record = random_record();

    if (once_in(10))
        return give_long(&record);
    if (once_in(10) && dft_op_is_data(op_of(&record)) && !record.err)
        return give_burst(&record);
    if (!dft_rows_take(&run.thread, &record))
        return 0;
    add_record(&record, &nothing);
    return 1;
}
