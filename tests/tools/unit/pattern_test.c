/* SPDX-License-Identifier: MIT */
/* Patterns of paths: by hand, and against regular expressions. */
#include <CUnit/Basic.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/pattern.h"
#include "suites.h"

static void by_hand(void)
{
    static const char *const paths[][2] = {
        {"", ""},
        {"/tmp/file", "/tmp/file"},
        {"/out.0001.dat", "/out.#.dat"},
        {"/a1b22c", "/a#b#c"},
        {"/deadbeef", "/deadbeef"},
        {"/deadbeef1", "/#"},
        {"/1234567890", "/#"},
        {"/abcdef1", "/abcdef#"},
        {"/x-123e4567-e89b-12d3-a456-426614174000.bin", "/x-#.bin"},
        {"/123E4567-E89B-12D3-A456-426614174000f", "/#-E#B-#D#-A#-#"},
        {"/123e4567-e89b-12d3-a456-42661417400", "/#-e#b-#d#-a#-#"},
        {"/rank#7", "/rank##"},
    };

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char pattern[64];
        uint32_t length = dft_pattern_of(paths[i][0], (uint32_t)strlen(paths[i][0]), pattern);

        CU_ASSERT_EQUAL(length, strlen(paths[i][1]));
        CU_ASSERT(!memcmp(pattern, paths[i][1], length));
    }
}

/* One name alone fits, whatever is in it: as fnmatch() understands patterns. */
static void names_as_globs(void)
{
    static const char *const names[][3] = {
        {"", "", "x"},
        {"job", "job", "jobs"},
        {"a*b", "a\\*b", "axb"},
        {"a?[1]", "a\\?\\[1]", "ab1"},
        {"a\\*", "a\\\\\\*", "a*"},
        {"one,two", "one?two", "one"},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *pattern = dft_glob_of_name(names[i][0]);

        CU_ASSERT_PTR_NOT_NULL_FATAL(pattern);
        CU_ASSERT_STRING_EQUAL(pattern, names[i][1]);
        CU_ASSERT(!fnmatch(pattern, names[i][0], 0));
        CU_ASSERT(fnmatch(pattern, names[i][2], 0) == FNM_NOMATCH);
        free(pattern);
    }
}

static regex_t uuid, hash, number;

static uint32_t length_of(const regex_t *regex, const char *at)
{
    regmatch_t match;

    return regexec(regex, at, 1, &match, 0) ? 0 : (uint32_t)match.rm_eo;
}

static uint32_t slow_pattern(const char *path, char *pattern)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    uint32_t n = 0;

    for (const char *at = path; *at;) {
        int begins = at == path || !strchr(hex, at[-1]);
        uint32_t length = begins ? length_of(&uuid, at) : 0;

        if (length && at[length] && strchr(hex, at[length]))
            length = 0;
        if (!length && begins) {
            length = length_of(&hash, at);
            if (strcspn(at, "0123456789") >= length)
                length = 0;
        }
        if (!length)
            length = length_of(&number, at);
        pattern[n++] = length ? '#' : *at;
        at += length ? length : 1;
    }
    return n;
}

static void regular_expressions(void)
{
    static const char letters[] = "0123456789abcdefABCDEF-/.#xg";
    static const char *const pieces[] = {"123e4567-e89b-12d3-a456-426614174000", "0badcafe", "deadbeef", "-", "1"};
    unsigned differ = 0, replaced = 0;

    CU_ASSERT_FATAL(!regcomp(&uuid, "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", REG_EXTENDED) &&
                    !regcomp(&hash, "^[0-9a-fA-F]{8,}", REG_EXTENDED) && !regcomp(&number, "^[0-9]+", REG_EXTENDED));
    for (int round = 0; round < 50000; round++) {
        char path[128], pattern[128], slow[128], again[128];
        uint32_t length = 0, n;

        while (length < 60) {
            const char *piece = pieces[roll(sizeof pieces / sizeof *pieces)];

            if (!roll(8))
                length += (uint32_t)strlen(strcpy(path + length, piece));
            else
                path[length++] = letters[roll(sizeof letters - 1)];
        }
        path[length] = 0;
        n = dft_pattern_of(path, length, pattern);
        replaced += n < length;
        differ += n != slow_pattern(path, slow) || memcmp(pattern, slow, n) != 0;
        differ += dft_pattern_of(pattern, n, again) != n || memcmp(pattern, again, n) != 0;
    }
    CU_ASSERT_EQUAL(differ, 0);
    CU_ASSERT(replaced > 10000);
    regfree(&uuid);
    regfree(&hash);
    regfree(&number);
}

int suite_pattern(void)
{
    CU_TestInfo tests[] = {{"by hand", by_hand},
                           {"names as globs", names_as_globs},
                           {"regular expressions", regular_expressions},
                           CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"patterns of paths", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
