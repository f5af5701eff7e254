/* Begins and ends runs: the slow parts of run.h. */
#include "ring/run.h"

#include <string.h>

#include "os/config.h"
#include "probe/convert.h"
#include "store/livefile.h"

#pragma GCC diagnostic ignored "-Woverride-init"
#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif

/* Returns 0, or -1: the runs may not be touched now. */
static int lock(struct dft_ring *home)
{
    if (atomic_load_explicit(&home->runs_busy, memory_order_relaxed))
        return -1;
    atomic_store_explicit(&home->runs_busy, 1, memory_order_relaxed);
    __asm__ volatile("" : : : "memory");
    if (!*(volatile int *)&dft_late)
        return 0;
    atomic_store_explicit(&home->runs_busy, 0, memory_order_release);
    return -1;
}

static void unlock(struct dft_ring *home)
{
    __asm__ volatile("" : : : "memory");
    atomic_store_explicit(&home->runs_busy, 0, memory_order_release);
}

/* --- ending ------------------------------------------------------------------------------------------------------- */

/* The end of the run's last access is that of its description, if that is still there. */
static void settle(struct dft_thread *self, uint32_t i, const struct dft_run *run)
{
    if (run->offset >= 0 && dft_fd_word(run->fd) == self->run_words[i])
        atomic_store_explicit(&dft_fd_open(self->run_words[i])->last_end, run->offset + (int64_t)dft_run_bytes(run),
                              memory_order_relaxed);
}

/* Locked. */
static void end_run(struct dft_thread *self, uint32_t i)
{
    struct dft_run *run = &self->home->runs[i];

    if (atomic_load_explicit(&run->call, memory_order_relaxed)) { /* else the finaliser has taken it */
        settle(self, i, run);
        dft_ring_put_run(self, run, run);
        atomic_store_explicit(&run->call, DFT_CALL_NONE, memory_order_release);
    }
    self->run_keys[i] = 0;
    self->runs_open--;
}

void dft_run_break(struct dft_thread *self, const FILE *stream, enum dft_call_number keep)
{
    uint64_t most = (UINT64_C(1) << 48) - 1, key = dft_run_key(stream, DFT_CALL_NONE);

    if (lock(self->home))
        return;
    for (uint32_t i = 0; i < DFT_RUNS; i++)
        if (self->run_keys[i] && (self->run_keys[i] & most) == (key & most) &&
            self->run_keys[i] != dft_run_key(stream, keep))
            end_run(self, i);
    unlock(self->home);
}

void dft_run_break_all(struct dft_thread *self)
{
    if (!self->runs_open || lock(self->home))
        return;
    for (uint32_t i = 0; i < DFT_RUNS; i++)
        if (self->run_keys[i])
            end_run(self, i);
    unlock(self->home);
}

/* Where they were stays locked: a finaliser that has just looked there looks again. */
int dft_run_move_all(struct dft_thread *self, struct dft_ring *to)
{
    struct dft_ring *from = self->home;

    if (lock(from))
        return -1;
    memcpy(to->runs, from->runs, sizeof to->runs);
    for (uint32_t i = 0; i < DFT_RUNS; i++)
        atomic_store_explicit(&from->runs[i].call, DFT_CALL_NONE, memory_order_relaxed);
    self->home = to;
    return 0;
}

/* --- beginning ---------------------------------------------------------------------------------------------------- */

/* Has it been open for as long as an interval of the aggregates? Then its calls belong to another one. */
static int is_old(const struct dft_run *run, uint64_t now)
{
    const struct dft_live *live =
        dft_live; /* none in the child that a handler has just made, which knows nothing yet */
    uint64_t ns = live ? (uint64_t)(((unsigned __int128)(now - run->start) * live->clock.mult) >> 32) : 0;

    return ns / 1000000u >= dft_config.trace_interval_ms;
}

/* The place of the key's run, of one that is free, or of the oldest, which is ended. Locked. */
static uint32_t place(struct dft_thread *self, uint64_t key)
{
    uint32_t oldest = 0;

    for (uint32_t i = 0; i < DFT_RUNS; i++) {
        if (self->run_keys[i] && !atomic_load_explicit(&self->home->runs[i].call, memory_order_relaxed))
            end_run(self, i);
        if (self->run_keys[i] == key)
            return i;
    }
    for (uint32_t i = 0; i < DFT_RUNS; i++) {
        if (!self->run_keys[i])
            return i;
        if (self->home->runs[i].start < self->home->runs[oldest].start)
            oldest = i;
    }
    end_run(self, oldest);
    return oldest;
}

static void begin(struct dft_thread *self, uint32_t i, uint64_t key, const struct dft_run *as, uint64_t word)
{
    struct dft_run *run = &self->home->runs[i];

    atomic_store_explicit(&run->record, 0, memory_order_relaxed);
    atomic_store_explicit(&run->moved, atomic_load_explicit(&as->moved, memory_order_relaxed), memory_order_relaxed);
    run->file = as->file;
    run->start = as->start;
    run->duration = as->duration;
    run->offset = as->offset;
    run->fd = as->fd;
    run->bits = as->bits;
    run->region = dft_region_innermost(self, &run->depth);
    self->run_words[i] = word;
    self->run_keys[i] = key;
    self->runs_open++;
    atomic_store_explicit(&run->call, atomic_load_explicit(&as->call, memory_order_relaxed), memory_order_release);
}

