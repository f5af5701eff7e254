/* SPDX-License-Identifier: MIT */
/* What waits tell of the ends of processes. */
#include <CUnit/Basic.h>
#include <signal.h>

#include "judge/source_waits.h"
#include "suites.h"

#define STOPPED 0x137f /* by SIGSTOP */
#define TRACED  0x7f   /* by no signal: what waitpid never says */
#define EXIT_3  0x300

static void the_first_end_counts(void)
{
    struct dft_source_process process = {0};

    dft_source_take_waited(&process, &(struct dft_source_end){.status = STOPPED, .time_ns = 10});
    dft_source_take_waited(&process, &(struct dft_source_end){.status = TRACED, .time_ns = 11});
    CU_ASSERT(!process.waited);
    dft_source_take_waited(&process, &(struct dft_source_end){.status = SIGKILL, .time_ns = 30});
    dft_source_take_waited(&process, &(struct dft_source_end){.status = EXIT_3, .time_ns = 20});
    dft_source_take_waited(&process, &(struct dft_source_end){.status = 0, .time_ns = 40});
    CU_ASSERT(process.waited == EXIT_3 + 1 && process.waited_ns == 20 && !process.waited_by);
}

int suite_waits(void)
{
    CU_TestInfo tests[] = {{"the first end counts", the_first_end_counts}, CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"waits", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
