/* SPDX-License-Identifier: MIT */
/* Owns the compiled rules and their evaluation. Truth has three values while a part of an event is
 * not known: that is how the answers by call are worked out. */
#include "settings/rules.h"

#include <stdatomic.h>
#include <string.h>

#include "os/bulk.h"
#include "settings/rules_inside.h"
#include "os/self.h"
#include "os/sys.h"

int dft_rules_on;
uint8_t dft_rules_of_annotations;
uint8_t dft_rules_of_call[DFT_CALL_COUNT] DFT_BULK;

static struct dft_rule_step program[DFT_RULES_STEPS] DFT_BULK;
static uint32_t nsteps;

/* A test of a text. */
struct test {
    uint32_t text, length; /* in `texts` */
    uint8_t field, like;
};
static struct test name_tests[DFT_RULES_NAMES], file_tests[DFT_RULES_FILES];
static uint32_t nname_tests, nfile_tests;
static char texts[DFT_RULES_TEXT] DFT_BULK;
static uint32_t texts_used;

#define HAS_FILE (UINT32_C(1) << DFT_RULES_FILES)
#define IS_KNOWN (UINT64_C(1) << DFT_RULES_NAMES)

/* --- tests of texts --------------------------------------------------------------------------- */

static char folded(char letter, int fold)
{
    return fold && letter >= 'A' && letter <= 'Z' ? (char)(letter | 32) : letter;
}

/* `%` stands for any text, `_` for any letter. Goes back to the last `%` alone, so that the time is
 * bounded by the product of the lengths. */
static int is_like(const char *text, size_t length, const char *pattern, size_t size, int fold)
{
    size_t t = 0, p = 0, again_t = 0, again_p = SIZE_MAX;

    while (t < length) {
        if (p < size && pattern[p] == '%') {
            again_p = ++p;
            again_t = t;
        } else if (p < size && (pattern[p] == '_' || folded(pattern[p], fold) == folded(text[t], fold))) {
            p++;
            t++;
        } else if (again_p != SIZE_MAX) {
            p = again_p;
            t = ++again_t;
        } else {
            return 0;
        }
    }
    while (p < size && pattern[p] == '%')
        p++;
    return p == size;
}

static int is_equal(const char *text, size_t length, const char *other, size_t size, int fold)
{
    if (length != size)
        return 0;
    for (size_t i = 0; i < length; i++)
        if (folded(text[i], fold) != folded(other[i], fold))
            return 0;
    return 1;
}

static int fits(const struct test *test, const char *text, size_t length)
{
    const char *with = texts + test->text;
    int fold = test->field == DFT_RULE_CAT;

    return test->like ? is_like(text, length, with, test->length, fold)
                      : is_equal(text, length, with, test->length, fold);
}

/* One bit for each test of names. text: "category NUL name". */
static uint64_t test_name(const char *text, size_t length)
{
    size_t category = strnlen(text, length), name = category < length ? category + 1 : length;
    uint64_t bits = 0;

    for (uint32_t i = 0; i < nname_tests; i++)
        if (name_tests[i].field == DFT_RULE_CAT ? fits(&name_tests[i], text, category)
                                                : fits(&name_tests[i], text + name, length - name))
            bits |= UINT64_C(1) << i;
    return bits;
}

uint32_t dft_rules_file(const char *path, size_t length)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < nfile_tests; i++)
        if (fits(&file_tests[i], path, length))
            bits |= UINT32_C(1) << i;
    return nfile_tests ? bits | HAS_FILE : 0;
}

#define FILE_SETS 2048u
#define FILE_WAYS 8u

/* The tests of files that were named lately, where there are rules about files. Both words of an entry
 * are written without a lock; the first one, id ^ bits, shows whether they belong together. NULL: no
 * memory, and no file is known. */
static struct {
    _Atomic uint64_t check, bits;
} (*files)[FILE_WAYS];

uint32_t dft_rules_files_of(uint64_t id)
{
    for (uint32_t way = 0; files && way < FILE_WAYS; way++) {
        uint64_t bits = atomic_load_explicit(&files[id % FILE_SETS][way].bits, memory_order_relaxed);

        if (bits && (atomic_load_explicit(&files[id % FILE_SETS][way].check, memory_order_relaxed) ^ bits) == id)
            return (uint32_t)bits;
    }
    return 0;
}

