/* SPDX-License-Identifier: MIT */
/* Owns the records of bursts: the slow parts of burst.h. */
#include "probe/burst.h"

#include <string.h>

#include "probe/convert.h"

/* All calls of a burst have one access: a call that jumps is an event of its own. */
static int goes_on(const struct dft_burst *burst)
{
    return burst->offset < 0 || dft_bits_are_consecutive(burst->bits);
}

static void add(struct dft_thread *self, const FILE *stream, const struct dft_burst *burst, uint64_t word, uint64_t end,
                int alone)
{
    if (alone || !goes_on(burst)) {
        if (self->bursts_open)
            dft_bursts_break(self, stream, DFT_CALL_NONE);
    } else if (!dft_bursts_add(self, stream, burst, word, end)) {
        return;
    }
    dft_ring_put_run(self, burst, NULL);
}

void dft_burst_add_timed(struct dft_thread *self, const struct dft_probe *probe, enum dft_call_number call,
                         const FILE *stream, int64_t offset, int64_t moved, uint64_t end, uint8_t bits)
{
    struct dft_burst one = {.call = call,
                            .moved = dft_burst_pack(1, (uint64_t)moved),
                            .io = probe->class >> DFT_SLOT_IO_SHIFT,
                            .file = probe->file,
                            .start = probe->start,
                            .duration = dft_ticks_between(probe->start, end),
                            .offset = offset,
                            .fd = probe->fd,
                            .bits = bits};

    add(self, stream, &one, probe->word, end, moved > DFT_BURST_LINE_MAX);
}

void dft_burst_add_inlined(struct dft_thread *self, const struct dft_probe *probe, enum dft_call_number call,
                           const FILE *stream, int64_t offset, uint64_t moved, uint8_t bits)
{
    struct dft_burst many = {.call = call,
                             .moved = moved,
                             .io = probe->class >> DFT_SLOT_IO_SHIFT,
                             .file = probe->file,
                             .start = probe->start,
                             .offset = offset,
                             .fd = probe->fd,
                             .bits = bits};
    const uint32_t calls = dft_burst_calls(&many);

    if (!goes_on(&many) && calls > 1) { /* the others go on from the first one */
        dft_burst_add_inlined(self, probe, call, stream, offset, dft_burst_pack(1, 1), bits);
        many.moved = dft_burst_pack(calls - 1, dft_burst_bytes(&many) - 1);
        many.offset++;
        many.bits = DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE;
    }
    add(self, stream, &many, probe->word, probe->start, 0);
}

/* --- quick calls that no open run takes ------------------------------------------------------- */

/* What was moved before the call, which moved so many bytes; -1: not known yet. A call on one character moves
 * one pointer, and others may move both. */
static struct dft_inlined *count_before(enum dft_op op, const struct dft_burst_call *quick, struct dft_open *open,
                                        int64_t moved)
{
    const char *get = DFT_STREAM_POINTER(quick->stream, read_ptr);
    const char *put = DFT_STREAM_POINTER(quick->stream, write_ptr);
    int64_t pointers = (op == DFT_OP_FGETS ? get : put) - quick->mark.at;

    if (!quick->character)
        pointers += (op == DFT_OP_FGETS ? put : get) - quick->other;
    if (moved >= 0 && atomic_load_explicit(&open->flags, memory_order_relaxed) & DFT_OPEN_SCANNED)
        dft_inlined_count_scanned(quick->stream, open, quick->word, pointers, moved, (uint32_t)quick->counted);
    return dft_inlined_sync(quick->stream, open, quick->word, pointers, (uint32_t)quick->counted);
}

void dft_burst_begin_quick(enum dft_call_number call, enum dft_op op, const struct dft_burst_call *quick, int64_t moved)
{
    FILE *stream = quick->stream;
    struct dft_probe probe = {.fd = dft_stream_fd(stream), .start = dft_ticks()};
    struct dft_inlined *inlined;
    struct dft_thread *self;
    int64_t offset;
    int error = errno;

    probe.word = dft_fd_word(probe.fd);
    if (probe.word & DFT_FD_TRACED && (self = dft_thread_get())) {
        probe.open = dft_fd_open(probe.word);
        probe.file = probe.open->file;
        probe.class = dft_probe_class(probe.open, op);
        inlined = count_before(op, quick, probe.open, moved);
        offset = dft_stream_offset(stream, probe.open, dft_burst_ticket_is_alone(quick), op, moved);
        offset = dft_stream_settle(offset, dft_burst_ticket_is_alone(quick));
        dft_burst_add_timed(self, &probe, call, stream, offset, moved, probe.start,
                            dft_access_bits(probe.open, op, offset, moved));
        dft_inlined_mark(op, inlined, stream, probe.open, probe.word, (uint32_t)quick->counted);
    }
    errno = error;
}

/* Without a time: nobody looked at the clock before it. */
static void record_failure(enum dft_call_number call, enum dft_op op, const struct dft_burst_call *quick, int error)
{
    const struct dft_call_args args = DFT_ARGS(.stream = quick->stream, .size = quick->size);
    struct dft_probe probe = {.fd = dft_stream_fd(quick->stream), .start = dft_ticks(), .word = quick->word};
    struct dft_thread *self = dft_thread_get();

    if (!self || dft_fd_word(probe.fd) != quick->word)
        return;
    probe.place = dft_fd_place(probe.fd);
    probe.open = dft_fd_open(quick->word);
    probe.file = probe.open->file;
    probe.class = dft_probe_class(probe.open, op);
    if (self->bursts_open)
        dft_bursts_break(self, quick->stream, DFT_CALL_NONE);
    dft_end_data(&probe, call, op, &args, 0, 0, error);
    dft_inlined_mark(op, NULL, quick->stream, probe.open, quick->word, (uint32_t)quick->counted);
}

void dft_burst_finish_unsure(enum dft_call_number call, enum dft_op op, const struct dft_burst_call *quick, int64_t raw,
                             int pointer)
{
    const struct dft_call_args args = DFT_ARGS(.stream = quick->stream, .text = quick->text, .size = quick->size,
                                               .newline = quick->newline, .character = quick->character);
    int error = errno, failed;
    int64_t moved = dft_result_of_text(op, &args, raw, pointer, &failed);
    struct dft_stream_mark mark = quick->mark;

    count_before(op, quick, dft_fd_open(quick->word), failed || quick->measured ? -1 : moved);
    if (failed) {
        record_failure(call, op, quick, error);
    } else {
        mark.base = DFT_STREAM_POINTER(quick->stream, read_base);
        if (quick->measured)
            moved = dft_burst_ticket_is_alone(quick) ? dft_stream_measure(quick->stream, dft_fd_open(quick->word),
                                                                          dft_stream_guess(quick->stream, &quick->mark))
                                                     : 0;
        else if (op == DFT_OP_FGETS && quick->text && raw)
            moved = dft_stream_line(dft_fd_open(quick->word), quick->stream, quick->text, quick->size,
                                    dft_burst_ticket_is_alone(quick) ? &mark : NULL);
        dft_burst_begin_quick(call, op, quick, moved);
    }
    errno = error;
}
