/* SPDX-License-Identifier: MIT */
/* Owns the characters that inlined code moved, and the marks of streams. */
#include "probe/inlined.h"

#include "os/bulk.h"
#include "probe/burst.h"
#include "probe/probe.h"

#define TRIES    8u
#define DETACHED DFT_FD_UNTRACED    /* as no word of a descriptor in the table */
#define MOST     (INT64_C(1) << 24) /* calls of one burst */

struct dft_inlined dft_inlined_streams[DFT_INLINED_STREAMS] DFT_BULK;

/* Places that a stream has, or had: few of all. */
static _Atomic uint64_t used[DFT_INLINED_STREAMS / 64];

/* How many places a stream may have at most so far. */
static _Atomic uint32_t tries = 1;

static struct dft_inlined *place(const FILE *stream, uint32_t tried)
{
    return &dft_inlined_streams[((uint32_t)(dft_inlined_place(stream) - dft_inlined_streams) + tried) %
                                DFT_INLINED_STREAMS];
}

/* The next place from *i on that a stream has. NULL: there is none. */
static struct dft_inlined *next_place(uint32_t *i)
{
    while (*i < DFT_INLINED_STREAMS) {
        uint64_t left = atomic_load_explicit(&used[*i / 64], memory_order_relaxed) >> *i % 64;
        struct dft_inlined *at;

        if (!left) {
            *i = (*i | 63) + 1;
            continue;
        }
        *i += (uint32_t)__builtin_ctzll(left);
        at = &dft_inlined_streams[(*i)++];
        if (atomic_load_explicit(&at->stream, memory_order_relaxed))
            return at;
    }
    return NULL;
}

static struct dft_inlined *find(const FILE *stream)
{
    for (uint32_t i = 0; i < atomic_load_explicit(&tries, memory_order_relaxed); i++)
        if (atomic_load_explicit(&place(stream, i)->stream, memory_order_relaxed) == stream)
            return place(stream, i);
    return NULL;
}

/* A forked child's words have another bit until the file's name is sent again. */
static uint64_t name_sent(uint64_t word)
{
    return word & ~(uint64_t)DFT_FD_UNNAMED;
}

/* Is the stream's descriptor what it was at the mark? Then the stream is not closed, and its memory
 * is there. */
static int is_open(const struct dft_inlined *at)
{
    uint64_t word = atomic_load_explicit(&at->word, memory_order_relaxed);

    return word & DFT_FD_TRACED && name_sent(dft_fd_word(atomic_load_explicit(&at->fd, memory_order_relaxed))) == word;
}

/* A place for the stream: a free one, or that of a stream that is gone. NULL: there is none, and what
 * inlined code moves is not known. */
static struct dft_inlined *claim(FILE *stream)
{
    for (uint32_t i = 0; i < TRIES; i++) {
        struct dft_inlined *at = place(stream, i);
        FILE *other = atomic_load_explicit(&at->stream, memory_order_relaxed);

        if ((other && is_open(at)) || !atomic_compare_exchange_strong(&at->stream, &other, stream))
            continue;
        atomic_fetch_or_explicit(&used[(at - dft_inlined_streams) / 64], UINT64_C(1) << (at - dft_inlined_streams) % 64,
                                 memory_order_relaxed);
        if (i >= atomic_load_explicit(&tries, memory_order_relaxed))
            atomic_store_explicit(&tries, i + 1, memory_order_relaxed);
        return at;
    }
    return NULL;
}

/* What one moment shows of a stream that no other thread moves or marks in it. */
struct view {
    uint32_t started;
    int64_t mark, offset, distance;
};

static int is_undisturbed(const struct view *view, const struct dft_open *open)
{
    return dft_is_single() || view->started == atomic_load_explicit(&open->started, memory_order_relaxed);
}

/* tickets: that the caller has. A flush takes none, and the pointers fall by it: so the mark is read before
 * them. Returns 0, or -1: another thread's call is under way. */
