/* SPDX-License-Identifier: MIT */
/* preload/os/clock.c with clocks of the test's making: machines that are suspended, counters that
 * jump, and ratios. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <time.h>

#include "os/clock.h"

#include "loader/resolve.h"
#include "os/self.h"

static uint64_t test_ticks, test_ns, test_real_ns;
static int test_waits; /* readings of the wall clock, the first ones, behind which the thread has to wait */

static void pass(uint64_t ns);

static uint64_t ticks_now(void)
{
    return test_ticks;
}

#define dft_ticks ticks_now
#include "os/clock.c"
#undef dft_ticks

static int test_gettime(clockid_t clock, struct timespec *now)
{
    uint64_t ns = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? test_real_ns : test_ns;

    now->tv_sec = (time_t)(ns / 1000000000u);
    now->tv_nsec = (long)(ns % 1000000000u);
    if (clock == CLOCK_REALTIME && test_waits) {
        test_waits--;
        pass(20000000);
    }
    return 0;
}

struct dft_own_calls dft_own = {.clock_gettime = test_gettime};
struct dft_live *dft_live;
volatile uint32_t *dft_generation;
int dft_sandbox;
uint32_t dft_too_large;
__thread struct dft_thread *dft_self __attribute__((tls_model("initial-exec")));

int dft_is_sandboxed(void)
{
    return 0;
}

/* 2.5 ticks a nanosecond */
static void pass(uint64_t ns)
{
    test_ns += ns;
    test_real_ns += ns;
    test_ticks += ns * 5 / 2;
}

static struct dft_clock begin(void)
{
    struct dft_clock clock;

    test_ticks = 1000000000;
    test_ns = 5000000000000;
    test_real_ns = 1700000000000000000;
    dft_clock_init();
    has_counter = 1;
    fixed = 0;
    set_clock(first, guessed_mult());
    refine_after_ns = REFINE_AFTER_NS;
    pass(2000000);
    CU_ASSERT_EQUAL(dft_clock_update(&clock), 0);
    return clock;
}

/* How far the clock is from the truth right now. */
static int64_t error_now(const struct dft_clock *clock)
{
    return (int64_t)(dft_clock_ns(clock, test_ticks) - (test_ns - 5000000000000 + 1700000000000000000));
}

static void the_ratio(void)
{
    struct dft_clock clock = begin();

    CU_ASSERT(llabs(error_now(&clock)) < 100);
    for (int i = 0; i < 200; i++) {
        pass(70000000000);
        CU_ASSERT_EQUAL(dft_clock_update(&clock), 0);
        CU_ASSERT(llabs(error_now(&clock)) < 100000);
    }
}

/* On a busy machine the thread waits between the readings that the offset is made of. */
static void waits_at_the_start(void)
{
    struct dft_clock clock;

    for (int waits = 0; waits < 5; waits++) {
        test_waits = waits;
        clock = begin();
        CU_ASSERT(llabs(error_now(&clock)) < 100);
        CU_ASSERT_EQUAL(test_waits, 0);
    }
}

/* The wall clock is set while the program runs: nothing changes. */
static void steps_of_the_wall_clock(void)
{
    struct dft_clock clock = begin();

    test_real_ns += 3600000000000;
    pass(5000000);
    CU_ASSERT_EQUAL(dft_clock_update(&clock), 0);
    CU_ASSERT(llabs(error_now(&clock)) < 1000);
    test_real_ns -= 7200000000000;
    pass(5000000);
    CU_ASSERT_EQUAL(dft_clock_update(&clock), 0);
    CU_ASSERT(llabs(error_now(&clock)) < 1000);
}

/* An event before, one that lasts over, and one behind a suspension that the monotonic clock does
 * not count, and ticks count as `ticks`. */
static void suspended(int64_t ticks)
{
    struct dft_clock clock = begin();
    uint64_t before, start, end, behind, ns;

    pass(5000000);
    dft_clock_update(&clock);
    before = ticks_now();
    ns = dft_clock_ns(&clock, before);
    pass(1000);
    start = ticks_now();
    pass(1000);
    test_ticks = (uint64_t)((int64_t)test_ticks + ticks);
    pass(1000);
    end = ticks_now();
    pass(1000);
    behind = ticks_now();
    pass(1000);
    CU_ASSERT_EQUAL(dft_clock_update(&clock), 1);
    CU_ASSERT(llabs((int64_t)(dft_clock_ns(&clock, before) - ns)) < 1000);
    CU_ASSERT(dft_clock_since(&clock, dft_clock_ns(&clock, start), end) < 10000);
    CU_ASSERT(llabs((int64_t)(dft_clock_ns(&clock, behind) - ns - 4000)) < 2000);
    CU_ASSERT(llabs(error_now(&clock)) < 1000);
    for (int i = 0; i < 100; i++) {
        pass(3000000);
        CU_ASSERT_EQUAL(dft_clock_update(&clock), 0);
        CU_ASSERT(llabs(error_now(&clock)) < 10000);
    }
}

static void ticks_run_on(void)
{
    suspended(9000000000000);
}

static void ticks_begin_anew(void)
{
    suspended(-900000000);
}

/* The monotonic clock goes on, the counter does not. */
static void ticks_stand_still(void)
{
    struct dft_clock clock = begin();
    uint64_t before, ns;

    pass(5000000);
    before = ticks_now();
    dft_clock_update(&clock);
    ns = dft_clock_ns(&clock, before);
    test_ns += 60000000000;
    CU_ASSERT_EQUAL(dft_clock_update(&clock), 1);
    CU_ASSERT(llabs((int64_t)(dft_clock_ns(&clock, before) - ns)) < 1000);
    pass(1000000);
    CU_ASSERT(llabs(error_now(&clock)) < 1000);
}

static void the_ratio_becomes_better(void)
{
    struct dft_clock clock;
    uint64_t previous = 0;

    begin();
    current.mult += current.mult / 20000; /* 50 ppm: what a short measurement may be off */
    for (int i = 0; i < 3000; i++) {
        uint64_t ticks, ns;

        pass(10000000);
        ticks = test_ticks;
        CU_ASSERT_EQUAL(dft_clock_update(&clock), 0);
        ns = dft_clock_ns(&clock, ticks);
        CU_ASSERT(ns > previous);
        previous = ns;
    }
    CU_ASSERT(llabs(error_now(&clock)) < 20000); /* 50 ppm of 30 s would be 1.5 ms */
}

static void two_processors(void)
{
    CU_ASSERT_EQUAL(dft_ticks_between(1000, 900), 0);
    CU_ASSERT_EQUAL(dft_ticks_between(900, 1000), 100);
    CU_ASSERT_EQUAL(dft_ticks_between(UINT64_MAX - 5, 4), 10);
}

int main(void)
{
    unsigned failures;

    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("clock", NULL, NULL);
    CU_add_test(suite, "the ratio", the_ratio);
    CU_add_test(suite, "waits at the start", waits_at_the_start);
    CU_add_test(suite, "steps of the wall clock", steps_of_the_wall_clock);
    CU_add_test(suite, "suspended, ticks run on", ticks_run_on);
    CU_add_test(suite, "suspended, ticks begin anew", ticks_begin_anew);
    CU_add_test(suite, "ticks stand still", ticks_stand_still);
    CU_add_test(suite, "the ratio becomes better", the_ratio_becomes_better);
    CU_add_test(suite, "two processors", two_processors);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
