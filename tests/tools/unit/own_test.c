/* SPDX-License-Identifier: MIT */
/* Whose code is, by the names of its files. */
#include <CUnit/Basic.h>

#include "suites.h"
#include "symbols/own.h"

static void libraries(void)
{
    static const char *const yes[] = {"libz.so",
                                      "/usr/lib/libc.so.6",
                                      "/home/u/libmine.so.1.2.3",
                                      "/home/u/a.some.so",
                                      "/home/u/_c.cpython-311-x86.so",
                                      "/home/u/my.solver/lib.so"};
    static const char *const no[] = {"/usr/bin/cat",      "/home/u/my.solver/bin/app", "/home/u/libz.so.d/app",
                                     "/home/u/app.solve", "/home/u/libz.so/",          ""};

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        CU_ASSERT(dft_own_is_library(yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        CU_ASSERT(!dft_own_is_library(no[i]));
}

static void modules(void)
{
    CU_ASSERT(dft_own_module("/usr/bin/cat"));
    CU_ASSERT(dft_own_module("/usr/libexec/my.solver/app"));
    CU_ASSERT(dft_own_module("/home/u/libmine.so"));
    CU_ASSERT(!dft_own_module("/usr/lib/libc.so.6"));
    CU_ASSERT(!dft_own_module("/lib64/libc.so.6"));
    CU_ASSERT(!dft_own_module("/home/u/site-packages/a.so"));
}

int suite_own(void)
{
    CU_TestInfo tests[] = {{"libraries", libraries}, {"modules", modules}, CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"whose code", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
