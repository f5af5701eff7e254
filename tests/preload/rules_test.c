/* SPDX-License-Identifier: MIT */
/* The rules of what is kept as aggregates alone: what each form of an expression fits, answers that
 * are ready by call, wrong rules with their place, and bounds. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/hash.h"
#include "os/sys.h"
#include "settings/rules_inside.h"
#include "settings/rules_text.h"

uint32_t dft_pid = 4711;

void *dft_sys_map(size_t bytes)
{
    return calloc(1, bytes);
}

/* 0 stands for "none" here. */
static struct dft_rule_facts *whole(struct dft_rule_facts *facts)
{
    facts->fd = facts->fd ? facts->fd : -1;
    facts->offset = facts->offset ? facts->offset : -1;
    facts->tid = 7;
    return facts;
}

#define FACTS(...) whole(&(struct dft_rule_facts){__VA_ARGS__})

/* Compiles one rule alone. */
static int compile(const char *text)
{
    struct dft_rules_fault fault = {0};

    dft_rules_clear();
    if (dft_rules_compile(text, 1000, &fault)) {
        printf("%s: at %zu: %s\n", text, fault.at, fault.reason);
        return -1;
    }
    dft_rules_ready();
    return 0;
}

static int answer(const char *text, const struct dft_rule_facts *facts)
{
    struct dft_rule_facts with = *facts;

    CU_ASSERT_FATAL(!compile(text));
    with.files = facts->files ? dft_rules_file((const char *)(uintptr_t)facts->name,
                                               strlen((const char *)(uintptr_t)facts->name))
                              : 0;
    return dft_rules_aggregates_only(&with);
}

#define FITS(text, ...)     CU_ASSERT(answer(text, FACTS(__VA_ARGS__)) == 1)
#define FITS_NOT(text, ...) CU_ASSERT(answer(text, FACTS(__VA_ARGS__)) == 0)
#define CALL(what)          .call = DFT_CALL_##what
#define ON(path)            .files = 1, .name = (uintptr_t)(path)

static void test_names(void)
{
    FITS("name == 'read'", CALL(read));
    FITS_NOT("name == 'read'", CALL(pread));
    FITS("name EQ \"read\"", CALL(read));
    FITS_NOT("name == 'READ'", CALL(read));
    FITS("name != 'read'", CALL(write));
    FITS("name NEQ 'read'", CALL(write));
    FITS_NOT("name != 'read'", CALL(read));
    FITS("cat == 'posix'", CALL(read));
    FITS("cat == POSIX", CALL(read));
    FITS_NOT("cat == 'posix'", CALL(fread));
    FITS("cat LIKE 'st%'", CALL(fread));
    FITS("name IN {read, 'write'}", CALL(write));
    FITS_NOT("name IN {read, 'write'}", CALL(open));
    FITS("name in ('write')", CALL(write));
    FITS("name NOT IN {read, write}", CALL(open));
    FITS_NOT("name NOT IN {read, write}", CALL(read));
}

static void test_like(void)
{
    FITS("name LIKE 'read%'", CALL(readv));
    FITS("name LIKE '%read%'", CALL(preadv2));
    FITS("name LIKE 'p_ead'", CALL(pread));
    FITS_NOT("name LIKE 'p_ead'", CALL(preadv));
    FITS_NOT("name LIKE 'ead'", CALL(read));
    FITS("name LIKE '%'", CALL(read));
    FITS("name LIKE '%d'", CALL(read));
    FITS("name LIKE 'r%a%d'", CALL(read));
    FITS_NOT("name LIKE ''", CALL(read));
    FITS("name NOT LIKE '%read%'", CALL(write));
}

static void test_numbers(void)
{
    FITS("dur < 1ms", CALL(read), .dur_ns = 999999);
    FITS_NOT("dur < 1ms", CALL(read), .dur_ns = 1000000);
    FITS("dur <= 1ms", CALL(read), .dur_ns = 1000000);
}

static void test_units(void)
{
    FITS("dur GTE 1.5us", CALL(read), .dur_ns = 1500);
    FITS_NOT("dur GT 1.5us", CALL(read), .dur_ns = 1500);
    FITS("dur LT 2", CALL(read), .dur_ns = 1999); /* in thousands here: the unit that was given */
    FITS_NOT("dur LT 2", CALL(read), .dur_ns = 2000);
    FITS("dur == 1s", CALL(read), .dur_ns = 1000000000);
    FITS("dur == 2min", CALL(read), .dur_ns = 120000000000);
    FITS("size >= 4KiB", CALL(read), .size = 4096);
    FITS("size LTE 1M", CALL(read), .size = 1 << 20);
    FITS("size IN {1, 2, 3K}", CALL(read), .size = 3072);
    FITS_NOT("size IN {1, 2, 3K}", CALL(read), .size = 4);
    FITS("ret == -1 AND errno == 2", CALL(open), .result = -1, .err = 2);
    FITS("offset >= 1G", CALL(pread), .offset = INT64_C(1) << 30);
    FITS("fd == 3 AND tid == 7 AND pid == 4711", CALL(read), .fd = 3);
}

