/* SPDX-License-Identifier: MIT */
/* The hash map and the growing array of tools: against an array that is searched from its start. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/nearest_word.h"
#include "base/plot.h"
#include "suites.h"

#define KEYS 5000

static struct {
    uint64_t key, value;
} model[KEYS];
static size_t modelled;

static uint64_t *model_find(uint64_t key)
{
    for (size_t i = 0; i < modelled; i++)
        if (model[i].key == key)
            return &model[i].value;
    return NULL;
}

static void put_one(struct dft_map *map, uint64_t key)
{
    uint64_t *expected = model_find(key), *value = dft_map_put(map, key);

    if (!expected) {
        model[modelled].key = key;
        expected = &model[modelled++].value;
        *expected = 0;
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(value);
    CU_ASSERT_EQUAL(*value, *expected);
    *value = *expected += 1 + roll(9);
}

static void map_is_the_model(void)
{
    struct dft_map map = {0};

    CU_ASSERT_PTR_NULL(dft_map_find(&map, 7));
    for (int round = 0; round < 3; round++) {
        modelled = 0;
        /* Keys that are dense, far apart and equal in their low bits. */
        for (unsigned i = 0; i < KEYS; i++)
            put_one(&map, 1 + ((uint64_t)roll(KEYS / 2) << (20 * round)));
        CU_ASSERT_EQUAL(map.count, modelled);
        for (unsigned i = 0; i < KEYS; i++) {
            uint64_t key = 1 + ((uint64_t)i << (20 * round));
            const uint64_t *value = dft_map_find(&map, key), *expected = model_find(key);

            CU_ASSERT_EQUAL(!value, !expected);
            if (value && expected)
                CU_ASSERT_EQUAL(*value, *expected);
        }
        dft_map_clear(&map);
        CU_ASSERT_EQUAL(map.count, 0);
        CU_ASSERT_PTR_NULL(dft_map_find(&map, 1));
    }
    dft_map_fini(&map);
}

static void joined_keys_differ(void)
{
    for (uint64_t a = 0; a < 40; a++)
        for (uint64_t b = 0; b < 40; b++) {
            CU_ASSERT_NOT_EQUAL(dft_map_join(a, b), 0);
            if (a != b)
                CU_ASSERT_NOT_EQUAL(dft_map_join(a, b), dft_map_join(b, a));
        }
}

static void array_keeps_what_it_has(void)
{
    uint32_t *numbers = NULL;
    size_t capacity = 0, count = 0;

    for (uint32_t i = 0; i < 1000; i++) {
        CU_ASSERT_EQUAL_FATAL(DFT_ARRAY_PUSH(numbers, capacity, count, i * i), 0);
        CU_ASSERT(count == i + 1 && capacity >= count);
    }
    for (uint32_t i = 0; i < 1000; i++)
        CU_ASSERT_EQUAL(numbers[i], i * i);
    /* What cannot be had leaves the array as it is. */
    CU_ASSERT_EQUAL(DFT_ARRAY_RESERVE(numbers, capacity, SIZE_MAX / 2), -ENOMEM);
    CU_ASSERT(count == 1000 && capacity < 4000 && numbers[999] == 999 * 999);
    free(numbers);
}

static void words_that_are_meant(void)
{
    static const char *const words[] = {"mount", NULL, "host", "errno", "a", "access"};
    static const struct {
        const char *word, *meant;
    } cases[] = {{"mout", "mount"},   {"mount", "mount"}, {"hst", "host"},     {"errn", "errno"}, {"error", NULL},
                 {"acces", "access"}, {"b", NULL},        {"", NULL},          {"xyz", NULL},     {"hostname", NULL},
                 {"hots", "host"},    {"HSOT", "host"},   {"acecss", "access"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = dft_nearest_word(cases[i].word, strlen(cases[i].word), words, 6);

        CU_ASSERT(cases[i].meant ? found && !strcmp(found, cases[i].meant) : !found);
    }
}

static void levels_of_plots(void)
{
    for (unsigned levels = 1; levels < 50; levels++) {
        CU_ASSERT_EQUAL(dft_plot_level(0, 1000, levels), 0);
        CU_ASSERT_EQUAL(dft_plot_level(1, UINT64_MAX, levels), 1);
        CU_ASSERT_EQUAL(dft_plot_level(UINT64_MAX, UINT64_MAX, levels), levels);
        CU_ASSERT_EQUAL(dft_plot_level(7, 0, levels), 0);
        for (uint64_t value = 1; value <= 1000; value++) {
            unsigned level = dft_plot_level(value, 1000, levels);

            CU_ASSERT(level >= dft_plot_level(value - 1, 1000, levels) && level >= 1 && level <= levels);
        }
    }
    for (unsigned level = 0; level <= DFT_PLOT_LEVELS; level++)
        CU_ASSERT(strlen(dft_plot_bar(0, level)) == 1 && strlen(dft_plot_bar(1, level)) == (level ? 3 : 1));
}

int suite_base(void)
{
    CU_TestInfo tests[] = {{"a map is what a list of pairs is", map_is_the_model},
                           {"joined keys differ, and are not 0", joined_keys_differ},
                           {"an array keeps what it has", array_keeps_what_it_has},
                           {"a misspelt word has a nearest one", words_that_are_meant},
                           {"levels of plots", levels_of_plots},
                           CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"map and array", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