void dft_rules_define_file(uint64_t id, const char *path, size_t length)
{
    static _Atomic uint32_t turn; /* whose place is taken; any will do */
    uint32_t bits, way = 0;

    if (!files || dft_rules_files_of(id))
        return;
    bits = dft_rules_file(path, length);
    while (way < FILE_WAYS && atomic_load_explicit(&files[id % FILE_SETS][way].bits, memory_order_relaxed))
        way++;
    if (way == FILE_WAYS) {
        way = (atomic_load_explicit(&turn, memory_order_relaxed) + 1) % FILE_WAYS;
        atomic_store_explicit(&turn, way, memory_order_relaxed);
    }
    atomic_store_explicit(&files[id % FILE_SETS][way].bits, bits, memory_order_relaxed);
    atomic_store_explicit(&files[id % FILE_SETS][way].check, id ^ bits, memory_order_relaxed);
}

/* --- names of annotations --------------------------------------------------------------------- */

#define NAMES 1024u
#define TRIES 8u

/* The tests of each name that was defined, IS_KNOWN with them. Written once: two writers of a name
 * write the same. A name for which there is no place is not known, so its events are kept. */
static struct {
    _Atomic uint64_t id, bits;
} names[NAMES] DFT_BULK;

void dft_rules_name(uint64_t id, const char *text, size_t length)
{
    uint64_t bits = test_name(text, length) | IS_KNOWN;

    for (uint32_t i = 0; dft_rules_on && i < TRIES; i++) {
        uint64_t there = 0;

        if (atomic_compare_exchange_strong_explicit(&names[(id + i) % NAMES].id, &there, id, memory_order_relaxed,
                                                    memory_order_relaxed) ||
            there == id) {
            atomic_store_explicit(&names[(id + i) % NAMES].bits, bits, memory_order_relaxed);
            return;
        }
    }
}

static uint64_t bits_of_name(uint64_t id)
{
    for (uint32_t i = 0; i < TRIES; i++)
        if (atomic_load_explicit(&names[(id + i) % NAMES].id, memory_order_relaxed) == id)
            return atomic_load_explicit(&names[(id + i) % NAMES].bits, memory_order_relaxed);
    return 0;
}

/* --- evaluation ------------------------------------------------------------------------------- */

enum truth { NO = 0, YES = 1, UNKNOWN = 2 };

/* What is known about an event: all of it, or its name alone (facts: NULL). */
struct known {
    const struct dft_rule_facts *facts;
    uint64_t names;
    int is_call, is_data;
};

/* Returns 0: the event has no such field. */
static int field_of(const struct known *known, uint8_t field, int64_t *value)
{
    const struct dft_rule_facts *facts = known->facts;

    switch (field) {
    case DFT_RULE_DUR:
        *value = facts->dur_ns > INT64_MAX ? INT64_MAX : (int64_t)facts->dur_ns;
        return 1;
    case DFT_RULE_SIZE:
        *value = facts->size > INT64_MAX ? INT64_MAX : (int64_t)facts->size;
        return known->is_data;
    case DFT_RULE_RET:
        *value = facts->result;
        return known->is_call;
    case DFT_RULE_OFFSET:
        *value = facts->offset;
        return facts->offset >= 0;
    case DFT_RULE_ERRNO:
        *value = facts->err;
        return known->is_call;
    case DFT_RULE_FD:
        *value = facts->fd;
        return facts->fd >= 0;
    case DFT_RULE_PID:
        *value = dft_pid;
        return 1;
    default:
        *value = facts->tid;
        return 1;
    }
}

static int is_never(const struct known *known, uint8_t field)
{
    return (field == DFT_RULE_SIZE && !known->is_data) ||
           ((field == DFT_RULE_RET || field == DFT_RULE_ERRNO) && !known->is_call);
}

static enum truth compare(const struct known *known, const struct dft_rule_step *step)
{
    int64_t value;

    if (!known->facts)
        return is_never(known, step->field) ? NO : UNKNOWN;
    if (!field_of(known, step->field, &value))
        return NO;
    switch (step->compare) {
    case DFT_RULE_EQ:
        return value == step->value;
    case DFT_RULE_NEQ:
        return value != step->value;
    case DFT_RULE_GT:
        return value > step->value;
    case DFT_RULE_GTE:
        return value >= step->value;
    case DFT_RULE_LT:
        return value < step->value;
    default:
        return value <= step->value;
    }
}

