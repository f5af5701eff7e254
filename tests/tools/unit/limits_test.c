/* SPDX-License-Identifier: MIT */
/* Files of limits: what is read, and that nothing is applied of a file with an error. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "findings/limits.h"
#include "suites.h"

#define BIT(code) (UINT64_C(1) << DFT_FINDING_##code)

static int read_bytes(struct dft_limits *limits, const char *text, size_t length, char *error, size_t size)
{
    char path[] = "/tmp/dft-limits-XXXXXX";
    int fd = mkstemp(path), rc;

    CU_ASSERT_FATAL(fd >= 0 && write(fd, text, length) == (ssize_t)length);
    close(fd);
    rc = dft_limits_read(limits, path, error, size);
    unlink(path);
    return rc;
}

/* The line and the words that the error must have; and the limits are as before. */
static void is_wrong(const char *text, size_t length, const char *expected)
{
    struct dft_limits limits, before;
    char error[512] = "";

    dft_limits_init(&before);
    before.off = BIT(FLUSH);
    limits = before;
    CU_ASSERT_NOT_EQUAL(read_bytes(&limits, text, length, error, sizeof error), 0);
    CU_ASSERT_EQUAL(memcmp(limits.values, before.values, sizeof limits.values), 0);
    CU_ASSERT_EQUAL(limits.off, before.off);
    if (!strstr(error, expected))
        printf("\n    %s\n    has no: %s", error, expected);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, expected));
}

static void wrong(const char *text, const char *expected)
{
    is_wrong(text, strlen(text), expected);
}

static void what_is_read(void)
{
    static const char text[] =
        "# mine\n\n  small-reads.request=16KiB # smaller\r\nfsync.calls = 200\n"
        "any.share = 0.5 %\nsmall-reads.cached = 1.5 ms\nflush = off\none-byte = on\nregions.compute = sim:*, solve";
    struct dft_limits limits;
    char error[512] = "";

    dft_limits_init(&limits);
    limits.off = BIT(ONE_BYTE);
    CU_ASSERT_EQUAL(read_bytes(&limits, text, strlen(text), error, sizeof error), 0);
    CU_ASSERT_EQUAL(limits.values[DFT_LIMIT_SMALL_READS_REQUEST], 16384);
    CU_ASSERT_EQUAL(limits.values[DFT_LIMIT_FSYNC_CALLS], 200);
    CU_ASSERT_EQUAL(limits.values[DFT_LIMIT_ANY_SHARE], 5);
    CU_ASSERT_STRING_EQUAL(dft_limits_patterns(&limits).lists[DFT_REGION_COMPUTE], "sim:*, solve");
    CU_ASSERT_STRING_EQUAL(dft_limits_patterns(&limits).lists[DFT_REGION_STEP],
                           dft_region_usual.lists[DFT_REGION_STEP]);
    CU_ASSERT_EQUAL(limits.values[DFT_LIMIT_SMALL_READS_CACHED], 1500000);
    CU_ASSERT_EQUAL(limits.values[DFT_LIMIT_SMALL_WRITES_REQUEST], 65536);
    CU_ASSERT_EQUAL(limits.off, BIT(FLUSH));
}

