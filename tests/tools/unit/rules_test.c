/* SPDX-License-Identifier: MIT */
/* Rules of groups, against looking at each line in turn. */
#include <CUnit/Basic.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/event.h"
#include "format/ops.h"
#include "merge/group_rules.h"
#include "object/object.h"
#include "suites.h"

/* Names and their ids: calls are "category NUL name". */
static const char *const calls[][2] = {
    {"POSIX", "read"}, {"POSIX", "write"}, {"POSIX", "open"}, {"STDIO", "fread"}, {"APP", "step"}};
static const uint8_t ops[] = {DFT_OP_READ, DFT_OP_WRITE, DFT_OP_OPEN, DFT_OP_READ, DFT_OP_REGION};
static const char *const paths[] = {"/data/a.h5", "/data/b.txt", "/tmp/x,y", "/tmp/a b"};
#define CALLS 5u
#define PATHS 4u
#define CALL  100u /* ids */
#define PATH  200u

static struct dft_names *names;
static struct dft_source *source; /* of nothing: no working directories */

static int make_names(void)
{
    char text[64];
    int rc = 0;

    names = dft_names_create(NULL);
    source = dft_source_create(&(struct dft_source_options){.threads = 1});
    dft_names_enter();
    for (uint32_t i = 0; names && i < CALLS; i++) {
        int length = snprintf(text, sizeof text, "%s%c%s", calls[i][0], 0, calls[i][1]);

        rc |= dft_names_add(names, CALL + i, text, (uint32_t)length, NULL);
    }
    for (uint32_t i = 0; names && i < PATHS; i++)
        rc |= dft_names_add(names, PATH + i, paths[i], (uint32_t)strlen(paths[i]), NULL);
    return !names || !source || rc;
}

static int drop_names(void)
{
    dft_names_destroy(names);
    dft_source_close(source);
    dft_names_leave();
    return 0;
}

static int group_of(const struct dft_group_rules *rules, uint32_t call, const struct dft_event *event)
{
    struct dft_matcher *matcher = dft_matcher_create(rules, names);
    struct dft_call of = {.id = CALL + call, .op = ops[call], .io = (uint8_t)dft_op_io(ops[call])};
    int group;

    CU_ASSERT_PTR_NOT_NULL_FATAL(matcher);
    group = dft_matcher_group(matcher, &of, event);
    CU_ASSERT_EQUAL(dft_matcher_group(matcher, &of, event), group); /* what it remembers */
    dft_matcher_destroy(matcher);
    return group;
}

static void by_hand(void)
{
    struct dft_event on[PATHS] = {{.file = PATH}, {.file = PATH + 1}, {.file = PATH + 2}, {.file = PATH + 3}};
    struct dft_event moved = {.file = PATH + 1, .file2 = PATH}, inside = {.region = CALL + 4}, none = {0};
    struct dft_group_rules *rules;

    CU_ASSERT_EQUAL_FATAL(dft_rules_read(&rules,
                                         "h5: path=*.h5 class=read; odd: path=\"/tmp/x\\,y\" ; other: name=open; "
                                         "h5: class=write,meta path=/data/*; steps: region=step"),
                          0);
    CU_ASSERT_EQUAL_FATAL(dft_rules_begin(rules, source), 0);
    CU_ASSERT_EQUAL_FATAL(dft_rules_groups(rules), 4);
    CU_ASSERT_STRING_EQUAL(dft_rules_name(rules, 0), "h5");
    CU_ASSERT_STRING_EQUAL(dft_rules_name(rules, 1), "odd");
    CU_ASSERT_STRING_EQUAL(dft_rules_name(rules, 2), "steps");
    CU_ASSERT_STRING_EQUAL(dft_rules_name(rules, 3), "other");
    CU_ASSERT_EQUAL(group_of(rules, 0, &on[0]), 0);  /* a read of an .h5 */
    CU_ASSERT_EQUAL(group_of(rules, 0, &on[1]), 3);  /* of another */
    CU_ASSERT_EQUAL(group_of(rules, 0, &moved), 0);  /* its second path */
    CU_ASSERT_EQUAL(group_of(rules, 1, &on[1]), 0);  /* by the fourth line */
    CU_ASSERT_EQUAL(group_of(rules, 2, &on[0]), 3);  /* the third comes first */
    CU_ASSERT_EQUAL(group_of(rules, 3, &on[2]), 1);  /* a backslash keeps the comma */
    CU_ASSERT_EQUAL(group_of(rules, 0, &inside), 2); /* in the region */
    CU_ASSERT_EQUAL(group_of(rules, 4, &none), 2);   /* the region itself */
    CU_ASSERT_EQUAL(group_of(rules, 0, &none), 3);
    dft_rules_destroy(rules);
}

