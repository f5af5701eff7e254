/* SPDX-License-Identifier: MIT */
/* The suites of the format's tests: each registers its own with CUnit, and returns 0. */
#ifndef DFT_TESTS_SUITES_H
#define DFT_TESTS_SUITES_H

int suite_pieces(void);
int suite_blocks(void);
int suite_deflate(void);
int suite_events(void);
int suite_file_class(void);
int suite_times(void);
int suite_buckets(void);
int suite_records(void);
int suite_counters(void);
int suite_kept(void);
int suite_damage(void);
int suite_faults(void);
int suite_ring_ahead(void);

#endif
