/* SPDX-License-Identifier: MIT */
/* Runs the suites of the aggregator. */
#include <CUnit/Basic.h>
#include <stdio.h>

#include "model.h"
#include "suites.h"

int main(void)
{
    unsigned failed;

    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    model_init();
    if (suite_histogram() || suite_table() || suite_law() || suite_busy() || suite_pattern() || suite_drain())
        return 1;
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failed = CU_get_number_of_tests_failed() + CU_get_number_of_suites_failed();
    printf("%u passed, %u failed\n", CU_get_number_of_tests_run() - CU_get_number_of_tests_failed(), failed);
    CU_cleanup_registry();
    return failed != 0;
}