/* Adds `more`, a run of one call, to the open run of its key, or begins one with it.
 * Returns 0, or -1: there can be none now. */
static int add(struct dft_thread *self, const FILE *stream, const struct dft_run *more, uint64_t word, uint64_t now)
{
    uint64_t key = dft_run_key(stream, atomic_load_explicit(&more->call, memory_order_relaxed));
    struct dft_run *run;
    uint32_t i;

    if (self->runs_open)
        dft_run_break(self, stream, atomic_load_explicit(&more->call, memory_order_relaxed));
    if (lock(self->home))
        return -1;
    i = place(self, key);
    run = &self->home->runs[i];
    if (self->run_keys[i] == key && (self->run_words[i] != word || !dft_run_has_room(run) || is_old(run, now) ||
                                     (run->offset < 0) != (more->offset < 0) ||
                                     (run->offset >= 0 && run->offset + (int64_t)dft_run_bytes(run) != more->offset)))
        end_run(self, i);
    if (self->run_keys[i] == key) {
        dft_run_add(run, atomic_load_explicit(&more->moved, memory_order_relaxed));
        run->duration += more->duration;
    } else {
        begin(self, i, key, more, word);
    }
    unlock(self->home);
    return 0;
}

void dft_run_add_timed(struct dft_thread *self, const struct dft_probe *probe, enum dft_call_number call,
                       const FILE *stream, int64_t offset, int64_t moved, uint64_t end, uint8_t bits)
{
    struct dft_run one = {.call = call,
                          .moved = dft_run_pack(1, (uint64_t)moved),
                          .file = probe->file,
                          .start = probe->start,
                          .duration = dft_ticks_between(probe->start, end),
                          .offset = offset,
                          .fd = probe->fd,
                          .bits = bits};

    if (moved > DFT_RUN_LINE || add(self, stream, &one, probe->word, end))
        dft_ring_put_run(self, &one, NULL);
}

void dft_run_add_inlined(struct dft_thread *self, const struct dft_probe *probe, enum dft_call_number call,
                         const FILE *stream, int64_t offset, int64_t moved, uint8_t bits)
{
    struct dft_run many = {.call = call,
                           .moved = dft_run_pack((uint32_t)moved, (uint64_t)moved),
                           .file = probe->file,
                           .start = probe->start,
                           .offset = offset,
                           .fd = probe->fd,
                           .bits = bits};

    if (add(self, stream, &many, probe->word, probe->start))
        dft_ring_put_run(self, &many, NULL);
}

/* --- quick calls that no open run takes --------------------------------------------------------------------------- */

void dft_run_begin_quick(enum dft_call_number call, enum dft_op op, const struct dft_run_call *quick, int64_t moved)
{
    FILE *stream = quick->stream;
    struct dft_probe probe = {.fd = dft_stream_fd(stream), .start = dft_ticks()};
    struct dft_thread *self;
    int64_t offset;
    int error = errno;

    probe.word = dft_fd_word(probe.fd);
    if (probe.word & DFT_FD_TRACED && (self = dft_thread_get())) {
        probe.open = dft_fd_open(probe.word);
        probe.file = probe.open->file;
        offset = dft_stream_offset(stream, probe.open, dft_run_turn_is_alone(quick), op, moved);
        offset = dft_stream_settle(offset, dft_run_turn_is_alone(quick));
        dft_run_add_timed(self, &probe, call, stream, offset, moved, probe.start,
                          dft_access_bits(probe.open, offset, moved));
    }
    errno = error;
}

/* Without a time: nobody looked at the clock before it. */
static void record_failure(enum dft_call_number call, enum dft_op op, const struct dft_run_call *quick, int error)
{
    const struct dft_call_args args = DFT_ARGS(.stream = quick->stream, .size = quick->size);
    struct dft_probe probe = {.fd = dft_stream_fd(quick->stream), .start = dft_ticks(), .word = quick->word};
    struct dft_thread *self = dft_thread_get();

    if (!self || dft_fd_word(probe.fd) != quick->word)
        return;
    probe.open = dft_fd_open(quick->word);
    probe.file = probe.open->file;
    if (self->runs_open)
        dft_run_break(self, quick->stream, DFT_CALL_NONE);
    dft_end_data(&probe, call, op, &args, 0, 0, error);
}

void dft_run_finish_unsure(enum dft_call_number call, enum dft_op op, const struct dft_run_call *quick, int64_t raw,
                           int pointer)
{
    const struct dft_call_args args = DFT_ARGS(.stream = quick->stream, .text = quick->text, .size = quick->size,
                                               .newline = quick->newline, .character = !quick->text);
    int error = errno, failed;
    int64_t moved = dft_result_of_text(op, &args, raw, pointer, &failed);

    if (failed) {
        record_failure(call, op, quick, error);
    } else {
        if (op == DFT_OP_FGETS && quick->text && raw)
            moved = dft_stream_line(dft_fd_open(quick->word), quick->stream, quick->text, quick->size);
        dft_run_begin_quick(call, op, quick, moved);
    }
    errno = error;
}
