/* SPDX-License-Identifier: MIT */
/* Turns records into events, rows and blocks. A drain runs in the owner of the ring or in the
 * finaliser, with all signals blocked. A drain has its own stack: the program's stack may be tiny,
 * or a signal handler's. A drain frees slots only after their block has been written. */
#include "ring/drain.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "format/encode.h"
#include "format/unfinished.h"
#include "format/calls.h"
#include "os/clock.h"
#include "settings/config.h"
#include "store/context.h"
#include "store/counters.h"
#include "os/self.h"
#include "store/livefile.h"
#include "os/onstack.h"
#include "store/notes.h"
#include "store/process.h"
#include "store/staging.h"
#include "store/drain_events.h"
#include "rows/mode.h"
#include "rows/own_time.h"
#include "ring/rings.h"
#include "ring/control.h"
#include "rows/rows.h"
#include "ring/pending_names.h"

#define GROW_AFTER 2u

/* --- the drain -------------------------------------------------------------------------------- */

struct job {
    struct dft_context *context;
    struct dft_ring *ring;
    uint64_t from, to;
    int done; /* out: the slots are free */
};

static void free_slot(struct dft_slot *slot)
{
    atomic_store_explicit(&slot->marker, 0, memory_order_release);
}

static void free_taken(const struct dft_ring *ring, const uint64_t *taken)
{
    struct dft_slot *slots = dft_ring_slot(ring, 0);

    for (uint32_t word = 0; word < ring->capacity / 64; word++, slots += 64)
        if (taken[word] == UINT64_MAX) {
            for (uint32_t i = 0; i < 64; i++)
                free_slot(&slots[i]);
        } else {
            for (uint64_t bits = taken[word]; bits; bits &= bits - 1)
                free_slot(&slots[__builtin_ctzll(bits)]);
        }
}

/* The records stay in the ring until this point. Their names would be lost for good, so the names
 * are kept. Records that have become valid since the first pass are left for the next drain. */
static void keep_names(const struct job *job)
{
    struct dft_ring_decoder *decoder = &job->context->decoder;
    uint64_t sequence = job->from, again[DFT_RING_SLOTS_MAX / 64] = {0}, *taken = decoder->taken;
    struct dft_batch batch;

    decoder->taken = again;
    while (sequence < job->to) {
        dft_ring_decode(job->ring, &sequence, job->to, decoder, &batch);
        dft_pending_names_keep(batch.names, batch.nnames);
    }
    decoder->taken = taken;
}

static int put_names(void *argument, const struct dft_name *names, uint32_t count)
{
    struct dft_context *context = argument;
    const void *block;
    long length = dft_encode_names(context->encoder, dft_key, names, count, &block);

    dft_staging_put(context, block, length, 0);
    dft_staging_flush(context);
    return context->failed;
}

/* At the end of the process, records that cannot be written are not lost while a live file
 * exists. */
static int can_keep(const struct dft_ring *ring)
{
    return dft_late && ring->offset && dft_livefile_path[0];
}

static void keep_records(void)
{
    __atomic_store_n(&dft_drain_kept, 1, __ATOMIC_RELAXED);
}

/* Runs on the context's stack. */
static void drain(void *argument)
{
    struct job *job = argument;
    struct dft_context *context = job->context;
    uint64_t sequence = job->from;

    memset(context->decoder.taken, 0, DFT_RING_SLOTS_MAX / 8);
    context->decoder.key = dft_key;
    context->failed = 0;
    context->keeps = can_keep(job->ring);
    while (sequence < job->to)
        dft_drain_block(context, job->ring, &sequence, job->to);
    if (dft_late)
        dft_drain_rows(context);
    dft_staging_flush(context);
    if (context->failed)
        dft_context_drop_rows(context); /* they may have what the file does not */
    if (context->failed && context->keeps)
        return keep_records();
    if (context->failed)
        keep_names(job);
    else if (!context->share) /* a small context may lack capacity for them */
        dft_pending_names_emit(put_names, context);
    free_taken(job->ring, context->decoder.taken);
    job->done = 1;
}

