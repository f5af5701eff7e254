/* SPDX-License-Identifier: MIT */
/* The suites of the tests of tools' pure functions: each registers its own with CUnit, and returns
 * 0. */
#ifndef DFT_TESTS_UNIT_SUITES_H
#define DFT_TESTS_UNIT_SUITES_H

#include <stdint.h>

int suite_base(void);
int suite_bursts(void);
int suite_clocks(void);
int suite_confidence(void);
int suite_cover(void);
int suite_family(void);
int suite_findings(void);
int suite_first_cause(void);
int suite_judge(void);
int suite_killed(void);
int suite_limits(void);
int suite_own(void);
int suite_pattern(void);
int suite_rank_test(void);
int suite_repeated(void);
int suite_rules(void);
int suite_sweep(void);
int suite_tables(void);
int suite_usual(void);
int suite_waits(void);
int suite_write_line(void);

/* A number below `sides`. The same ones in each run. */
static inline uint32_t roll(uint32_t sides)
{
    static uint64_t state = 1;

    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % sides;
}

#endif
