/* SPDX-License-Identifier: MIT */
/* Tests of how killed processes are counted. */
#include <CUnit/Basic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/source_fates.h"
#include "suites.h"

static struct dft_killed count(const struct dft_source_process *processes, size_t n)
{
    struct dft_killed killed = {0};

    for (size_t i = 0; i < n; i++)
        dft_killed_add(&killed, &processes[i]);
    return killed;
}

static int reads(const struct dft_killed *killed, const char *expected)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int same;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    dft_killed_how(out, killed);
    fclose(out);
    same = !strcmp(text, expected);
    free(text);
    return same;
}

/* A live file may say that a signal was on its way, and not which: the process is counted as killed nevertheless. */
static void a_signal_without_a_number_counts(void)
{
    const struct dft_source_process processes[] = {
        {.exit_kind = DFT_ENDING_SIGNAL},
        {.exit_kind = DFT_ENDING_SIGNAL, .end.status = -SIGSEGV},
        {.exit_kind = DFT_ENDING_EXIT, .end.status = SIGSEGV},
        {.exit_kind = DFT_ENDING_RUNNING},
    };
    struct dft_killed killed = count(processes, sizeof processes / sizeof *processes);

    CU_ASSERT(killed.count == 2 && killed.signals[0] == 1 && killed.signals[SIGSEGV] == 1);
    CU_ASSERT(reads(&killed, ": 1 by SIGSEGV, 1 by an unknown signal (or left by a raw exit_group)"));
}

static void one_way_needs_no_numbers(void)
{
    const struct dft_source_process processes[] = {{.exit_kind = DFT_ENDING_KILLED, .end.status = -SIGTERM},
                                                   {.exit_kind = DFT_ENDING_KILLED, .end.status = -SIGTERM}};
    const struct dft_source_process silent = {.exit_kind = DFT_ENDING_KILLED};
    struct dft_killed killed = count(processes, 2);

    CU_ASSERT(reads(&killed, " by SIGTERM"));
    killed = count(&silent, 1);
    CU_ASSERT(reads(&killed, " (or left by a raw exit_group)"));
}

int suite_killed(void)
{
    CU_TestInfo tests[] = {{"a signal without a number counts", a_signal_without_a_number_counts},
                           {"one way needs no numbers", one_way_needs_no_numbers},
                           CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"killed", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