/* Writes the rows that wait. */
static void write_rows(void *argument)
{
    struct dft_context *context = argument;

    context->failed = context->keeps = 0;
    dft_drain_rows(context);
    dft_staging_flush(context);
}

void dft_drain_all_rows(void)
{
    dft_context_visit(write_rows);
}

static struct dft_context *widened(struct dft_context *context)
{
    if (context->share)
        dft_on_stack(context->stack_top, write_rows, context);
    return dft_context_widen(context);
}

/* Returns 0, or -ENOMEM with nothing done. */
static int with_context(struct dft_ring *ring, uint64_t from, uint64_t to)
{
    struct job job = {.context = dft_context_acquire(), .ring = ring, .from = from, .to = to};
    uint64_t begin = dft_ticks(), own_ns = dft_own_time_begin(), mult;

    if (!job.context)
        return -ENOMEM;
    if (to - from > job.context->decoder.events_max || dft_pending_names_are_there())
        job.context = widened(job.context);
    if (dft_clock_update(&job.context->clock))
        dft_process_note(DFT_NOTE_CLOCKS);
    mult = job.context->clock.mult;
    dft_on_stack(job.context->stack_top, drain, &job);
    dft_context_release(job.context);
    if (job.done)
        atomic_store_explicit(&ring->tail, to, memory_order_release);
    dft_own_time_end(own_ns);
    atomic_fetch_add(&dft_live->overhead_ns, (uint64_t)(((__uint128_t)(dft_ticks() - begin) * mult) >> 32));
    return 0;
}

/* The first record that a ring can still hold, including records of older laps. */
static uint64_t oldest(const struct dft_ring *ring, uint64_t head)
{
    uint64_t from = head > ring->capacity ? head - ring->capacity : 0;

    return from < ring->base ? ring->base : from;
}

/* Waits while another thread drains this ring for an exec or an exit. Records behind the position
 * of that drain would otherwise be lost. `self` may no longer be this thread's state: a signal
 * handler interrupted an append and forked. The child then has nothing to drain. */
void dft_drain_own(struct dft_thread *self)
{
    struct dft_signals before;
    struct dft_ring *ring;
    uint64_t head;

    if (dft_in_vfork_child() || dft_is_sandboxed())
        return;
    before = dft_signals_block();
    if (self == dft_self && *dft_generation) {
        dft_spin_lock(&self->lock);
        ring = self->ring;
        head = atomic_load_explicit(&ring->head, memory_order_relaxed);
        if (dft_is_sandboxed()) { /* forbidden while this thread waited: records stay */
            dft_spin_unlock(&self->lock);
            return dft_signals_restore(before);
        }
        /* Late, the tail may have passed this thread's own record: the finaliser took the records
         * before and behind it. */
        with_context(ring, dft_late ? oldest(ring, head) : dft_ring_tail(ring), head);
        if (++self->drains >= GROW_AFTER && !dft_late)
            dft_rings_grow(self);
        dft_rings_renew(self);
        dft_spin_unlock(&self->lock);
        dft_control_look();
        dft_mode_update(self);
        dft_process_describe();
        dft_counters_drained();
    }
    dft_signals_restore(before);
}

/* Counts the records below `head` that stay in the ring. These were busy when the drain came by,
 * and may be valid by now. */
static uint32_t count_left(const struct dft_ring *ring, uint64_t head)
{
    uint32_t left = 0;

    for (uint64_t at = dft_ring_find_used(ring, oldest(ring, head), head); at < head;
         at = dft_ring_find_used(ring, at + 1, head)) {
        uint32_t marker = atomic_load_explicit(&dft_ring_slot(ring, at)->marker, memory_order_acquire);

        left += dft_slot_state(marker) != DFT_SLOT_FREE && !dft_ring_is_ahead(ring, at, marker);
    }
    return left;
}

/* Drains every slot of a ring, including slots of older laps. Returns how many records stay in the
 * ring. */
