/* Owns the characters that inlined code moved. */
#include "inlined.h"

#include "run.h"

#define STREAMS 16u

/* Streams that may have moved since the last call that was seen. One that finds no room is counted at its next call all the same. */
static struct {
    _Atomic(FILE *) stream;
    _Atomic uint64_t word;
} streams[STREAMS];

static void note(FILE *stream, uint64_t word)
{
    for (uint32_t i = 0; i < STREAMS; i++) {
        uint64_t there = atomic_load_explicit(&streams[i].word, memory_order_relaxed);
        FILE *other = atomic_load_explicit(&streams[i].stream, memory_order_relaxed);

        if (there == word && other == stream)
            return;
        if ((!other || dft_fd_word(dft_stream_fd(other)) != there) &&
            atomic_compare_exchange_strong(&streams[i].word, &there, word)) {
            atomic_store_explicit(&streams[i].stream, stream, memory_order_release);
            return;
        }
    }
}

void dft_inlined_sync(FILE *stream, struct dft_open *open, uint64_t word)
{
    struct dft_probe probe = {
        .fd = dft_stream_fd(stream), .word = word, .open = open, .file = open->file, .start = dft_ticks()};
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
    atomic_store_explicit(&open->offset, offset + gap, memory_order_relaxed);
    dft_run_add_inlined(self, &probe, dft_stream_is_written(stream) ? DFT_CALL_putc : DFT_CALL_getc, stream, offset,
                        gap, dft_access_bits(open, offset, gap));
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
        FILE *stream = atomic_load_explicit(&streams[i].stream, memory_order_acquire);
        uint64_t word = atomic_load_explicit(&streams[i].word, memory_order_relaxed);

        if (stream && word & DFT_FD_TRACED && dft_fd_word(dft_stream_fd(stream)) == word)
            dft_inlined_sync(stream, dft_fd_open(word), word);
    }
}
