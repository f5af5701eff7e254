/* SPDX-License-Identifier: MIT */
/* The governor: decisions from injected times, over phases of a simulated program. */
#include "rows/governor.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#define MS 1000000u
#define S  1000000000u

/* A program in phases, and what tracing it costs: drains and the work around a call. */
struct phase {
    uint32_t seconds, calls_a_second;
    uint32_t busy_percent; /* of wall time */
};
struct costs {
    uint32_t drain_of_event_ns, drain_of_row_ns, call_ns;
};
struct outcome {
    unsigned changes;
    uint64_t own_ns, program_ns, events_ns, ns;
};

static struct outcome simulate(const struct phase *phases, unsigned count, struct costs costs, unsigned limit,
                               uint32_t step_ms)
{
    struct dft_governor governor = {.call_ns = costs.call_ns};
    struct dft_governor_now now = {.time_ns = 5 * S};
    struct outcome outcome = {0};

    for (unsigned p = 0; p < count; p++)
        for (uint32_t ms = 0; ms < phases[p].seconds * 1000; ms += step_ms) {
            uint64_t calls = (uint64_t)phases[p].calls_a_second * step_ms / 1000;
            uint64_t drain = calls * (governor.aggregates ? costs.drain_of_row_ns : costs.drain_of_event_ns);
            uint64_t program = (uint64_t)step_ms * MS * phases[p].busy_percent / 100;

            now.time_ns += (uint64_t)step_ms * MS;
            now.cpu_ns += program + drain + calls * costs.call_ns;
            now.drain_ns += drain;
            now.calls += calls;
            outcome.own_ns += drain + calls * costs.call_ns;
            outcome.program_ns += program;
            outcome.events_ns += governor.aggregates ? 0 : (uint64_t)step_ms * MS;
            outcome.ns += (uint64_t)step_ms * MS;
            if (calls) /* decisions are made at drains */
                outcome.changes += (unsigned)dft_governor_decide(&governor, &now, limit);
        }
    return outcome;
}

static double percent_of(struct outcome outcome)
{
    return 100.0 * (double)outcome.own_ns / (double)outcome.program_ns;
}

static const struct costs usual = {40, 1, 30};

/* Far below the limit all is kept; far above it no event is, but for the first window. */
static void test_steady(void)
{
    static const struct phase quiet = {60, 100000, 100}, loud = {60, 2000000, 100};
    struct outcome outcome = simulate(&quiet, 1, usual, 5, 50);

    CU_ASSERT(outcome.changes == 0 && outcome.events_ns == outcome.ns);
    outcome = simulate(&loud, 1, usual, 10, 50);
    CU_ASSERT(outcome.changes == 1 && outcome.events_ns <= 2ull * S);
    CU_ASSERT(percent_of(outcome) < 7); /* aggregates alone cost 6.2 % */
}

/* 10 s: many calls, few, none. The share stays within a point of the limit, and events come back. */
static void test_phases(void)
{
    static const struct phase phases[] = {{3, 1200000, 100}, {3, 100000, 100}, {2, 0, 1}, {2, 800000, 100}};
    struct outcome outcome = simulate(phases, 4, usual, 5, 20);

    CU_ASSERT(percent_of(outcome) < 6);
    CU_ASSERT(outcome.changes >= 2 && outcome.events_ns > 4ull * S);
}

/* Three rounds of getc in bursts, of preads, and of a call now and then, 10 s each: the share of the
 * preads stays within a point of the limit, and each phase changes the decision at most once. */
static void test_rounds(void)
{
    static const struct costs cheap_calls = {60, 1, 5};
    static const struct phase round[] = {{10, 20, 100}, {10, 2000000, 100}, {10, 100, 1}};
    static const unsigned limits[] = {2, 5, 20};
    struct phase phases[9];

    for (unsigned i = 0; i < 9; i++)
        phases[i] = round[i % 3];
    for (unsigned i = 0; i < 3; i++) {
        struct outcome outcome = simulate(phases, 9, cheap_calls, limits[i], 50);

        CU_ASSERT(percent_of(outcome) < limits[i] + 1);
        CU_ASSERT(outcome.changes == (limits[i] == 20 ? 0u : 6u)); /* to aggregates in the preads, back behind them */
        CU_ASSERT(outcome.events_ns > outcome.ns / 3);
        outcome = simulate(round + 1, 1, cheap_calls, limits[i], 50);
        CU_ASSERT(limits[i] == 20 || percent_of(outcome) < 3);
    }
}