static enum truth test_file(const struct known *known, const struct dft_rule_step *step)
{
    if (!known->facts)
        return known->is_call ? UNKNOWN : NO;
    if (!known->is_call || !(known->facts->files & HAS_FILE))
        return NO;
    return (int64_t)(known->facts->files >> step->bit & 1) == step->value;
}

static enum truth both(enum truth a, enum truth b)
{
    return a == NO || b == NO ? NO : a == YES && b == YES ? YES : UNKNOWN;
}

static enum truth negated(enum truth a)
{
    return a == UNKNOWN ? UNKNOWN : (enum truth) !a;
}

static enum truth run(const struct known *known)
{
    uint8_t stack[DFT_RULES_DEPTH];
    uint32_t top = 0;

    for (uint32_t i = 0; i < nsteps; i++) {
        const struct dft_rule_step *step = &program[i];

        switch (step->what) {
        case DFT_RULE_NUMBER:
            stack[top++] = (uint8_t)compare(known, step);
            break;
        case DFT_RULE_NAME:
            stack[top++] = (known->names >> step->bit & 1) == (uint64_t)step->value;
            break;
        case DFT_RULE_FILE:
            stack[top++] = (uint8_t)test_file(known, step);
            break;
        case DFT_RULE_AND:
            top--;
            stack[top - 1] = (uint8_t)both(stack[top - 1], stack[top]);
            break;
        case DFT_RULE_OR:
            top--;
            stack[top - 1] = (uint8_t)negated(both(negated(stack[top - 1]), negated(stack[top])));
            break;
        default:
            stack[top - 1] = (uint8_t)negated(stack[top - 1]);
        }
    }
    return top ? (enum truth)stack[0] : NO;
}

static uint64_t names_of_call[DFT_CALL_COUNT] DFT_BULK;

int dft_rules_decide(const struct dft_rule_facts *facts)
{
    struct known known = {.facts = facts, .is_call = facts->call < DFT_CALL_COUNT};

    if (known.is_call) {
        known.is_data = dft_op_is_data(dft_call_rows[facts->call].op);
        known.names = names_of_call[facts->call];
    } else {
        known.names = bits_of_name(facts->name);
        if (!(known.names & IS_KNOWN))
            return 0;
    }
    return run(&known) == YES;
}

/* --- compilation ------------------------------------------------------------------------------ */

int dft_rules_put(const struct dft_rule_step *step)
{
    static uint32_t depth;

    if (!nsteps)
        depth = 0;
    depth += step->what <= DFT_RULE_FILE;
    depth -= step->what == DFT_RULE_AND || step->what == DFT_RULE_OR;
    if (nsteps == DFT_RULES_STEPS || depth > DFT_RULES_DEPTH)
        return -1;
    program[nsteps++] = *step;
    return 0;
}

int dft_rules_put_test(enum dft_rule_field field, int like, const char *text, size_t length, uint8_t *bit)
{
    int is_file = field == DFT_RULE_PATH;
    struct test *tests = is_file ? file_tests : name_tests;
    uint32_t *count = is_file ? &nfile_tests : &nname_tests;

    for (*bit = 0; *bit < *count; ++*bit)
        if (tests[*bit].field == field && tests[*bit].like == like && tests[*bit].length == length &&
            !memcmp(texts + tests[*bit].text, text, length))
            return 0;
    if (*count == (is_file ? DFT_RULES_FILES : DFT_RULES_NAMES) || length > sizeof texts - texts_used)
        return -1;
    memcpy(texts + texts_used, text, length);
    tests[(*count)++] = (struct test){texts_used, (uint32_t)length, (uint8_t)field, (uint8_t)like};
    texts_used += (uint32_t)length;
    return 0;
}

void dft_rules_clear(void)
{
    nsteps = nname_tests = nfile_tests = texts_used = 0;
    dft_rules_on = 0;
}

void dft_rules_ready(void)
{
    struct known known = {.is_call = 0};

    dft_rules_on = 1;
    if (nfile_tests && !files)
        files = dft_sys_map(FILE_SETS * sizeof *files);
    dft_rules_of_annotations = DFT_RULES_DEPENDS;
    for (uint32_t i = 1; i < DFT_CALL_COUNT; i++) {
        known = (struct known){.is_call = 1, .is_data = dft_op_is_data(dft_call_rows[i].op)};
        known.names = names_of_call[i] = test_name(dft_call_text(&dft_call_rows[i]), dft_call_rows[i].length);
        dft_rules_of_call[i] = (uint8_t)run(&known);
    }
}
