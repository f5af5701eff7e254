/* SPDX-License-Identifier: MIT */
/* Owns the characters that inlined code moved. */
#include "probe/inlined.h"

#include "probe/burst.h"
#include "probe/probe.h"

#define STREAMS 16u

#define BUSY DFT_FD_UNTRACED /* as no word of a descriptor in the table */

/* Streams that may have moved since the last call that was seen. One that finds no room is counted
 * at its next call all the same. A stream is looked at only while its descriptor's word is that of
 * here: afterwards it may be closed, and its memory gone. */
static struct {
    _Atomic uint64_t word; /* 0: free */
    _Atomic(FILE *) stream;
    _Atomic int fd;
} streams[STREAMS];

static void note(FILE *stream, uint64_t word)
{
    for (uint32_t i = 0; i < STREAMS; i++) {
        uint64_t there = atomic_load_explicit(&streams[i].word, memory_order_acquire);

        if (there == word && atomic_load_explicit(&streams[i].stream, memory_order_relaxed) == stream)
            return;
        if (there == BUSY ||
            (there && dft_fd_word(atomic_load_explicit(&streams[i].fd, memory_order_relaxed)) == there) ||
            !atomic_compare_exchange_strong(&streams[i].word, &there, BUSY))
            continue;
        atomic_store_explicit(&streams[i].stream, stream, memory_order_relaxed);
        atomic_store_explicit(&streams[i].fd, dft_stream_fd(stream), memory_order_relaxed);
        atomic_store_explicit(&streams[i].word, word, memory_order_release);
        return;
    }
}

void dft_inlined_sync(FILE *stream, struct dft_open *open, uint64_t word)
{
    enum dft_op op = dft_stream_is_written(stream) ? DFT_OP_FPUTS : DFT_OP_FGETS;
    struct dft_probe probe = {.fd = dft_stream_fd(stream),
                              .word = word,
                              .open = open,
                              .file = open->file,
                              .class = dft_probe_class(open, op),
                              .start = dft_ticks()};
    uint32_t flags = atomic_load_explicit(&open->flags, memory_order_relaxed);
    int64_t offset = atomic_load_explicit(&open->offset, memory_order_relaxed), gap;
    struct dft_thread *self;

    if (flags & ~DFT_OPEN_KNOWN || dft_vfork_mark)
        return;
    gap = dft_stream_position(stream) - offset;
    if (gap > 1 << 24) /* more than one event can hold: what is left is counted next time */
        gap = 1 << 24;
    if (gap <= 0 || !(self = dft_thread_get()))
        return;
    if (!atomic_compare_exchange_strong_explicit(&open->offset, &offset, offset + gap, memory_order_relaxed,
                                                 memory_order_relaxed))
        return; /* another thread counts them, or will */
    dft_burst_add_inlined(self, &probe, op == DFT_OP_FPUTS ? DFT_CALL_putc : DFT_CALL_getc, stream, offset, gap,
                          dft_access_bits(open, op, offset, gap));
}

void dft_inlined_begin(FILE *stream, struct dft_probe *probe)
{
    dft_inlined_sync(stream, probe->open, probe->word);
    atomic_fetch_or_explicit(&probe->open->flags, DFT_OPEN_INLINED, memory_order_relaxed);
    note(stream, probe->word);
    probe->start = dft_ticks();
}

void dft_inlined_end_all(void)
{
    for (uint32_t i = 0; i < STREAMS; i++) {
        uint64_t word = atomic_load_explicit(&streams[i].word, memory_order_acquire);
        int fd = atomic_load_explicit(&streams[i].fd, memory_order_relaxed);

        if (word & DFT_FD_TRACED && dft_fd_word(fd) == word)
            dft_inlined_sync(atomic_load_explicit(&streams[i].stream, memory_order_relaxed), dft_fd_open(word), word);
    }
}