/* A comparison with what an event does not have is false, both ways. */
static void test_absent(void)
{
    FITS_NOT("size < 4096", CALL(stat));
    FITS_NOT("size >= 0", CALL(stat));
    FITS("NOT size < 4096", CALL(stat));
    FITS("size == 0", CALL(read));
    FITS_NOT("offset < 5", CALL(read));
    FITS_NOT("fd != 5", CALL(stat));
    FITS_NOT("file != '/a'", CALL(read));
    FITS_NOT("ret >= 0", .call = DFT_CALL_ANNOTATION + DFT_OP_REGION);
}

static void test_files(void)
{
    FITS("file LIKE '/scratch/%'", CALL(read), ON("/scratch/a/b"));
    FITS_NOT("file LIKE '/scratch/%'", CALL(read), ON("/scratch2/a"));
    FITS("file == '/a'", CALL(read), ON("/a"));
    FITS("file != '/a'", CALL(read), ON("/b"));
    FITS("fname IN {'/a', '/b'}", CALL(read), ON("/b"));
    FITS("file LIKE '%.so' OR file LIKE '%.pyc'", CALL(read), ON("/usr/lib/x.pyc"));
    FITS_NOT("file LIKE '%'", CALL(read));
}

/* Files are remembered by id. Where many come, the last ones are known, and none wrongly. */
static void test_remembered_files(void)
{
    uint32_t known = 0;

    CU_ASSERT_FATAL(!compile("file LIKE '/a/%'"));
    dft_rules_define_file(5, "/a/b", 4);
    dft_rules_define_file(6, "/b/b", 4);
    CU_ASSERT(dft_rules_files_of(5) == dft_rules_file("/a/b", 4));
    CU_ASSERT(dft_rules_files_of(6) == dft_rules_file("/b/b", 4));
    CU_ASSERT(dft_rules_files_of(7) == 0);
    for (unsigned i = 0; i < 100000; i++) {
        char path[32];
        size_t length = (size_t)snprintf(path, sizeof path, "/%c/%u", i % 2 ? 'a' : 'c', i);
        uint64_t id = dft_name_id(path, length);

        dft_rules_define_file(id, path, length);
        CU_ASSERT(dft_rules_files_of(id) == dft_rules_file(path, length));
    }
    for (unsigned i = 0; i < 100000; i++) {
        char path[32];
        size_t length = (size_t)snprintf(path, sizeof path, "/%c/%u", i % 2 ? 'a' : 'c', i);
        uint32_t bits = dft_rules_files_of(dft_name_id(path, length));

        known += bits != 0;
        CU_ASSERT(!bits || bits == dft_rules_file(path, length));
    }
    CU_ASSERT(known > 10000);
    CU_ASSERT_FATAL(!compile("dur < 1"));
    dft_rules_define_file(8, "/a/b", 4);
    CU_ASSERT(dft_rules_files_of(8) == 0);
}

static void test_joins(void)
{
    FITS("name == read AND dur > 1us OR name == write", CALL(write));
    FITS_NOT("name == read AND (dur > 1us OR name == write)", CALL(write));
    FITS("NOT NOT name == read", CALL(read));
    FITS("not (name == write or name == pwrite) and cat == posix", CALL(read));
    FITS_NOT("NOT name == read AND name == write", CALL(read));
    FITS("  (((name==read)))  ", CALL(read));
}

static void test_annotations(void)
{
    static const char step[] = "APP\0step", load[] = "data\0load";
    uint64_t of_step = dft_name_id(step, sizeof step - 1), of_load = dft_name_id(load, sizeof load - 1);
    const uint16_t region = DFT_CALL_ANNOTATION + DFT_OP_REGION;

    CU_ASSERT_FATAL(!compile("cat == 'app' AND name LIKE 'st%' AND dur < 1ms"));
    dft_rules_name(of_step, step, sizeof step - 1);
    dft_rules_name(of_step, step, sizeof step - 1);
    dft_rules_name(of_load, load, sizeof load - 1);
    CU_ASSERT(dft_rules_aggregates_only(FACTS(.call = region, .name = of_step)) == 1);
    CU_ASSERT(dft_rules_aggregates_only(FACTS(.call = region, .name = of_step, .dur_ns = 2000000)) == 0);
    CU_ASSERT(dft_rules_aggregates_only(FACTS(.call = region, .name = of_load)) == 0);
    CU_ASSERT_FATAL(!compile("dur < 1ms"));
    /* A name of which nothing is known: its events are kept. */
    CU_ASSERT(dft_rules_aggregates_only(FACTS(.call = region, .name = 12345)) == 0);
}