static int look(struct dft_inlined *at, const FILE *stream, struct dft_open *open, uint32_t tickets, struct view *view)
{
    view->started = atomic_load_explicit(&open->started, memory_order_acquire);
    if (!dft_is_single() && view->started != atomic_load_explicit(&open->finished, memory_order_acquire) + tickets)
        return -1;
    view->mark = atomic_load_explicit(&at->mark, memory_order_acquire);
    view->offset = atomic_load_explicit(&open->offset, memory_order_acquire);
    view->distance = dft_inlined_distance(stream, open);
    atomic_thread_fence(memory_order_acquire);
    return is_undisturbed(view, open) ? 0 : -1;
}

static void put(struct dft_thread *self, FILE *stream, struct dft_open *open, uint64_t word, enum dft_call_number call,
                enum dft_op op, int64_t offset, int64_t bytes, int64_t calls)
{
    const struct dft_probe probe = {.fd = dft_stream_fd(stream),
                                    .word = word,
                                    .open = open,
                                    .file = open->file,
                                    .class = dft_probe_class(open, op),
                                    .start = dft_ticks()};

    while (bytes > 0) {
        int64_t part = bytes < MOST ? bytes : MOST, counted = calls < part ? calls : part;

        dft_burst_add_inlined(self, &probe, call, stream, offset, dft_burst_pack((uint32_t)counted, (uint64_t)part),
                              dft_access_bits(open, op, offset, part));
        if (offset >= 0)
            offset += part;
        bytes -= part;
        calls -= counted;
    }
}

/* Takes what was moved from the stream's account. Returns 0 when another thread counts it, or will. */
static int take(struct dft_inlined *at, struct dft_open *open, int known, const struct view *view, int64_t gap)
{
    int64_t offset = view->offset, mark = view->mark;

    return known ? atomic_compare_exchange_strong_explicit(&open->offset, &offset, offset + gap, memory_order_relaxed,
                                                           memory_order_relaxed)
                 : atomic_compare_exchange_strong_explicit(&at->mark, &mark, mark + gap, memory_order_relaxed,
                                                           memory_order_relaxed);
}

struct dft_inlined *dft_inlined_count(FILE *stream, struct dft_open *open, uint64_t word, int64_t moved,
                                      uint32_t tickets)
{
    enum dft_op op = dft_stream_is_written(stream) ? DFT_OP_FPUTS : DFT_OP_FGETS;
    int known = dft_stream_is_known(stream, open);
    struct dft_inlined *at = find(stream);
    int64_t gap, back, waits;
    struct dft_thread *self;
    struct view view;

    if (!at || atomic_load_explicit(&at->word, memory_order_relaxed) != name_sent(word) || dft_vfork_mark)
        return NULL;
    if (look(at, stream, open, tickets, &view) || view.mark == DFT_INLINED_NONE)
        return at;
    gap = view.distance - moved - view.mark;
    /* Inlined code moves no further than the buffer. */
    if (gap <= 0 || gap > stream->_IO_buf_end - stream->_IO_buf_base || !(self = dft_thread_get()) ||
        !take(at, open, known, &view, gap))
        return at;
    atomic_fetch_or_explicit(&open->flags, DFT_OPEN_STREAM, memory_order_relaxed);
    if (word & DFT_FD_UNNAMED)
        dft_probe_resolve(dft_stream_fd(stream), word);
    back = atomic_load_explicit(&at->back, memory_order_relaxed);
    if (back > gap)
        back = gap;
    atomic_fetch_sub_explicit(&at->back, (int16_t)back, memory_order_relaxed);
    waits = atomic_exchange_explicit(&at->waits, 0, memory_order_relaxed);
    put(self, stream, open, word, op == DFT_OP_FPUTS ? DFT_CALL_putc : DFT_CALL_getc, op,
        known ? view.offset + back : -1, gap - back, gap - back - waits);
    return at;
}