static void what_is_wrong(void)
{
    wrong("fsync.calls = 3\nfsnc.calls = 3\n", "line 2: fsnc.calls: there is no such limit");
    wrong("fsnc.calls = 3\n", "Did you mean fsync.calls?");
    wrong("small-read = off\n", "Did you mean small-reads?");
    wrong("fsync.calls\n", "line 1: fsync.calls: a line is `name = value`.");
    wrong("regions.step =\n", "nothing is no list of patterns");
    wrong("regions = off\n", "regions: it has limits, and is no finding that can be off");
    wrong("unseen = off\n", "unseen: it has limits");
    wrong("fsync.calls = many\n", "many is no number, as in 20.");
    wrong("fsync.calls = 0x10\n", "0x10 is no number");
    wrong("fsync.calls = -1\n", "-1 is no number");
    wrong("fsync.calls = 2.5\n", "2.5 is no number");
    wrong("fsync.calls = 1e30\n", "1e30 is no number");
    wrong("fsync.calls =\n", "nothing is no number");
    wrong("any.share = 200 %\n", "200 % is no share, as in 1 %.");
    wrong("any.share = nan %\n", "nan % is no share");
    wrong("small-reads.request = 64 kB\n", "64 kB is no number of bytes, as in 64 KiB.");
    wrong("small-reads.cached = 2\n", "2 is no duration, as in 2 ms.");
    wrong("fsync = of\n", "of: a finding is on or off.");
    wrong("lost = off\n", "what was lost is always said");
    wrong("fsync.calls = 1\n\nfsync.calls = 2\n", "line 3: fsync.calls is already in line 1.");
    wrong("fsync = off\nfsync = off\n", "line 2: fsync is already in line 1.");
    wrong("\033[31m = 1\n", "line 1: \\x1b[31m: there is no such limit");
}

static void what_is_no_text(void)
{
    static const char zero[] = "fsync.calls = 3\n\0\n";
    char line[1000];

    is_wrong(zero, sizeof zero, "line 2: this is no text file.");
    memset(line, 'a', sizeof line);
    is_wrong(line, sizeof line, "line 1: the line is too long.");
    line[100] = 0;
    wrong(line, "aaa...: a line is `name = value`.");
}

static void what_is_no_file(void)
{
    struct dft_limits limits;
    char error[512] = "";

    dft_limits_init(&limits);
    CU_ASSERT_NOT_EQUAL(dft_limits_read(&limits, "/tmp", error, sizeof error), 0);
    CU_ASSERT_STRING_EQUAL(error, "/tmp: Is a directory");
    CU_ASSERT_NOT_EQUAL(dft_limits_read(&limits, "/tmp/not/there", error, sizeof error), 0);
    CU_ASSERT_STRING_EQUAL(error, "/tmp/not/there: No such file or directory");
}

/* What is printed is read again, and says the same. */
static void what_is_printed(void)
{
    struct dft_limits limits, again;
    char *text, error[512] = "";
    size_t length;
    FILE *out = open_memstream(&text, &length);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    dft_limits_init(&limits);
    dft_limits_init(&again);
    limits.values[DFT_LIMIT_SMALL_READS_REQUEST] = 1000;
    limits.values[DFT_LIMIT_ANY_SHARE] = 15;
    limits.values[DFT_LIMIT_FSYNC_CALLS] = 0;
    limits.off = BIT(FSYNC) | BIT(SMALL_WRITES);
    dft_limits_print(out, &limits);
    CU_ASSERT_EQUAL(fclose(out), 0);
    CU_ASSERT_EQUAL(read_bytes(&again, text, length, error, sizeof error), 0);
    CU_ASSERT_STRING_EQUAL(error, "");
    CU_ASSERT_EQUAL(memcmp(limits.values, again.values, sizeof limits.values), 0);
    CU_ASSERT_EQUAL(limits.off, again.off);
    for (unsigned kind = 0; kind < DFT_REGION_KINDS; kind++)
        CU_ASSERT_STRING_EQUAL(dft_limits_patterns(&limits).lists[kind], dft_limits_patterns(&again).lists[kind]);
    free(text);
}

int suite_limits(void)
{
    CU_pSuite suite = CU_add_suite("limits", NULL, NULL);

    return !suite || !CU_add_test(suite, "what is read", what_is_read) ||
           !CU_add_test(suite, "what is wrong", what_is_wrong) ||
           !CU_add_test(suite, "what is no text", what_is_no_text) ||
           !CU_add_test(suite, "what is no file", what_is_no_file) ||
           !CU_add_test(suite, "what is printed", what_is_printed);
}
