/* SPDX-License-Identifier: MIT */
/* Owns the choice between events and aggregates while the process runs: the settings, `dftmerge
 * control`, and the limits of cost and size.
 *
 * WHAT IS COUNTED against DFTRACER_MAX_OVERHEAD_PERCENT: the processor time of drains and flushes; and
 * for each recorded call four readings of the clock, whose time is measured once. A call reads the
 * clock twice, and what else is done around it takes about as long again. Time by the clock would
 * grow where threads wait for a processor, and the program's processor time would not. */
#include "rows/mode.h"

#include <string.h>
#include <time.h>

#include "os/clock.h"
#include "settings/config.h"
#include "os/sys.h"
#include "rows/governor.h"
#include "rows/own_time.h"
#include "rows/rows.h"
#include "store/kept.h"
#include "store/tracefile.h"

#define READINGS_OF_CALL 4u
#define READINGS         256u /* that are measured, in each of ROUNDS */
#define ROUNDS           4u
#define RESERVE_LEAST    16384u
#define RESERVE_PART     16u

static uint32_t wanted; /* atomic: enum dft_keep */
static enum dft_keep by_settings;
static struct dft_spin lock; /* guards all below */
static enum dft_keep controlled;
static int is_controlled, is_full;
static struct dft_governor governor;

enum dft_keep dft_mode_wanted(void)
{
    return (enum dft_keep)__atomic_load_n(&wanted, __ATOMIC_RELAXED);
}

static void want(enum dft_keep keep, enum dft_keep_why why)
{
    if (dft_kept_note(keep, why) == 0)
        __atomic_store_n(&wanted, keep, __ATOMIC_RELAXED);
}

/* Puts together what the parts have decided. After many changes the process stays with aggregates. */
static void settle(enum dft_keep_why why)
{
    enum dft_keep keep = is_controlled ? controlled : by_settings;

    if (is_full || governor.aggregates)
        keep = DFT_KEEP_AGGREGATES;
    if (keep != dft_mode_wanted() && (keep == DFT_KEEP_AGGREGATES || dft_kept_has_room()))
        want(keep, why);
}

/* --- limits ----------------------------------------------------------------------------------- */

/* The best of several: a thread may be interrupted. */
static uint64_t measure_call(void)
{
    uint64_t best_ns = UINT64_MAX;
    volatile uint64_t sink;

    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t begin_ns = dft_clock_monotonic_ns(), ns;

        for (unsigned i = 0; i < READINGS; i++)
            sink = dft_ticks();
        ns = dft_clock_monotonic_ns() - begin_ns;
        (void)sink;
        best_ns = ns < best_ns ? ns : best_ns;
    }
    return best_ns * READINGS_OF_CALL / READINGS + 1;
}

/* Calls that are counted in blocks, or wait in tables. */
static uint64_t count_calls(void)
{
    uint64_t calls = atomic_load(&dft_live->events);

    for (struct dft_thread *thread = __atomic_load_n(&dft_threads, __ATOMIC_ACQUIRE); thread; thread = thread->next)
        calls += dft_rows_waiting(thread);
    return calls;
}

static int govern(void)
{
    struct dft_governor_now now = {.time_ns = dft_clock_monotonic_ns()};

    if (!dft_config.max_overhead_percent || now.time_ns - governor.last.time_ns < DFT_GOVERNOR_WINDOW_NS)
        return 0;
    now.cpu_ns = dft_processor_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (!governor.call_ns)
        governor.call_ns = measure_call();
    now.drain_ns = dft_own_time_ns();
    now.calls = count_calls();
    return dft_governor_decide(&governor, &now, (unsigned)dft_config.max_overhead_percent);
}

/* Room is left for rows and for the end. */
static int fills(void)
{
    uint64_t limit = dft_config.max_trace_bytes, reserve = limit / RESERVE_PART;

    if (!limit || is_full)
        return 0;
    reserve = reserve > RESERVE_LEAST ? reserve : RESERVE_LEAST;
    return __atomic_load_n(&dft_tracefile_bytes, __ATOMIC_RELAXED) + reserve >= limit;
}

static void decide(void)
{
    if (!dft_spin_try(&lock))
        return;
    if (fills()) {
        is_full = 1;
        settle(DFT_KEEP_WHY_BYTES);
    }
    if (govern())
        settle(DFT_KEEP_WHY_OVERHEAD);
    dft_spin_unlock(&lock);
}

/* --- changes ---------------------------------------------------------------------------------- */

void dft_mode_begin(void)
{
    by_settings = dft_config.enable_aggregation                              ? DFT_KEEP_AGGREGATES
                  : dft_config.aggregation_type == DFT_AGGREGATION_SELECTIVE ? DFT_KEEP_SELECTED
                                                                             : DFT_KEEP_EVENTS;
    if (by_settings != DFT_KEEP_EVENTS)
        want(by_settings, DFT_KEEP_WHY_SETTINGS);
}

void dft_mode_forked(void)
{
    lock.held = 0;
    is_controlled = is_full = 0;
    governor = (struct dft_governor){.call_ns = governor.call_ns};
    wanted = by_settings;
}

enum dft_controlled dft_mode_control(enum dft_keep keep)
{
    struct dft_signals before = dft_signals_block();
    enum dft_controlled result = DFT_CONTROLLED_ALREADY;

    dft_spin_lock(&lock);
    if (keep != dft_mode_wanted()) {
        is_controlled = 1;
        controlled = keep;
        settle(DFT_KEEP_WHY_CONTROL);
        result = dft_mode_wanted() == keep ? DFT_CONTROLLED_DONE : DFT_CONTROLLED_LIMITED;
    }
    dft_spin_unlock(&lock);
    dft_signals_restore(before);
    return result;
}

/* In a pause all calls go to the ring, which then keeps none. */
static uint32_t wanted_of(const struct dft_thread *thread)
{
    static const uint32_t modes[DFT_KEEP_COUNT] = {[DFT_KEEP_EVENTS] = DFT_MODE_EVENTS,
                                                   [DFT_KEEP_SELECTED] = DFT_MODE_RULES,
                                                   [DFT_KEEP_AGGREGATES] = DFT_MODE_ROWS};

    return dft_thread_pause_of_ring(thread) ? DFT_MODE_EVENTS : modes[dft_mode_wanted()];
}

uint32_t dft_mode_of(const struct dft_thread *thread)
{
    return thread->rows ? wanted_of(thread) : DFT_MODE_EVENTS;
}

void dft_mode_update(struct dft_thread *self)
{
    uint32_t mode;

    if (dft_is_sandboxed() || dft_in_vfork_child())
        return;
    if (dft_config.max_overhead_percent || dft_config.max_trace_bytes) {
        struct dft_signals before = dft_signals_block(); /* a handler's drain would wait for our locks */

        decide();
        dft_signals_restore(before);
    }
    mode = wanted_of(self);
    if (mode == self->mode)
        return;
    if (mode != DFT_MODE_EVENTS && !self->rows)
        dft_rows_begin(self);
    /* Another thread may pause the process meanwhile, and change the mode, too: the last one holds. */
    do {
        mode = dft_mode_of(self);
        __atomic_store_n(&self->mode, mode, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    } while (mode != dft_mode_of(self));
}
