/* SPDX-License-Identifier: MIT */
/* Ticks: the cheapest clock that all processors agree on, and its relation to Unix time. */
#ifndef DFT_CLOCK_H
#define DFT_CLOCK_H

#include <stdint.h>

#include "format/clock.h"
#include "os/hidden.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct dft_task;

uint64_t dft_clock_monotonic_ns(void);
uint64_t dft_clock_realtime_ns(void);

/* nonzero: every thread can read the processor's counter; else call dft_ticks_slow */
extern int dft_clock_invariant DFT_HIDDEN;
uint64_t dft_ticks_slow(void);

static inline uint64_t dft_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(dft_clock_invariant, 1))
        return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;

    if (__builtin_expect(dft_clock_invariant, 1)) {
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    return dft_ticks_slow();
}

/* Never negative. Two processors may disagree, and so may one machine before and after a
 * suspend. */
static inline uint64_t dft_ticks_between(uint64_t start, uint64_t end)
{
    return (int64_t)(end - start) > 0 ? end - start : 0;
}

/* In the constructor. Takes the first reading, and the process's one offset between CLOCK_MONOTONIC
 * and Unix time. */
void dft_clock_init(void);

/* Copies the current clock for conversions to *clock. Any thread. The ratio is fixed at the first
 * call at least 1 ms after the first reading. Until then the ratio is provisional, from the
 * readings so far. Call with signals blocked. Returns 1 when a new segment had to begin. That
 * happens when ticks and clock disagree by more than 1 % (the machine was suspended). */
int dft_clock_update(struct dft_clock *clock);
void dft_clock_forked(void);

/* After the first call, a read of the counter is fatal to this thread (SECCOMP_MODE_STRICT,
 * PR_SET_TSC). The thread's ticks then come from a clock of the kernel. Where system calls are
 * forbidden as well, that clock has a resolution of milliseconds. The second call ends this
 * state. */
void dft_clock_disable_counter(struct dft_task *task);
void dft_clock_enable_counter(struct dft_task *task);
/* Has any thread disabled its counter? Later threads may have inherited the state. */
int dft_clock_counter_is_disabled(void);

extern int64_t dft_clock_offset;    /* Unix ns - monotonic ns */
extern uint64_t dft_clock_start_ns; /* Unix ns of init, or of the fork */

#endif