/* Many names: each is known, or its events are kept. */
static void test_many_names(void)
{
    unsigned known = 0;

    CU_ASSERT_FATAL(!compile("name LIKE 'n%'"));
    for (unsigned i = 0; i < 100000; i++) {
        char text[32];
        size_t length = (size_t)snprintf(text, sizeof text, "APP%cn%u", 0, i);
        uint64_t id = dft_name_id(text, length);

        dft_rules_name(id, text, length);
        known += (unsigned)dft_rules_aggregates_only(FACTS(.call = DFT_CALL_ANNOTATION + DFT_OP_REGION, .name = id));
    }
    CU_ASSERT(known > 100 && known <= 1024);
}

static void test_answers_by_call(void)
{
    CU_ASSERT_FATAL(!compile("name LIKE 'read%' OR (cat == 'stdio' AND size < 64)"));
    CU_ASSERT(dft_rules_of(DFT_CALL_read) == DFT_RULES_AGGREGATE);
    CU_ASSERT(dft_rules_of(DFT_CALL_write) == DFT_RULES_EVENT);
    CU_ASSERT(dft_rules_of(DFT_CALL_fread) == DFT_RULES_DEPENDS);
    CU_ASSERT(dft_rules_of(DFT_CALL_fclose) == DFT_RULES_EVENT); /* it has no size */
    CU_ASSERT(dft_rules_of(DFT_CALL_ANNOTATION + DFT_OP_REGION) == DFT_RULES_DEPENDS);
}

/* The answers by call agree with the evaluation of whole events. */
static void test_answers_agree(void)
{
    static const char *const rules[] = {"dur < 1us AND name == read OR cat == stdio",
                                        "NOT (size > 10 OR name LIKE 'f%')", "NOT file LIKE '/a%' AND errno != 0",
                                        "ret > 5 OR NOT ret > 5"};

    for (unsigned r = 0; r < sizeof rules / sizeof *rules; r++) {
        CU_ASSERT_FATAL(!compile(rules[r]));
        for (unsigned i = 0; i < 20000; i++) {
            struct dft_rule_facts facts = {.dur_ns = (unsigned)rand() % 2000,
                                           .size = (unsigned)rand() % 20,
                                           .result = rand() % 20 - 5,
                                           .offset = rand() % 3 - 1,
                                           .fd = rand() % 3 - 1,
                                           .err = (uint16_t)(rand() % 2),
                                           .files = rand() % 2 ? dft_rules_file("/a/b", 4) : 0,
                                           .call = (uint16_t)(1 + (unsigned)rand() % (DFT_CALL_COUNT - 1))};
            enum dft_rules_answer ready = dft_rules_of(facts.call);

            CU_ASSERT(ready == DFT_RULES_DEPENDS || (int)ready == dft_rules_decide(&facts));
        }
    }
}

static void test_wrong(void)
{
    static const struct {
        const char *text;
        size_t at;
        const char *reason, *nearest;
    } wrong[] = {
        {"", 0, "the rule is empty", NULL},
        {"durr < 5", 0, "there is no field", "dur"},
        {"nmae == 'read'", 0, "there is no field", "name"},
        {"name", 4, "the rule ends too early", NULL},
        {"name LIK 'a'", 5, "an operator is to stand here, not", "LIKE"},
        {"name == ", 8, "the rule ends too early", NULL},
        {"name == 'read", 8, "the text has no closing quote", NULL},
        {"name < 'read'", 5, "a text is compared by ==, !=, IN or LIKE", NULL},
        {"dur LIKE '1%'", 4, "a number is not compared by LIKE", NULL},
        {"dur < 'x'", 7, "the field is compared with numbers, not with", NULL},
        {"name == 5", 8, "the field is compared with texts in quotes, not with", NULL},
        {"dur < 5mss", 7, "this is no unit of the field", "ms"},
        {"fd < 5K", 6, "the field has no units", NULL},
        {"dur < 99999999999999999999", 6, "the number is too large", NULL},
        {"dur < 99999999999999min", 6, "the number is too large", NULL},
        {"dur < 5 ADN size > 3", 8, "AND or OR is to stand here, not", "AND"},
        {"(dur < 5", 8, "the rule ends too early", NULL},
        {"(dur < 5 ]", 9, "a closing parenthesis is to stand here, not", NULL},
        {"name IN read", 8, "a list in braces is to stand here, not", NULL},
        {"name IN {read write}", 14, "a comma or the end of the list is to stand here, not", NULL},
        {"name NOT == 'a'", 9, "behind NOT stands IN or LIKE", NULL},
        {"name == read @", 13, "AND or OR is to stand here, not", NULL},
        {"5 == dur", 0, "a field is to stand here, not", NULL},
    };

    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct dft_rules_fault fault = {0};

        dft_rules_clear();
        CU_ASSERT(dft_rules_compile(wrong[i].text, 1, &fault) == -1);
        CU_ASSERT(fault.at == wrong[i].at && fault.reason && !strcmp(fault.reason, wrong[i].reason));
        CU_ASSERT(!wrong[i].nearest || (fault.nearest && !strcmp(fault.nearest, wrong[i].nearest)));
        if (fault.at != wrong[i].at || !fault.reason || strcmp(fault.reason, wrong[i].reason))
            printf("%s: at %zu: %s\n", wrong[i].text, fault.at, fault.reason);
    }
}

