/* SPDX-License-Identifier: MIT */
/* Owns the relation of ticks to time: one offset for the life of the process, and a ratio that
 * becomes more exact with time. */
#include "os/clock.h"

#include <string.h>
#include <time.h>

#include "format/live_format.h"
#include "os/own.h"
#include "os/sys.h"
#include "os/self.h"

#if defined(__x86_64__)
#include <cpuid.h>
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#include "format/crc32c.h"
#define ASK_LOADER 1
#endif
#endif

#define FIX_AFTER_NS    1000000u
#define REFINE_AFTER_NS 100000000u
#define NARROW_NS       1000u /* between two readings of the clock without an interruption */

int dft_clock_invariant;
int64_t dft_clock_offset;
uint64_t dft_clock_start_ns;

static struct reading {
    uint64_t ticks, ns; /* ns: monotonic */
} first, last;
static int fixed;
static uint64_t refine_after_ns = REFINE_AFTER_NS;
static struct dft_clock current;
static struct dft_spin lock; /* guards all of the above */

static int has_counter;
static int disabled; /* some thread disabled its counter */

static int must_not_read(void)
{
    return disabled && (!dft_self || dft_self_task()->no_counter);
}

/* The usual way also reads the counter, within the C library. Where that is forbidden, the function
 * asks the kernel. Where system calls are forbidden as well, the kernel's last tick serves. */
