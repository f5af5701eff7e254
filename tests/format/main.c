/* SPDX-License-Identifier: MIT */
/* Runs the suites of the format. */
#include <CUnit/Basic.h>
#include <stdio.h>

#include "suites.h"

int main(void)
{
    unsigned failed;

    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    if (suite_pieces() || suite_blocks() || suite_deflate() || suite_events() || suite_file_class() || suite_times() ||
        suite_buckets() || suite_records() || suite_kept() || suite_counters() || suite_damage() || suite_faults() ||
        suite_ring_ahead())
        return 1;
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failed = CU_get_number_of_tests_failed() + CU_get_number_of_suites_failed();
    printf("%u passed, %u failed\n", CU_get_number_of_tests_run() - CU_get_number_of_tests_failed(), failed);
    CU_cleanup_registry();
    return failed != 0;
}
