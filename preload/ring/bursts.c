/* SPDX-License-Identifier: MIT */
/* Owns the open bursts of threads: begins and ends them. */
#include "ring/bursts.h"

#include <string.h>

#include "format/live_format.h"
#include "settings/config.h"
#include "tables/fdtable.h"

/* Returns 0, or -1 when the bursts may not be touched now. */
static int lock(struct dft_ring *home)
{
    if (atomic_load_explicit(&home->bursts_busy, memory_order_relaxed))
        return -1;
    atomic_store_explicit(&home->bursts_busy, 1, memory_order_relaxed);
    __asm__ volatile("" : : : "memory");
    if (!*(volatile int *)&dft_late)
        return 0;
    atomic_store_explicit(&home->bursts_busy, 0, memory_order_release);
    return -1;
}

static void unlock(struct dft_ring *home)
{
    __asm__ volatile("" : : : "memory");
    atomic_store_explicit(&home->bursts_busy, 0, memory_order_release);
}

/* --- ending ----------------------------------------------------------------------------------- */

/* Locked. */
static void end_burst(struct dft_thread *self, uint32_t i)
{
    struct dft_burst *run = &self->home->bursts[i];

    if (atomic_load_explicit(&run->call, memory_order_relaxed)) { /* else the finaliser has it */
        dft_ring_put_run(self, run, run);
        atomic_store_explicit(&run->call, DFT_CALL_NONE, memory_order_release);
    }
    self->burst_keys[i] = 0;
    self->bursts_open--;
}

void dft_bursts_break(struct dft_thread *self, const void *stream, enum dft_call_number keep)
{
    uint64_t most = (UINT64_C(1) << 48) - 1, key = dft_bursts_key(stream, DFT_CALL_NONE);

    if (lock(self->home))
        return;
    for (uint32_t i = 0; i < DFT_BURSTS; i++)
        if (self->burst_keys[i] && (self->burst_keys[i] & most) == (key & most) &&
            self->burst_keys[i] != dft_bursts_key(stream, keep))
            end_burst(self, i);
    unlock(self->home);
}

enum dft_call_number dft_bursts_call(const struct dft_thread *self, const void *stream)
{
    for (uint32_t i = 0; i < DFT_BURSTS; i++) {
        uint64_t call = (self->burst_keys[i] ^ dft_bursts_key(stream, DFT_CALL_NONE)) >> 48;

        if (self->burst_keys[i] == dft_bursts_key(stream, (enum dft_call_number)call))
            return (enum dft_call_number)call;
    }
    return DFT_CALL_NONE;
}

void dft_bursts_end(struct dft_thread *self)
{
    if (!self->bursts_open || lock(self->home))
        return;
    for (uint32_t i = 0; i < DFT_BURSTS; i++)
        if (self->burst_keys[i])
            end_burst(self, i);
    unlock(self->home);
}

/* The old place stays locked: a finaliser that has just looked there looks again. */
int dft_bursts_move(struct dft_thread *self, struct dft_ring *to)
{
    struct dft_ring *from = self->home;

    if (lock(from))
        return -1;
    memcpy(to->bursts, from->bursts, sizeof to->bursts);
    for (uint32_t i = 0; i < DFT_BURSTS; i++)
        atomic_store_explicit(&from->bursts[i].call, DFT_CALL_NONE, memory_order_relaxed);
    atomic_store_explicit(&to->pauses, atomic_exchange(&from->pauses, 0), memory_order_relaxed);
    atomic_store_explicit(&to->paused_ns, atomic_exchange(&from->paused_ns, 0), memory_order_relaxed);
    atomic_store_explicit(&to->paused_since, atomic_exchange(&from->paused_since, 0), memory_order_relaxed);
    self->home = to;
    return 0;
}

/* --- beginning -------------------------------------------------------------------------------- */

/* Has the burst been open for as long as an interval of the aggregates? Then its next calls belong
 * to another interval. */
static int is_old(const struct dft_burst *run, uint64_t now)
{
    const struct dft_live *live =
        /* NULL in the child that a handler has just made, before the child notices the fork */
        dft_live;
    uint64_t ns = live ? (uint64_t)(((unsigned __int128)(now - run->start) * live->clock.mult) >> 32) : 0;

    return ns / 1000000u >= dft_config.trace_interval_ms;
}

/* Returns the place of the key's burst, or a free place, or the place of the oldest burst. The
 * oldest burst is ended. Locked. */
static uint32_t place(struct dft_thread *self, uint64_t key)
{
    uint32_t oldest = 0;

    for (uint32_t i = 0; i < DFT_BURSTS; i++) {
        if (self->burst_keys[i] && !atomic_load_explicit(&self->home->bursts[i].call, memory_order_relaxed))
            end_burst(self, i);
        if (self->burst_keys[i] == key)
            return i;
    }
    for (uint32_t i = 0; i < DFT_BURSTS; i++) {
        if (!self->burst_keys[i])
            return i;
        if (self->home->bursts[i].start < self->home->bursts[oldest].start)
            oldest = i;
    }
    end_burst(self, oldest);
    return oldest;
}

static void begin(struct dft_thread *self, uint32_t i, uint64_t key, const struct dft_burst *as, uint64_t word)
{
    struct dft_burst *run = &self->home->bursts[i];

    atomic_thread_fence(memory_order_release); /* the place's last burst was over before */
    atomic_store_explicit(&run->record, 0, memory_order_relaxed);
    atomic_store_explicit(&run->moved, atomic_load_explicit(&as->moved, memory_order_relaxed), memory_order_relaxed);
    run->io = as->io;
    run->file = as->file;
    run->start = as->start;
    run->duration = as->duration;
    run->offset = as->offset;
    run->fd = as->fd;
    run->bits = as->bits;
    run->region = dft_region_innermost(self, &run->depth);
    self->burst_words[i] = word;
    self->burst_keys[i] = key;
    self->bursts_open++;
    atomic_store_explicit(&run->call, atomic_load_explicit(&as->call, memory_order_relaxed), memory_order_release);
}

int dft_bursts_add(struct dft_thread *self, const void *stream, const struct dft_burst *more, uint64_t word,
                   uint64_t now)
{
    uint64_t key = dft_bursts_key(stream, atomic_load_explicit(&more->call, memory_order_relaxed));
    struct dft_burst *run;
    uint32_t i;

    if (self->bursts_open)
        dft_bursts_break(self, stream, atomic_load_explicit(&more->call, memory_order_relaxed));
    if (lock(self->home))
        return -1;
    i = place(self, key);
    run = &self->home->bursts[i];
    if (self->burst_keys[i] == key &&
        (self->burst_words[i] != word || !dft_bursts_has_room(run) || is_old(run, now) || more->bits & DFT_BIT_TURN ||
         (run->offset < 0) != (more->offset < 0) ||
         (run->offset >= 0 && run->offset + (int64_t)dft_burst_bytes(run) != more->offset)))
        end_burst(self, i);
    if (self->burst_keys[i] == key) {
        dft_bursts_count(run, atomic_load_explicit(&more->moved, memory_order_relaxed));
        run->duration += more->duration;
    } else {
        begin(self, i, key, more, word);
    }
    unlock(self->home);
    return 0;
}
