/* SPDX-License-Identifier: MIT */
/* What records of any kind add to rows: those with items, bursts, regions. */
#include "rows/rows_inside.h"

#include <string.h>

#include "format/calls.h"
#include "format/slot_event.h"
#include "thread/append.h"

/* What an operation adds. */
enum { IS_ADDED = 1, IS_DATA = 2 };

static const uint8_t traits_of_op[DFT_OP_COUNT] = {
#define DFT_IS_META                      IS_ADDED
#define DFT_IS_READ                      (IS_ADDED | IS_DATA)
#define DFT_IS_WRITE                     (IS_ADDED | IS_DATA)
#define DFT_IS_NONE                      IS_ADDED
#define DFT_IS_MARK                      0
#define DFT_OP(number, name, class, ...) [number] = DFT_IS_##class,
#include <dftrace/ops.def>
#undef DFT_OP
};

void dft_rows_read(struct dft_rows_event *event, const struct dft_slot *record, const struct dft_rows_more *more)
{
    const uint32_t number = dft_slot_number(record->call), is_call = number < DFT_CALL_COUNT;
    const uint8_t op = dft_slot_op(number);
    const int moves = traits_of_op[op] & IS_DATA;

    *event = (struct dft_rows_event){.region = record->region,
                                     .subject = is_call ? 0 : record->file,
                                     .file = is_call ? record->file : 0,
                                     .call = number | (uint32_t)dft_slot_io(record->call, (uint8_t)dft_op_io(op)) << 16,
                                     .calls = more->calls,
                                     .samples = more->calls != 0,
                                     .offset = -1,
                                     .is_data = moves && !record->err};
    event->which = dft_op_class(op) == DFT_CLASS_MARK
                       ? DFT_ROWS_NO_FILE
                       : dft_live_which((enum dft_io)(event->call >> 16), dft_class_on_file(dft_op_class(op)));
    if (moves) {
        event->asked = more->size;
        event->offset = record->offset;
        event->bits = record->bits & (DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE);
        event->is_turn = (record->call & DFT_SLOT_TURN) != 0;
        event->bytes = dft_rows_bytes(record, more->unit);
    }
    event->facets = dft_facets_of(moves, event->asked, event->calls, event->offset, event->bits, record->err);
}

/* Does it add nothing, whatever becomes of it? */
static int is_left_out(const struct dft_slot *record, uint32_t phase)
{
    const uint8_t op = dft_slot_op(dft_slot_number(record->call));

    return !(traits_of_op[op] & IS_ADDED) ||
           (phase != DFT_PHASE_COMPLETE &&
            !(phase == DFT_PHASE_BEGIN && (op == DFT_OP_EXEC || op == DFT_OP_FORK))); /* aggregate.h */
}

int dft_rows_take_any(struct dft_thread *self, const struct dft_slot *record, const struct dft_rows_more *more)
{
    struct dft_rows_event event;

    if (is_left_out(record, more->phase))
        return 1;
    dft_rows_read(&event, record, more);
    if (!dft_rows_begin_step(self->rows))
        return 0;
    return dft_rows_add_slowly(self, &event, record->start, more->phase || !more->calls ? 0 : more->duration);
}

/* --- records with items, and bursts ----------------------------------------------------------- */

/* The items of a record, of which each may lie in several pieces. */
struct items {
    const struct dft_pieces *pieces;
    uint32_t piece, at;
};

/* The next bytes, to nowhere with NULL. Returns 0 when there are not so many. */
static int get(struct items *items, void *to, uint32_t bytes)
{
    while (bytes) {
        uint32_t n;

        if (items->piece == items->pieces->count)
            return 0;
        n = items->pieces->length[items->piece] - items->at;
        n = n < bytes ? n : bytes;
        if (to) {
            memcpy(to, (const char *)items->pieces->at[items->piece] + items->at, n);
            to = (char *)to + n;
        }
        bytes -= n;
        items->at += n;
        if (items->at == items->pieces->length[items->piece]) {
            items->piece++;
            items->at = 0;
        }
    }
    return 1;
}

/* The value of an item, if it says what rows are made of. Returns 0 at the end. */
static int read_item(struct items *items, struct dft_rows_more *more)
{
    static const uint8_t lengths[] = {[DFT_ITEM_FLAGS] = 4,    [DFT_ITEM_FILE2] = 8,       [DFT_ITEM_ID] = 8,
                                      [DFT_ITEM_ARG_INT] = 16, [DFT_ITEM_ARG_DOUBLE] = 16, [DFT_ITEM_ARG_STRING] = 8,
                                      [DFT_ITEM_MODE] = 4,     [DFT_ITEM_STACK] = 8,       [DFT_ITEM_CHILD] = 12};
    uint8_t tag, phase;
    uint32_t length;

    if (!get(items, &tag, 1))
        return 0;
    switch (tag) {
    case DFT_ITEM_SIZE:
        return get(items, &more->size, 8);
    case DFT_ITEM_DURATION:
        return get(items, &more->duration, 8);
    case DFT_ITEM_UNIT:
        return get(items, &more->unit, 4);
    case DFT_ITEM_CALLS:
        return get(items, &more->calls, 4);
    case DFT_ITEM_PHASE:
        if (!get(items, &phase, 1))
            return 0;
        more->phase = phase;
        return 1;
    default:
        if (tag >= sizeof lengths || !lengths[tag] || !get(items, NULL, lengths[tag]))
            return 0;
        return tag != DFT_ITEM_ARG_STRING || (get(items, &length, 4) && get(items, NULL, length));
    }
}

int dft_rows_take_long(struct dft_thread *self, const struct dft_slot *record, const struct dft_pieces *items)
{
    struct dft_rows_more more = {.size = record->size,
                                 .duration = record->duration,
                                 .unit = 1,
                                 .calls = 1,
                                 .phase = record->bits >> DFT_SLOT_PHASE_SHIFT};
    struct items at = {.pieces = items};

    if (dft_vfork_mark)
        return 0;
    while (read_item(&at, &more))
        ;
    return dft_rows_take_any(self, record, &more);
}

int dft_rows_take_burst(struct dft_thread *self, const struct dft_burst *run, struct dft_burst *open)
{
    const struct dft_rows_more more = {
        .size = dft_burst_bytes(run), .duration = run->duration, .unit = 1, .calls = dft_burst_calls(run)};
    const struct dft_slot record = {
        .start = run->start,
        .call = (uint16_t)(atomic_load_explicit(&run->call, memory_order_relaxed) | dft_slot_marks(run->io, run->bits)),
        .bits = run->bits & ~DFT_BIT_TURN,
        .file = run->file,
        .result = (int64_t)more.size,
        .offset = run->offset,
        .region = run->region,
        .fd = run->fd,
        .depth = run->depth};

    if (dft_vfork_mark)
        return 0;
    if (open) {
        open->record_stream = self->rows->live->call_stream;
        atomic_store_explicit(&open->record, dft_rows_load(&self->rows->live->events) + 1, memory_order_release);
    }
    return dft_rows_take_any(self, &record, &more);
}
