/* SPDX-License-Identifier: MIT */
/* The records of asynchronous requests. */
#include "probe/request.h"

#include <string.h>

#include "store/livefile.h"
#include "store/notes.h"

int dft_requests_on(void)
{
    if (!(dft_on & DFT_ON_POSIX) || dft_in_vfork_child())
        return 0;
    return *dft_generation || dft_thread_get() != NULL;
}

static struct dft_ring *shown;
static uint32_t shown_in; /* atomic: dft_livefile_number */

/* Room in the live file for those that are outstanding, so that a killed process's are known.
 * dft_process_lock held. */
static void show_in_livefile(void)
{
    if (!dft_livefile_path[0])
        return;
    shown = dft_livefile_lasting_ring(DFT_OUTSTANDING_MAX, 0, 0);
    if (!shown) {
        dft_process_note(DFT_NOTE_PLAIN_RINGS);
        return;
    }
    atomic_store(&shown->requests, 1);
    dft_outstanding_show_in(dft_ring_slot(shown, 0));
}

static __attribute__((noinline)) void show_from_now_on(void)
{
    struct dft_signals before;

    if (dft_is_sandboxed() || dft_late)
        return;
    before = dft_signals_block();
    dft_spin_lock(&dft_process_lock);
    if (shown_in != dft_livefile_number)
        show_in_livefile();
    __atomic_store_n(&shown_in, dft_livefile_number, __ATOMIC_RELEASE);
    dft_spin_unlock(&dft_process_lock);
    dft_signals_restore(before);
}

void dft_requests_forked(void)
{
    if (shown)
        dft_livefile_ring_detach(shown);
    shown = NULL;
    shown_in = 0;
    dft_outstanding_forget();
}

static int moves_bytes(enum dft_op op)
{
    return dft_op_effect(op) == DFT_EFFECT_AT;
}

int dft_request_begin(struct dft_request *request, enum dft_call_number call, enum dft_op op,
                      const struct dft_call_args *args)
{
    struct dft_thread *self;
    struct dft_probe probe;

    if (!dft_probe_begin(&probe, call, op, args, DFT_ON_POSIX))
        return 0;
    if (moves_bytes(op) && probe.effective == DFT_EFFECTIVE_AT_DESCRIPTOR)
        dft_offset_end(&probe, 0); /* there is no such request: it fails */
    self = dft_thread_get();
    if (!self)
        return 0;
    atomic_store_explicit(&self->home->flight_call, 0, memory_order_relaxed);
    request->start = probe.start;
    request->file = probe.file;
    request->size = args->size;
    request->offset = args->offset;
    request->flags = (uint32_t)args->flags;
    request->fd = probe.fd;
    request->call = (uint16_t)(call | probe.class);
    request->bits = 0;
    if (op == DFT_OP_PWRITE && atomic_load_explicit(&probe.open->flags, memory_order_relaxed) & DFT_OPEN_APPEND)
        request->offset = -1;
    if (moves_bytes(op)) /* in the order in which the program asks, not in that of completion */
        request->bits = dft_access_bits(probe.open, op, request->offset, (int64_t)args->size);
    request->call |= (uint16_t)dft_slot_marks(0, request->bits);
    request->bits &= ~DFT_BIT_TURN;
    request->region = dft_region_innermost(self, &request->depth);
    request->tid = self->home->tid;
    if (__builtin_expect(__atomic_load_n(&shown_in, __ATOMIC_ACQUIRE) != dft_livefile_number, 0))
        show_from_now_on();
    return 1;
}

/* Items one behind the other. */
struct items {
    uint8_t bytes[48];
    uint32_t length;
};

static void add(struct items *items, uint8_t tag, const void *value, uint32_t length)
{
    items->bytes[items->length] = tag;
    memcpy(items->bytes + items->length + 1, value, length);
    items->length += 1 + length;
}

static void put(const struct dft_request *request, enum dft_phase phase, uint64_t duration, int64_t result, int err)
{
    struct dft_thread *self = dft_thread_get();
    struct dft_slot record = {.start = request->start,
                              .call = request->call,
                              .bits = request->bits,
                              .file = request->file,
                              .result = result,
                              .offset = request->offset,
                              .region = request->region,
                              .fd = request->fd,
                              .err = (uint16_t)err,
                              .depth = request->depth};
    int data = dft_op_is_data((enum dft_op)dft_call_rows[dft_slot_number(request->call)].op);
    struct dft_pieces pieces = {.count = 0};
    struct items items = {.length = 0};
    uint8_t byte = (uint8_t)phase;

    if (!self)
        return;
    record.size = data ? (uint32_t)request->size : request->flags;
    if (duration >> 32)
        add(&items, DFT_ITEM_DURATION, &duration, 8);
    else
        record.duration = (uint32_t)duration;
    if (data && request->size >> 32)
        add(&items, DFT_ITEM_SIZE, &request->size, 8);
    if (data && request->flags)
        add(&items, DFT_ITEM_FLAGS, &request->flags, 4);
    if (phase != DFT_PHASE_COMPLETE)
        add(&items, DFT_ITEM_PHASE, &byte, 1);
    add(&items, DFT_ITEM_ID, &request->number, 8);
    dft_pieces_add(&pieces, items.bytes, items.length);
    dft_ring_put_long(self, &record, &pieces);
}

void dft_request_end(const struct dft_request *request, uint64_t end, int64_t result, int err)
{
    put(request, DFT_PHASE_COMPLETE, end > request->start ? end - request->start : 0, result, err);
}

void dft_request_unseen(const struct dft_request *request)
{
    put(request, DFT_PHASE_ASYNC_BEGIN, 0, 0, 0);
}

void dft_requests_lost(uint64_t count)
{
    struct dft_thread *self = dft_thread_get();

    if (self && count)
        atomic_fetch_add_explicit(&self->ring->dropped[DFT_DROP_REQUESTS], count, memory_order_relaxed);
}

void dft_requests_give_up(uint64_t context, uint64_t last)
{
    struct dft_request request;

    for (uint32_t place = 0; dft_outstanding_take_next(context, last, &place, &request);)
        dft_request_unseen(&request);
}

void dft_requests_end(void)
{
    struct dft_request request;

    for (uint32_t place = 0; dft_outstanding_read_next(&place, &request);)
        dft_request_unseen(&request);
}
