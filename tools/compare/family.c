/* SPDX-License-Identifier: MIT */
/* Owns the tests of all lines of a comparison, and their correction for how many they are. */
#include "compare/family.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define WHOLE 4 /* times the level of all lines together: what is tested first keeps its power */

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

void dft_family_sides(const struct dft_run_number *runs, uint32_t nruns, struct dft_repeated_sides *sides)
{
    sides->n[0] = sides->n[1] = 0;
    for (uint32_t i = 0; i < nruns; i++)
        if (runs[i].known)
            sides->of[runs[i].side][sides->n[runs[i].side]++] = runs[i].value;
    for (int side = 0; side < 2; side++)
        qsort(sides->of[side], sides->n[side], sizeof *sides->of[side], ascending);
}

/* How many of sorted values are below one; `or_equal`: or are it. */
static uint32_t below(const uint64_t *values, uint32_t n, uint64_t value, int or_equal)
{
    uint32_t from = 0, to = n;

    while (from < to) {
        uint32_t middle = (from + to) / 2;

        if (values[middle] < value || (or_equal && values[middle] == value))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Equal runs have equal ranks: twice the mean of the places that they share. */
static void find_ranks(const struct dft_run_number *runs, uint32_t nruns, const struct dft_repeated_sides *sides,
                       uint16_t ranks[2 * DFT_REPETITIONS_MAX])
{
    memset(ranks, 0, 2 * DFT_REPETITIONS_MAX * sizeof *ranks);
    for (uint32_t i = 0; i < nruns; i++)
        for (int side = 0; runs[i].known && side < 2; side++)
            ranks[i] += below(sides->of[side], sides->n[side], runs[i].value, 0) +
                        below(sides->of[side], sides->n[side], runs[i].value, 1) + !side;
}

static struct dft_family_member *find(const struct dft_family *family, const uint16_t ranks[2 * DFT_REPETITIONS_MAX])
{
    for (uint32_t i = 0; i < family->count; i++)
        if (!memcmp(family->members[i].ranks, ranks, sizeof family->members[i].ranks))
            return &family->members[i];
    return NULL;
}

int dft_family_add(struct dft_family *family, const struct dft_run_number *runs, uint32_t nruns,
                   enum dft_family_role role)
{
    struct dft_family_member member = {.is_whole = role == DFT_FAMILY_WHOLE}, *known;
    struct dft_repeated_sides sides;

    dft_family_sides(runs, nruns, &sides);
    if (role == DFT_FAMILY_LINE && (sides.n[0] < DFT_FAMILY_RUNS_MIN || sides.n[1] < DFT_FAMILY_RUNS_MIN))
        return 0;
    find_ranks(runs, nruns, &sides, member.ranks);
    known = find(family, member.ranks);
    if (known) {
        known->is_whole |= member.is_whole;
        return 0;
    }
    if (DFT_ARRAY_RESERVE(family->members, family->capacity, family->count + (size_t)1))
        return -ENOMEM;
    member.chance = dft_repeated_chance(&sides, &member.higher);
    family->members[family->count++] = member;
    return 0;
}

static int by_chance(const void *left, const void *right)
{
    const struct dft_family_member *a = left, *b = right;
    double x = a->chance * b->weight, y = b->chance * a->weight;

    return x < y ? -1 : x > y;
}

void dft_family_correct(struct dft_family *family)
{
    double rest = 0, least = 0;
    uint32_t lines = 0;

    for (uint32_t i = 0; i < family->count; i++)
        lines += !family->members[i].is_whole;
    for (uint32_t i = 0; i < family->count; i++) {
        struct dft_family_member *member = &family->members[i];

        member->weight = member->is_whole && lines ? WHOLE * (double)lines : 1;
        rest += member->weight;
    }
    if (family->count)
        qsort(family->members, family->count, sizeof *family->members, by_chance);
    for (uint32_t i = 0; i < family->count; i++) {
        struct dft_family_member *member = &family->members[i];
        double chance = member->chance * rest / member->weight;

        least = chance < least ? least : chance < 1 ? chance : 1;
        member->chance = least;
        rest -= member->weight;
    }
}

const struct dft_family_member *dft_family_find(const struct dft_family *family, const struct dft_run_number *runs,
                                                uint32_t nruns)
{
    uint16_t ranks[2 * DFT_REPETITIONS_MAX];
    struct dft_repeated_sides sides;

    dft_family_sides(runs, nruns, &sides);
    find_ranks(runs, nruns, &sides, ranks);
    return find(family, ranks);
}

void dft_family_fini(struct dft_family *family)
{
    free(family->members);
}
