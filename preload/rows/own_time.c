/* SPDX-License-Identifier: MIT */
/* Owns the sum of the processor time that drains and flushes take. */
#include "rows/own_time.h"

#include <stdatomic.h>

#include "os/sys.h"
#include "settings/config.h"

static _Atomic uint64_t own_ns;

uint64_t dft_processor_ns(clockid_t clock)
{
    struct timespec cpu;

    if (DFT_SYS(clock_gettime, clock, &cpu, 0, 0, 0, 0) < 0)
        return 0;
    return (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
}

uint64_t dft_own_time_begin(void)
{
    return dft_config.max_overhead_percent ? dft_processor_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
}

void dft_own_time_end(uint64_t begin_ns)
{
    uint64_t end_ns = begin_ns ? dft_processor_ns(CLOCK_THREAD_CPUTIME_ID) : 0;

    if (end_ns > begin_ns)
        atomic_fetch_add_explicit(&own_ns, end_ns - begin_ns, memory_order_relaxed);
}

uint64_t dft_own_time_ns(void)
{
    return atomic_load_explicit(&own_ns, memory_order_relaxed);
}
