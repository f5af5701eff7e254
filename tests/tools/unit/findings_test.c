/* SPDX-License-Identifier: MIT */
/* Findings for people: what stands where, in lines that fit. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "findings/findings.h"
#include "findings/sizes.h"
#include "suites.h"

#define SECOND UINT64_C(1000000000)

static struct dft_finding two[] = {
    {.code = DFT_FINDING_FSYNC,
     .sure = DFT_SURE_HIGH,
     .when = DFT_WHEN_PERSISTENT,
     .cost_ns = SECOND * 3 / 2,
     .of_ns = 3 * SECOND,
     .from_ns = 11 * SECOND,
     .to_ns = 12 * SECOND,
     .rank = -1,
     .title = (char *)(uintptr_t) "fsync every 20 writes",
     .evidence = (char *)(uintptr_t) "500 calls, 1.50 s in all, of which each takes 3.00 ms; out/journal.log",
     .advice = (char *)(uintptr_t) "Make what is written durable less often, or once at the end of the run.",
     .line = (char *)(uintptr_t) "src/slow.c:14",
     .why_sure = (char *)(uintptr_t) "these calls wait"},
    {.code = DFT_FINDING_LOST, .rank = -1, .title = (char *)(uintptr_t) "not all of the job is here"},
};

static char *printed(const struct dft_findings *findings, size_t top, const char *columns)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    setenv("COLUMNS", columns, 1);
    dft_findings_print(out, findings, top, 10 * SECOND);
    unsetenv("COLUMNS");
    CU_ASSERT_EQUAL(fclose(out), 0);
    return text;
}

static void has(const char *text, const char *expected)
{
    if (!strstr(text, expected))
        printf("\n%s    has no: %s", text, expected);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, expected));
}

static void all_is_said(void)
{
    struct dft_findings findings = {.list = two, .count = 2, .nothing = (char *)(uintptr_t) "lost 0"};
    char *text = printed(&findings, 0, "200");

    has(text, "1  fsync every 20 writes         1.50 s  50.0 % of the job\n   500 calls, 1.50 s in all");
    has(text, "journal.log\n   -> Make what");
    has(text,
        "\n   line  src/slow.c:14\n   when  persistent, from +1.00 s to +2.00 s\n   sure  high: these calls wait\n");
    has(text, "\n2  not all of the job is here\n   sure  low\nnot a problem: lost 0\n");
    free(text);
}

static void the_page_is_short(void)
{
    struct dft_findings findings = {.list = two, .count = 2};
    char *text = printed(&findings, 1, "200");

    has(text, "out/journal.log; slow.c:14\n");
    has(text, "\n   1 more: dftmerge findings PATH\n");
    CU_ASSERT_PTR_NULL(strstr(text, "sure"));
    CU_ASSERT_PTR_NULL(strstr(text, "when"));
    free(text);
}

static void lines_fit(void)
{
    struct dft_findings findings = {.list = two,
                                    .count = 2,
                                    .not_looked_for = UINT64_C(1) << DFT_FINDING_FLUSH,
                                    .why_not = (char *)(uintptr_t) "there is a reason that takes some more words",
                                    .notes = (char *)(uintptr_t) "something else is known, and worth to know"};

    for (unsigned width = 40; width <= 200; width += 20) {
        char columns[16], *text, *rest, *line;

        snprintf(columns, sizeof columns, "%u", width);
        text = rest = printed(&findings, 0, columns);
        has(text, "not looked for: flush:");
        while ((line = strsep(&rest, "\n"))) {
            size_t length = strlen(line);

            if (length > width)
                printf("\n    %u columns: %s", width, line);
            CU_ASSERT(length <= width);
            /* a number and its unit stay together */
            CU_ASSERT(length < 2 || strcmp(line + length - 2, "50") != 0);
            CU_ASSERT(length < 4 || strcmp(line + length - 4, "3.00") != 0);
        }
        free(text);
    }
}

static void nothing_is_wrong(void)
{
    struct dft_findings findings = {.verdict[DFT_VERDICT_GOOD] =
                                        (char *)(uintptr_t) "nothing wrong: lost 0, failures to write 0",
                                    .nothing = (char *)(uintptr_t) "lost 0, failures to write 0"};
    char *text = printed(&findings, 3, "100");

    CU_ASSERT_STRING_EQUAL(text, "nothing wrong: lost 0, failures to write 0\n");
    free(text);
}

/* Each line has its place, whatever else is said; and nothing is "not wrong" then. */
static void the_verdict_is_first(void)
{
    struct dft_findings findings = {
        .list = two,
        .count = 2,
        .verdict = {[DFT_VERDICT_UNSEEN] = (char *)(uintptr_t) "not seen: rings",
                    [DFT_VERDICT_ENDED] = (char *)(uintptr_t) "ended badly: 1 process by SIGSEGV",
                    [DFT_VERDICT_FAILED] = (char *)(uintptr_t) "failed: 2 of 3 writes",
                    [DFT_VERDICT_FINDINGS] = (char *)(uintptr_t) "fsync every 20 writes: 1.50 s",
                    [DFT_VERDICT_GOOD] = (char *)(uintptr_t) "nothing wrong: lost 0"},
        .nothing = (char *)(uintptr_t) "lost 0"};
    char *text = printed(&findings, 3, "100");

    CU_ASSERT_EQUAL(dft_verdict_level(&findings), DFT_VERDICT_UNSEEN);
    CU_ASSERT_PTR_EQUAL(
        strstr(text, "not seen: rings\nended badly: 1 process by SIGSEGV\nfailed: 2 of 3 writes\n1  fsync"), text);
    has(text, "\nnot a problem: lost 0\n");
    CU_ASSERT_PTR_NULL(strstr(text, "nothing wrong"));
    free(text);
    findings.verdict[DFT_VERDICT_UNSEEN] = findings.verdict[DFT_VERDICT_ENDED] = NULL;
    findings.verdict[DFT_VERDICT_LOST] = (char *)(uintptr_t) "not all of the job is here";
    text = printed(&findings, 3, "100");
    CU_ASSERT_PTR_EQUAL(strstr(text, "1  fsync"), text);
    has(text, "here\nfailed: 2 of 3 writes\nnot a problem");
    free(text);
}

/* A larger buffer saves no call that opens a file needs, nor makes more than there were. */
static void calls_with_a_buffer(void)
{
    struct dft_size_unit unit = {.opens = 800};
    struct dft_size_sum sum = {.calls = 12800, .bytes = 12800 * 3072};

    CU_ASSERT_EQUAL(dft_sizes_calls(&unit, &sum, 65536), 800);
    CU_ASSERT_EQUAL(dft_sizes_calls(&unit, &sum, 4096), 9600);
    unit.opens = 20000;
    CU_ASSERT_EQUAL(dft_sizes_calls(&unit, &sum, 65536), 12800);
    unit.opens = 0;
    CU_ASSERT_EQUAL(dft_sizes_calls(&unit, &sum, 65536), 600);
}

int suite_findings(void)
{
    CU_pSuite suite = CU_add_suite("findings", NULL, NULL);

    return !suite || !CU_add_test(suite, "all is said", all_is_said) ||
           !CU_add_test(suite, "the page is short", the_page_is_short) || !CU_add_test(suite, "lines fit", lines_fit) ||
           !CU_add_test(suite, "nothing is wrong", nothing_is_wrong) ||
           !CU_add_test(suite, "the verdict is first", the_verdict_is_first) ||
           !CU_add_test(suite, "calls with a buffer", calls_with_a_buffer);
}