/* One line: what it asks; NULL: anything. */
struct line {
    const char *cat, *name, *path, *class;
};

static int fits(const char *pattern, const char *text)
{
    return !pattern || (text && !fnmatch(pattern, text, 0));
}

static int slow_group(const struct line *lines, uint32_t count, uint32_t call, int path)
{
    static const char *const classes[] = {"read", "write", "meta", "read", "none"};

    for (uint32_t i = 0; i < count; i++)
        if (fits(lines[i].cat, calls[call][0]) && fits(lines[i].name, calls[call][1]) &&
            fits(lines[i].path, path < 0 ? NULL : paths[path]) && fits(lines[i].class, classes[call]))
            return (int)i;
    return (int)count;
}

static const char *one_of(const char *const *list, uint32_t count)
{
    return roll(2) ? NULL : list[roll(count)];
}

static void each_line_in_turn(void)
{
    static const char *const cats[] = {"POSIX", "*", "STD*"}, *const called[] = {"read", "*e*", "?rite", "step"};
    static const char *const files[] = {"/data/*", "*.txt", "/tmp/?\\,y", "*"}, *const classes[] = {"read", "write",
                                                                                                    "meta", "none"};
    unsigned differ = 0, met = 0;

    for (int round = 0; round < 2000; round++) {
        struct line lines[8];
        uint32_t count = 1 + roll(8);
        char text[1024];
        size_t length = 0;
        struct dft_group_rules *rules;

        for (uint32_t i = 0; i < count; i++) {
            struct line *l = &lines[i];

            *l = (struct line){one_of(cats, 3), one_of(called, 4), one_of(files, 4), one_of(classes, 4)};
            length += (size_t)snprintf(text + length, sizeof text - length, "g%u:%s%s%s%s%s%s%s%s%s\n", i,
                                       l->cat ? " cat=" : "", l->cat ? l->cat : "", l->name ? " name=" : "",
                                       l->name ? l->name : "", l->path ? " path=\"" : "", l->path ? l->path : "",
                                       l->path ? "\"" : "", l->class ? " class=" : "", l->class ? l->class : "");
        }
        CU_ASSERT_EQUAL_FATAL(dft_rules_read(&rules, text), 0);
        CU_ASSERT_EQUAL_FATAL(dft_rules_begin(rules, source), 0);
        for (uint32_t call = 0; call < CALLS; call++)
            for (int path = -1; path < (int)PATHS; path++) {
                struct dft_event event = {.file = path < 0 ? 0 : PATH + (uint64_t)path};
                int expected = slow_group(lines, count, call, path);

                differ += group_of(rules, call, &event) != expected;
                met += expected < (int)count;
            }
        dft_rules_destroy(rules);
    }
    CU_ASSERT_EQUAL(differ, 0);
    CU_ASSERT(met > 1000);
}

int suite_rules(void)
{
    CU_TestInfo tests[] = {{"by hand", by_hand}, {"each line in turn", each_line_in_turn}, CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"rules of groups", make_names, drop_names, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