static uint32_t drain_whole(struct dft_ring *ring)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);

    if (with_context(ring, oldest(ring, head), head))
        return ring->capacity;
    return count_left(ring, head);
}

uint32_t dft_drain_all_of(struct dft_thread *thread)
{
    uint32_t busy = 0;

    dft_spin_lock(&thread->lock);
    if (thread->rows && dft_rows_flush(thread))
        busy++;
    for (uint32_t i = 0; i < thread->nrings; i++)
        busy += drain_whole(thread->rings[i]);
    dft_spin_unlock(&thread->lock);
    return busy;
}

/* --- open bursts and regions of threads ------------------------------------------------------- */

struct open_job {
    struct dft_context *context;
    struct dft_ring *home;
    const struct dft_ended *ended;
};

/* Settles the regions that this drain claimed. Their events are in the file, or the regions are
 * open as before. */
static void settle_regions(struct dft_ring *home, const struct dft_batch *batch, int written)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];
        const struct dft_call *call = &batch->calls[event->call];

        if (call->op != DFT_OP_REGION || event->depth >= DFT_OPEN_REGIONS)
            continue;
        if (written)
            __atomic_store_n(&home->regions[event->depth].name, 0, __ATOMIC_RELEASE);
        else
            __atomic_fetch_and(&home->regions[event->depth].start, ~DFT_REGION_CLAIMED, __ATOMIC_RELAXED);
    }
}

/* Writes open bursts and regions as events of their own stream: only the owner gives numbers in the
 * ring. A second pass (dftmerge, after a kill) gives the same numbers. */
static void drain_open(void *argument)
{
    struct open_job *job = argument;
    struct dft_context *context = job->context;
    uint32_t depth = atomic_load_explicit(&job->home->depth, memory_order_relaxed);
    struct dft_batch batch;

    context->failed = 0;
    context->keeps = can_keep(job->home);
    dft_drain_rows(context);                             /* the batch takes their memory */
    if (job->ended->time_ns && depth > DFT_OPEN_REGIONS) /* only the thread knows these */
        atomic_fetch_add_explicit(&job->home->dropped[DFT_DROP_TOO_DEEP], depth - DFT_OPEN_REGIONS,
                                  memory_order_relaxed);
    dft_unfinished_batch(job->home, &context->decoder, NULL, job->ended, &batch);
    batch.key = dft_key;
    if (batch.count)
        dft_drain_batch(context, &batch);
    dft_staging_flush(context);
    if (context->failed && context->keeps) {
        settle_regions(job->home, &batch, 0);
        return keep_records();
    }
    settle_regions(job->home, &batch, 1);
    for (uint32_t i = 0; i < DFT_BURSTS; i++)
        atomic_store_explicit(&job->home->bursts[i].call, DFT_CALL_NONE, memory_order_release);
    atomic_store_explicit(&job->home->bursts_taken, batch.last + 1, memory_order_release);
}

static int has_open(const struct dft_ring *home, const struct dft_ended *ended)
{
    if (ended->time_ns && atomic_load_explicit(&home->depth, memory_order_acquire))
        return 1;
    for (uint32_t i = 0; i < DFT_BURSTS; i++)
        if (atomic_load_explicit(&home->bursts[i].call, memory_order_acquire))
            return 1;
    return 0;
}

uint32_t dft_drain_open(struct dft_thread *thread, const struct dft_ended *ended)
{
    struct open_job job = {.ended = ended};
    uint32_t open = 1;

    dft_spin_lock(
        /* Otherwise two threads that end the process would give the same numbers to different
         * events. */
        &thread->lock);
    job.home = thread->home;
    if (atomic_load_explicit(&job.home->bursts_busy, memory_order_acquire))
        goto out;
    open = 0;
    if (!has_open(job.home, ended))
        goto out;
    job.context = dft_context_acquire();
    open = !job.context;
    if (open)
        goto out;
    dft_clock_update(&job.context->clock);
    dft_on_stack(job.context->stack_top, drain_open, &job);
    dft_context_release(job.context);
out:
    dft_spin_unlock(&thread->lock);
    return open;
}