static void test_bounds(void)
{
    static char text[200000];
    struct dft_rules_fault fault = {0};
    size_t used = 0;

    for (unsigned i = 0; i < 100; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%sfile == '/%u'", i ? " OR " : "", i);
    dft_rules_clear();
    CU_ASSERT(dft_rules_compile(text, 1, &fault) == -1 && strstr(fault.reason, "too long"));
    used = 0;
    for (unsigned i = 0; i < 2000; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%sdur == %u", i ? " OR " : "", i);
    dft_rules_clear();
    CU_ASSERT(dft_rules_compile(text, 1, &fault) == -1 && strstr(fault.reason, "too long"));
    memset(text, '(', 1000);
    memcpy(text + 1000, "dur < 1", 8);
    dft_rules_clear();
    CU_ASSERT(dft_rules_compile(text, 1, &fault) == -1 && strstr(fault.reason, "nested"));
    used = 0;
    for (unsigned i = 0; i < 31; i++) /* each level keeps two values on the stack */
        used += (size_t)snprintf(text + used, sizeof text - used, "dur > 1 OR dur > 2 AND (");
    used += (size_t)snprintf(text + used, sizeof text - used, "dur > 3");
    memset(text + used, ')', 31);
    text[used + 31] = 0;
    dft_rules_clear();
    CU_ASSERT(dft_rules_compile(text, 1, &fault) == -1 && strstr(fault.reason, "too long"));
}

/* Whatever stands there: an answer, and nothing read or written out of bounds. */
static void test_chance(void)
{
    static const char *const words[] = {"name", "dur", "file", "size", "==", "<",     "LIKE", "IN", "{", "}", "(", ")",
                                        "AND",  "OR",  "NOT",  "'a%'", "5",  "1.5ms", ",",    "-3", "x", "'", "%"};

    for (unsigned i = 0; i < 50000; i++) {
        char text[300] = "";
        struct dft_rules_fault fault = {0};

        for (unsigned k = 0; k < 1 + (unsigned)rand() % 20; k++) {
            strcat(text, words[(unsigned)rand() % (sizeof words / sizeof *words)]);
            strcat(text, rand() % 4 ? " " : "");
        }
        dft_rules_clear();
        if (dft_rules_compile(text, 1, &fault)) {
            CU_ASSERT(fault.reason && fault.at <= strlen(text));
            continue;
        }
        dft_rules_ready();
        CU_ASSERT((unsigned)dft_rules_aggregates_only(FACTS(CALL(read), .size = 5)) <= 1);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"names and categories", test_names},
        {"LIKE", test_like},
        {"numbers", test_numbers},
        {"units", test_units},
        {"what an event does not have", test_absent},
        {"files", test_files},
        {"remembered files", test_remembered_files},
        {"AND, OR, NOT", test_joins},
        {"annotations", test_annotations},
        {"many names", test_many_names},
        {"answers by call", test_answers_by_call},
        {"answers by call agree with events", test_answers_agree},
        {"wrong rules", test_wrong},
        {"bounds", test_bounds},
        {"chance", test_chance},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"rules", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};
    unsigned failed;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites))
        return 1;
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failed = CU_get_number_of_tests_failed();
    printf("%u passed, %u failed\n", CU_get_number_of_tests_run() - failed, failed);
    CU_cleanup_registry();
    return failed != 0;
}
