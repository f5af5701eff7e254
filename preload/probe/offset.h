/* SPDX-License-Identifier: MIT */
/* Where calls happen: the offset of a description that calls move, by tickets that calls take, and
 * the position of a stream. Exact, or -1. */
#ifndef DFT_OFFSET_H
#define DFT_OFFSET_H

#include "os/self.h"
#include "probe/call.h"
#include "format/event.h"
#include "format/live_format.h"
#include "format/ops.h"
#include "probe/probe_fd.h"

static inline uint32_t dft_ticket_add(_Atomic uint32_t *tickets)
{
#if defined(__x86_64__)
    uint32_t one = 1;

    if (dft_is_single()) {
        __asm__ volatile("xaddl %0, %1" : "+r"(one), "+m"(*(uint32_t *)tickets) : : "memory", "cc");
        return one;
    }
#endif
    return atomic_fetch_add_explicit(tickets, 1, memory_order_acq_rel);
}

static inline int dft_stream_fd(const FILE *stream)
{
    return stream ? stream->_fileno : -1;
}

static inline void dft_offset_begin(struct dft_probe *probe, enum dft_op op)
{
    probe->started = dft_ticket_add(&probe->open->started);
    probe->finished = atomic_load_explicit(&probe->open->finished, memory_order_acquire);
    probe->asked = 0;
    if (__builtin_expect(
            atomic_load_explicit(&probe->open->flags, memory_order_relaxed) || probe->started != probe->finished, 0)) {
        struct dft_probe copy = *probe;

        probe->offset = dft_probe_ask_offset(&copy, op);
        probe->asked = copy.asked;
        return;
    }
    probe->offset = atomic_load_explicit(&probe->open->offset, memory_order_relaxed);
}

/* The word is still that of before the call: the description is the same. */
static inline int dft_probe_is_same(const struct dft_probe *probe)
{
    return atomic_load_explicit(probe->place, memory_order_acquire) == probe->word;
}

/* No call of another began between the beginning of this one and now, and none was under way. */
static inline int dft_ticket_is_alone(const struct dft_probe *probe)
{
    return probe->started == probe->finished &&
           atomic_load_explicit(&probe->open->started, memory_order_acquire) == probe->started + 1;
}

/* Where a call that moved the offset by `moved` bytes happened. When another began or did not end meanwhile (it runs in
 * another thread, or was cancelled, or left by a longjmp), the kernel is queried; -1: others moved it at the same time.
 *
 * The ticket is returned when the offset stands in the description: who begins before that is not alone, and queries
 * the kernel. */
static inline int64_t dft_offset_end(struct dft_probe *probe, int64_t moved)
{
    struct dft_open *open = probe->open;
    int64_t offset = probe->offset;
    int alone;

    if (!dft_probe_is_same(probe))
        return -1;
    alone = dft_ticket_is_alone(probe);
    if (__builtin_expect(!alone || probe->asked || atomic_load_explicit(&open->flags, memory_order_relaxed), 0)) {
        struct dft_probe copy = *probe;

        offset = dft_probe_settle_offset(&copy, moved, alone);
    } else {
        atomic_store_explicit(&open->offset, offset + moved, memory_order_relaxed);
    }
    dft_ticket_add(&open->finished);
    return offset;
}

static inline void dft_ticket_begin(struct dft_probe *probe)
{
    probe->started = dft_ticket_add(&probe->open->started);
    probe->finished = atomic_load_explicit(&probe->open->finished, memory_order_acquire);
}

static inline void dft_seek_end(const struct dft_probe *probe, int64_t offset)
{
    struct dft_open *open = probe->open;
    int alone;

    if (!dft_probe_is_same(probe))
        return;
    alone = dft_ticket_is_alone(probe);
    if (__builtin_expect(!alone || atomic_load_explicit(&open->flags, memory_order_relaxed), 0)) {
        const struct dft_probe copy = *probe;

        dft_seek_end_slow(&copy, offset, alone);
    } else if (offset >= 0) {
        atomic_store_explicit(&open->offset, offset, memory_order_relaxed);
    }
    dft_ticket_add(&open->finished);
}