static uint64_t read_clock(clockid_t clock, clockid_t coarse)
{
    int (*quickly)(clockid_t, struct timespec *) = dft_own.clock_gettime;
    struct timespec now = {0};

    if (quickly && !must_not_read())
        quickly(clock, &now);
    else if (DFT_SYS(clock_gettime, clock, &now, 0, 0, 0, 0) < 0 && quickly)
        quickly(coarse, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t dft_clock_monotonic_ns(void)
{
    return read_clock(CLOCK_MONOTONIC, CLOCK_MONOTONIC_COARSE);
}

uint64_t dft_clock_realtime_ns(void)
{
    return read_clock(CLOCK_REALTIME, CLOCK_REALTIME_COARSE);
}

/* The tightest of several readings: the one with the fewest ticks around the clock. */
static struct reading read_both(void)
{
    struct reading best = {0};
    uint64_t narrowest = UINT64_MAX;

    for (int i = 0; i < 5; i++) {
        uint64_t before = dft_ticks(), ns = dft_clock_monotonic_ns(), after = dft_ticks();

        if (after - before < narrowest) {
            narrowest = after - before;
            best = (struct reading){before + (after - before) / 2, ns};
        }
    }
    return best;
}

/* The offset of the wall clock to the monotonic clock. The wall clock is read between two readings
 * of the monotonic clock. The thread may have to wait in between, which makes the offset wrong by
 * half of the wait. Then both clocks are read again. */
static int64_t read_offset(void)
{
    uint64_t narrowest = UINT64_MAX;
    int64_t offset = 0;

    for (int i = 0; i < 5 && narrowest > NARROW_NS; i++) {
        uint64_t before = dft_clock_monotonic_ns(), real = dft_clock_realtime_ns(), after = dft_clock_monotonic_ns();

        if (after - before < narrowest) {
            narrowest = after - before;
            offset = (int64_t)(real - (before + narrowest / 2));
        }
    }
    return offset;
}

#ifdef ASK_LOADER
#define REGISTER_BITS 32u
#define LEAF_BITS     (4 * REGISTER_BITS)

/* The loader has already run cpuid. In a virtual machine the instruction costs microseconds. */
static int loader_knows(unsigned feature)
{
    const struct cpuid_feature *leaf = dft_own.cpu_features(feature / LEAF_BITS);

    return leaf->cpuid_array[feature % LEAF_BITS / REGISTER_BITS] >> feature % REGISTER_BITS & 1;
}
#endif

static void detect(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;

#ifdef ASK_LOADER
    if (dft_own.cpu_features) {
        dft_clock_invariant = loader_knows(x86_cpu_INVARIANT_TSC);
        dft_crc32c_use(loader_knows(x86_cpu_SSE4_2));
        return;
    }
#endif
    dft_clock_invariant = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
#elif defined(__aarch64__)
    dft_clock_invariant = 1;
#endif
}

/* A first guess of ns per tick, for records of a process that is killed before the ratio is
 * known. */
static uint64_t guessed_mult(void)
{
#if defined(__aarch64__)
    uint64_t hz;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz ? (uint64_t)(((__uint128_t)1000000000u << 32) / hz) : UINT64_C(1) << 32;
#else
    return UINT64_C(1) << 32;
#endif
}

static void set_clock(struct reading base, uint64_t mult)
{
    current =
        (struct dft_clock){.base_ticks = base.ticks, .base_ns = base.ns + (uint64_t)dft_clock_offset, .mult = mult};
}

void dft_clock_init(void)
{
    detect();
    first = last = read_both();
    dft_clock_offset = read_offset();
    dft_clock_start_ns = first.ns + (uint64_t)dft_clock_offset;
    has_counter = dft_clock_invariant;
    fixed = !has_counter;
    set_clock(first, guessed_mult());
}

static uint64_t ratio(struct reading from, struct reading to)
{
    return (uint64_t)(((__uint128_t)(to.ns - from.ns) << 32) / (to.ticks - from.ticks));
}

/* Do the two clocks disagree about the time since the last reading? */
static int disagrees(struct reading now)
{
    uint64_t passed = now.ns - last.ns;
    int64_t ticked = (int64_t)(((__int128)(int64_t)(now.ticks - last.ticks) * (__int128)current.mult) >> 32);
    int64_t difference = ticked - (int64_t)passed;

    return (difference < 0 ? -difference : difference) > (int64_t)(passed / 100 + FIX_AFTER_NS);
}

/* Begins a new relation. `count` ticks from `from` on keep the old relation. */
static void begin_segment(struct dft_clock next, uint64_t from, uint64_t count)
{
    next.earlier.first = from;
    next.earlier.count = count;
    next.earlier.base_ticks = current.base_ticks;
    next.earlier.base_ns = current.base_ns;
    next.earlier.mult = current.mult;
    current = next;
}

/* Ticks ran on, stood still or began anew while the other clock did not. The meaning of a tick
 * under the old relation tells whether it is an earlier tick. The old relation cannot be true for a
 * tick that it places in the future. */
static void jump(struct reading now)
{
    struct dft_clock next = {
        .base_ticks = now.ticks, .base_ns = now.ns + (uint64_t)dft_clock_offset, .mult = current.mult};
    uint64_t due =
        current.base_ticks + (uint64_t)(((__uint128_t)(next.base_ns - current.base_ns) << 32) / current.mult);

    if (now.ticks < last.ticks) /* until the new ticks come near the old ticks */
        begin_segment(next, now.ticks + (last.ticks - now.ticks) / 2, UINT64_MAX);
    else
        begin_segment(next, 0, due < now.ticks ? due + 1 : last.ticks + 1);
    first = now;
    refine_after_ns = REFINE_AFTER_NS;
}

/* The longer the measured time, the better the ratio. Times continue from their present value, so
 * no two ticks change their order. */
static void refine(struct reading now)
{
    begin_segment((struct dft_clock){.base_ticks = now.ticks,
                                     .base_ns = dft_clock_ns(&current, now.ticks),
                                     .mult = ratio(first, now)},
                  0, now.ticks);
    refine_after_ns *= 100;
}

void dft_clock_forked(void)
{
    lock.held = 0;
}

/* Returns 1 when the two clocks disagree. */
static int look(void)
{
    struct reading now = read_both();
    int again = 0;

    if (now.ns <= last.ns)
        return 0;
    if (current.earlier.count == UINT64_MAX && now.ticks >= current.earlier.first)
        current.earlier.count = 0;
    if (fixed && disagrees(now)) {
        jump(now);
        again = 1;
    } else if (!fixed && now.ticks <= first.ticks) {
        set_clock(now, current.mult);
        first = now;
    } else if (!fixed) {
        set_clock(first, ratio(first, now));
        fixed = now.ns - first.ns >= FIX_AFTER_NS;
    } else if (now.ns - first.ns >= refine_after_ns && now.ticks > first.ticks) {
        refine(now);
    }
    last = now;
    return again;
}

/* Another process reads it in the live file, perhaps after a kill: no two threads change it there at
 * a time, and only a change is written. */
static void show(void)
{
    if (dft_live && dft_generation && *dft_generation && memcmp(&dft_live->clock, &current, sizeof current) != 0)
        dft_live->clock = current;
}

int dft_clock_update(struct dft_clock *clock)
{
    int again;

    dft_spin_lock(&lock);
    again = has_counter && !must_not_read() ? look() : 0;
    *clock = current;
    show();
    dft_spin_unlock(&lock);
    return again;
}

/* --- without the counter ---------------------------------------------------------------------- */

static uint64_t read_counter(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

uint64_t dft_ticks_slow(void)
{
    uint64_t ns, ticks;

    if (!has_counter)
        return dft_clock_monotonic_ns();
    if (!must_not_read())
        return read_counter();
    ns = dft_clock_monotonic_ns() + (uint64_t)dft_clock_offset;
    ticks = current.base_ticks;
    if (ns > current.base_ns)
        ticks += (uint64_t)(((__uint128_t)(ns - current.base_ns) << 32) / current.mult);
    if (dft_self && ticks < dft_self_task()->ticks_least)
        return dft_self_task()->ticks_least;
    return ticks;
}

void dft_clock_disable_counter(struct dft_task *task)
{
    struct dft_clock clock;
    struct dft_signals before = dft_signals_block();

    dft_clock_update(&clock);
    dft_signals_restore(before);
    task->ticks_least = dft_ticks();
    task->no_counter = 1;
    disabled = 1;
    dft_clock_invariant = 0;
}

void dft_clock_enable_counter(struct dft_task *task)
{
    task->no_counter = 0;
}

int dft_clock_counter_is_disabled(void)
{
    return disabled;
}
