/* SPDX-License-Identifier: MIT */
/* The suites of the aggregator's tests: each registers its own with CUnit, and returns 0. */
#ifndef DFT_TESTS_SUITES_H
#define DFT_TESTS_SUITES_H

int suite_histogram(void);
int suite_table(void);
int suite_law(void);
int suite_busy(void);
int suite_drain(void);
int suite_pattern(void);

#endif