static inline int dft_offset_is_overridden(const struct dft_open *open, enum dft_op op,
                                           const struct dft_call_args *args)
{
    return args->offset == -1 ||
           (op == DFT_OP_PWRITE &&
            (args->flags & RWF_APPEND || atomic_load_explicit(&open->flags, memory_order_relaxed) & DFT_OPEN_APPEND));
}

/* Where an access lies, seen from the description's last one: DFT_BIT_*, and DFT_SLOT_TURN. It is the
 * last one now, if it moved bytes. */
static inline __attribute__((always_inline)) uint32_t dft_access_marks(struct dft_open *open, enum dft_op op,
                                                                       int64_t offset, int64_t moved)
{
    enum dft_way way = dft_op_class(op) == DFT_CLASS_WRITE ? DFT_WAY_WRITES : DFT_WAY_READS;
    uint32_t marks = 0;

    if (__builtin_expect(atomic_load_explicit(&open->way, memory_order_relaxed) != way, 0) && moved > 0)
        marks = dft_access_turn(open, way);
    if (__builtin_expect(offset < 0, 0))
        return marks;
    if (__builtin_expect(offset != atomic_load_explicit(&open->last_end, memory_order_relaxed) || moved <= 0, 0))
        return marks | dft_access_elsewhere(open, offset, moved);
    atomic_store_explicit(&open->start_before, atomic_load_explicit(&open->last_start, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&open->last_start, offset, memory_order_relaxed);
    atomic_store_explicit(&open->last_end, offset + moved, memory_order_relaxed);
    return marks | DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE;
}

/* Such marks as the bits of an event. */
static inline uint8_t dft_event_bits(uint32_t marks)
{
    return (uint8_t)((marks & 31) | (marks & DFT_SLOT_TURN) >> 10);
}

static inline uint8_t dft_access_bits(struct dft_open *open, enum dft_op op, int64_t offset, int64_t moved)
{
    return dft_event_bits(dft_access_marks(open, op, offset, moved));
}

/* Where several threads are, data calls on a stream take tickets, too: of two at the same time nobody
 * knows which was first. */
static inline void dft_stream_ticket_begin(struct dft_probe *probe)
{
    probe->counted = !dft_is_single();
    if (probe->counted)
        dft_ticket_begin(probe);
}

static inline int dft_stream_ticket_is_alone(const struct dft_probe *probe)
{
    return !probe->counted || dft_ticket_is_alone(probe);
}

static inline void dft_stream_ticket_end(const struct dft_probe *probe)
{
    if (dft_probe_is_same(probe))
        dft_ticket_add(&probe->open->finished);
}

static inline int64_t dft_stream_offset(const FILE *stream, struct dft_open *open, int alone, enum dft_op op,
                                        int64_t moved)
{
    int64_t offset;

    if (__builtin_expect(!alone || atomic_load_explicit(&open->flags, memory_order_relaxed) != DFT_OPEN_STREAM, 0))
        return dft_stream_offset_slow(stream, open, alone, op, moved);
    if (!dft_is_single()) /* whose addition comes first shows in who has begun: dft_stream_settle */
        return atomic_fetch_add_explicit(&open->offset, moved, memory_order_acq_rel);
    offset = atomic_load_explicit(&open->offset, memory_order_relaxed);
    atomic_store_explicit(&open->offset, offset + moved, memory_order_relaxed);
    return offset;
}

/* A call that was alone when it looked, and is not any more: the other may have added what it moved
 * first, so where this one happened is not known. The sum is right all the same. */
static inline int64_t dft_stream_settle(int64_t offset, int still_alone)
{
    return __builtin_expect(still_alone, 1) ? offset : -1;
}

#endif