/* A cost between half of the limit and the limit changes nothing, from either side. */
static void test_hysteresis(void)
{
    static const struct phase between = {120, 500000, 100}; /* 3.5 % */
    static const struct phase from_above[] = {{5, 2000000, 100}, {120, 500000, 100}};
    struct outcome outcome = simulate(&between, 1, usual, 5, 30);

    CU_ASSERT(outcome.changes == 0);
    outcome = simulate(from_above, 2, usual, 5, 30);
    CU_ASSERT(outcome.changes == 1);
}

/* The load swings each second: at most one change a second. */
static void test_swings(void)
{
    struct phase phases[100];
    struct outcome outcome;

    for (unsigned i = 0; i < 100; i++)
        phases[i] = (struct phase){1, i % 2 ? 3000000 : 10000, 100};
    outcome = simulate(phases, 100, usual, 5, 10);
    CU_ASSERT(outcome.changes <= 100 && outcome.changes > 10);
}

/* A process that sleeps is not judged by a few microseconds of work. */
static void test_idle(void)
{
    struct dft_governor governor = {.call_ns = 30};
    struct dft_governor_now now = {.time_ns = S};

    for (unsigned i = 0; i < 100; i++) {
        now.time_ns += S;
        now.cpu_ns += 100000;
        now.drain_ns += 60000; /* more than half of it */
        now.calls += 10;
        CU_ASSERT(!dft_governor_decide(&governor, &now, 5)); /* less than 10 ms in all */
    }
    for (unsigned i = 0; i < 5; i++) {
        now.time_ns += S;
        now.cpu_ns += 100000;
        now.drain_ns += 60000;
        dft_governor_decide(&governor, &now, 5);
    }
    CU_ASSERT(governor.aggregates); /* but by 10 ms it is */
}

/* Clocks that go back, or jump: no decision from nonsense. */
static void test_clocks(void)
{
    struct dft_governor governor = {.call_ns = 30};
    struct dft_governor_now now = {5 * S, 4 * S, S / 100, 1000000};

    CU_ASSERT(!dft_governor_decide(&governor, &now, 5));
    now = (struct dft_governor_now){4 * S, S, 0, 0};
    CU_ASSERT(!dft_governor_decide(&governor, &now, 5));
    now = (struct dft_governor_now){UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    dft_governor_decide(&governor, &now, 5);
    now.calls = UINT64_MAX - 1;
    CU_ASSERT(!dft_governor_decide(&governor, &now, 5));
    memset(&governor, 0, sizeof governor);
    now = (struct dft_governor_now){0};
    CU_ASSERT(!dft_governor_decide(&governor, &now, 1));
    now = (struct dft_governor_now){2 * S, S, 2 * S, 5}; /* more than the processor time */
    CU_ASSERT(dft_governor_decide(&governor, &now, 100) && governor.aggregates);
}

/* Not before a second has gone by. */
static void test_windows(void)
{
    struct dft_governor governor = {.call_ns = 30};
    struct dft_governor_now now = {.time_ns = S};

    dft_governor_decide(&governor, &now, 5);
    for (unsigned i = 0; i < 99; i++) {
        now.time_ns += 10 * MS;
        now.cpu_ns += 10 * MS;
        now.drain_ns += 5 * MS;
        CU_ASSERT(!dft_governor_decide(&governor, &now, 5));
    }
    now.time_ns += 10 * MS;
    now.cpu_ns += 10 * MS;
    CU_ASSERT(dft_governor_decide(&governor, &now, 5));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"steady loads", test_steady},   {"phases", test_phases},   {"long rounds", test_rounds},
        {"hysteresis", test_hysteresis}, {"swings", test_swings},   {"a process that sleeps", test_idle},
        {"clocks", test_clocks},         {"windows", test_windows}, CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"governor", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};
    unsigned failed;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites))
        return 1;
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failed = CU_get_number_of_tests_failed();
    printf("%u passed, %u failed\n", CU_get_number_of_tests_run() - failed, failed);
    CU_cleanup_registry();
    return failed != 0;
}
