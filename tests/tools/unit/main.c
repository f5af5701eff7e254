/* SPDX-License-Identifier: MIT */
/* Runs the suites of tools' pure functions. */
#include <CUnit/Basic.h>
#include <stdio.h>

#include "suites.h"

int main(void)
{
    unsigned failed;

    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    if (suite_base() || suite_bursts() || suite_clocks() || suite_confidence() || suite_cover() || suite_family() ||
        suite_findings() || suite_first_cause() || suite_judge() || suite_killed() || suite_limits() || suite_own() ||
        suite_pattern() || suite_rank_test() || suite_repeated() || suite_rules() || suite_sweep() || suite_tables() ||
        suite_usual() || suite_waits() || suite_write_line())
        return 1;
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failed = CU_get_number_of_tests_failed() + CU_get_number_of_suites_failed();
    printf("%u passed, %u failed\n", CU_get_number_of_tests_run() - CU_get_number_of_tests_failed(), failed);
    CU_cleanup_registry();
    return failed != 0;
}
