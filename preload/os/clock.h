/* SPDX-License-Identifier: MIT */
/* Ticks: the cheapest clock that all processors agree on, and its relation to Unix time. */
#ifndef DFT_CLOCK_H
#define DFT_CLOCK_H

#include <stdint.h>

#include "format/clock.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct dft_task;

uint64_t dft_clock_monotonic_ns(void);
uint64_t dft_clock_realtime_ns(void);

extern int dft_clock_invariant; /* every thread can read the processor's counter; else ask dft_ticks_slow */
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

/* Never negative, also where two processors, or a machine before and after it was suspended, do not agree. */
static inline uint64_t dft_ticks_between(uint64_t start, uint64_t end)
{
    return (int64_t)(end - start) > 0 ? end - start : 0;
}

/* In the constructor: takes the process's one offset between CLOCK_MONOTONIC and Unix time and the first reading. */
void dft_clock_init(void);

/* Copies the clock to convert with to *clock. Any thread. Until the ratio is fixed (at the first call that is at least 1 ms after the first reading) it is a
 * provisional one from the readings at hand. Called with signals blocked. Returns 1 when a new segment had to begin because
 * ticks and clock disagree by more than 1 % (the machine was suspended). */
int dft_clock_update(struct dft_clock *clock);
void dft_clock_forked(void);

/* From now on reading the counter is fatal to this thread (SECCOMP_MODE_STRICT, PR_SET_TSC): its ticks are made from a clock
 * of the kernel. Where no system call may be made either, that clock has a resolution of milliseconds. And back. */
void dft_clock_disable_counter(struct dft_task *task);
void dft_clock_enable_counter(struct dft_task *task);
/* Has any thread done so? Threads that begin later may have inherited it. */
int dft_clock_counter_is_disabled(void);

extern int64_t dft_clock_offset;    /* Unix ns - monotonic ns */
extern uint64_t dft_clock_start_ns; /* Unix ns of init, or of the fork */

#endif