void dft_inlined_count_scanned(FILE *stream, struct dft_open *open, uint64_t word, int64_t pointers, int64_t moved,
                               uint32_t tickets)
{
    struct dft_inlined *at = find(stream);
    int64_t position = dft_stream_position(stream), missing;
    struct dft_thread *self = dft_thread_get();
    enum dft_call_number call;
    struct view view;

    if (!self || dft_vfork_mark || position < 0)
        return;
    atomic_fetch_and_explicit(&open->flags, ~DFT_OPEN_SCANNED, memory_order_relaxed);
    if (!dft_stream_is_known(stream, open))
        return;
    if (!at || atomic_load_explicit(&at->word, memory_order_relaxed) != name_sent(word) ||
        look(at, stream, open, tickets, &view) || view.mark == DFT_INLINED_NONE) {
        atomic_fetch_or_explicit(&open->flags, DFT_OPEN_LOST, memory_order_relaxed);
        return;
    }
    missing = position - moved - view.offset - (view.distance - pointers - view.mark);
    if (missing <= 0)
        return;
    call = dft_bursts_call(self, stream);
    atomic_fetch_add_explicit(&open->offset, missing, memory_order_relaxed);
    atomic_fetch_sub_explicit(&at->mark, missing, memory_order_relaxed);
    put(self, stream, open, word, call ? call : DFT_CALL_fscanf, DFT_OP_FGETS, view.offset, missing, 0);
}

struct dft_inlined *dft_inlined_sync_slow(FILE *stream, struct dft_open *open, uint64_t word, uint32_t tickets)
{
    if (atomic_load_explicit(&open->flags, memory_order_relaxed) & DFT_OPEN_SCANNED)
        dft_inlined_count_scanned(stream, open, word, 0, 0, tickets);
    return dft_inlined_sync(stream, open, word, 0, tickets);
}

/* Two streams on one description move each other's offset, as another process would. */
static void share_if_used(const FILE *stream, struct dft_open *open)
{
    struct dft_inlined *at;

    for (uint32_t i = 0; (at = next_place(&i));)
        if (atomic_load_explicit(&at->stream, memory_order_relaxed) != stream && is_open(at) &&
            dft_fd_open(atomic_load_explicit(&at->word, memory_order_relaxed)) == open)
            atomic_fetch_or_explicit(&open->flags, DFT_OPEN_SHARED, memory_order_relaxed);
}

static void unmark(struct dft_inlined *at)
{
    atomic_store_explicit(&at->mark, DFT_INLINED_NONE, memory_order_relaxed);
    atomic_store_explicit(&at->word, 0, memory_order_relaxed);
}

/* Another call may begin meanwhile, and move the stream. Nobody believes the mark before such a call ends, and
 * the caller's ticket, if it has one, is returned. A call that ended has left its own mark, or found that it
 * could not. */
static void mark(struct dft_inlined *at, FILE *stream, struct dft_open *open, uint64_t word, uint32_t tickets)
{
    int64_t none = DFT_INLINED_NONE;
    struct view view;

    unmark(at);
    if (look(at, stream, open, tickets, &view) ||
        !atomic_compare_exchange_strong_explicit(&at->mark, &none, view.distance, memory_order_relaxed,
                                                 memory_order_relaxed))
        return;
    atomic_store_explicit(&at->fd, dft_stream_fd(stream), memory_order_relaxed);
    atomic_store_explicit(&at->word, name_sent(word), memory_order_release);
    if (dft_is_single())
        return;
    atomic_thread_fence(memory_order_seq_cst);
    if (!is_undisturbed(&view, open))
        unmark(at);
}

struct dft_inlined *dft_inlined_mark_slow(FILE *stream, struct dft_open *open, uint64_t word, uint32_t tickets)
{
    struct dft_inlined *at = find(stream);

    if (!at) {
        if (!(at = claim(stream)))
            return NULL;
        if (atomic_load_explicit(&open->references, memory_order_relaxed) > 1)
            share_if_used(stream, open);
    }
    if (atomic_load_explicit(&at->word, memory_order_relaxed) != name_sent(word)) {
        atomic_store_explicit(&at->back, 0, memory_order_relaxed);
        atomic_store_explicit(&at->waits, 0, memory_order_relaxed);
    }
    mark(at, stream, open, word, tickets);
    return at;
}

void dft_inlined_pushed_back(const FILE *stream, int64_t bytes)
{
    struct dft_inlined *at = find(stream);

    if (at && atomic_load_explicit(&at->back, memory_order_relaxed) < INT16_MAX - bytes)
        atomic_fetch_add_explicit(&at->back, (int16_t)bytes, memory_order_relaxed);
}

void dft_inlined_waits(const FILE *stream)
{
    struct dft_inlined *at = find(stream);

    if (!at)
        return;
    atomic_fetch_sub_explicit(&at->mark, 1, memory_order_relaxed);
    atomic_store_explicit(&at->waits, 1, memory_order_relaxed);
}

void dft_inlined_forget(const FILE *stream)
{
    struct dft_inlined *at = find(stream);

    if (!at)
        return;
    atomic_store_explicit(&at->mark, DFT_INLINED_NONE, memory_order_relaxed);
    atomic_store_explicit(&at->stream, NULL, memory_order_relaxed);
}

void dft_inlined_shift(const struct dft_open *open, int64_t by)
{
    struct dft_inlined *at;

    for (uint32_t i = 0; (at = next_place(&i));) {
        uint64_t word = atomic_load_explicit(&at->word, memory_order_relaxed);

        if (word & DFT_FD_TRACED && dft_fd_open(word) == open)
            atomic_fetch_sub_explicit(&at->mark, by, memory_order_relaxed);
    }
}

/* --- another file under the stream ------------------------------------------------------------ */

int dft_inlined_detached;

void dft_inlined_detach_slow(uint64_t word)
{
    struct dft_inlined *at;

    for (uint32_t i = 0; (at = next_place(&i));) {
        FILE *stream = atomic_load_explicit(&at->stream, memory_order_relaxed);

        if (!stream || atomic_load_explicit(&at->word, memory_order_relaxed) != name_sent(word))
            continue;
        dft_inlined_sync_slow(stream, dft_fd_open(word), word, 0);
        atomic_fetch_add_explicit(&at->mark, atomic_load_explicit(&dft_fd_open(word)->offset, memory_order_relaxed),
                                  memory_order_relaxed);
        atomic_store_explicit(&at->word, DETACHED, memory_order_relaxed);
        __atomic_store_n(&dft_inlined_detached, 1, __ATOMIC_RELAXED);
    }
}

/* The number is open again, on a file of no interest perhaps. */
void dft_inlined_attach_slow(int fd)
{
    uint64_t word = dft_fd_word(fd);
    struct dft_inlined *at;
    int others = 0;

    for (uint32_t i = 0; (at = next_place(&i));) {
        if (atomic_load_explicit(&at->word, memory_order_relaxed) != DETACHED)
            continue;
        if (atomic_load_explicit(&at->fd, memory_order_relaxed) != fd) {
            others = 1;
            continue;
        }
        if (!word)
            word = dft_probe_resolve(fd, 0);
        if (word & DFT_FD_TRACED)
            atomic_fetch_sub_explicit(&at->mark, atomic_load_explicit(&dft_fd_open(word)->offset, memory_order_relaxed),
                                      memory_order_relaxed);
        atomic_store_explicit(&at->word, word & DFT_FD_TRACED ? word : 0, memory_order_relaxed);
    }
    __atomic_store_n(&dft_inlined_detached, others, __ATOMIC_RELAXED);
}

/* --- all -------------------------------------------------------------------------------------- */

/* The next stream from this place on that is open; NULL: there is none. */
static FILE *next(uint32_t *i, uint64_t *word)
{
    struct dft_inlined *at;

    while ((at = next_place(i))) {
        FILE *stream = atomic_load_explicit(&at->stream, memory_order_relaxed);

        if (!stream || !is_open(at))
            continue;
        *word = dft_fd_word(atomic_load_explicit(&at->fd, memory_order_relaxed));
        return stream;
    }
    return NULL;
}

void dft_inlined_sync_all(void)
{
    uint64_t word;
    FILE *stream;

    for (uint32_t i = 0; (stream = next(&i, &word));)
        dft_inlined_sync_slow(stream, dft_fd_open(word), word, 0);
}

void dft_inlined_mark_all(void)
{
    uint64_t word;
    FILE *stream;

    for (uint32_t i = 0; (stream = next(&i, &word));)
        dft_inlined_mark_slow(stream, dft_fd_open(word), word, 0);
}
