/* SPDX-License-Identifier: MIT */
/* Comparisons of many lines, simulated with fixed seeds: how often equal runs are told to differ, and how often
 * slower ones are found. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/family.h"
#include "suites.h"

#define LINES 50u
#define SIDE  20u

static const uint32_t sides[] = {2, 3, 5, 8, 12, 20};
static const double noises[] = {0.02, 0.1, 0.3};

static double normal(void)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += (roll(1u << 30) + 0.5) / (1u << 30);
    return sum;
}

struct simulated {
    struct dft_run_number whole[2 * SIDE], lines[LINES][2 * SIDE];
    uint32_t nruns, nlines;
};

/* Lines of like size whose time differs from run to run, independently; in B the first `slower`
 * of them take `times` as long. */
static void simulate(struct simulated *made, uint32_t n, uint32_t nlines, double noise, double times, uint32_t slower)
{
    made->nruns = 2 * n;
    made->nlines = nlines;
    for (uint32_t run = 0; run < 2 * n; run++) {
        made->whole[run] = (struct dft_run_number){0, run >= n, 1};
        for (uint32_t i = 0; i < nlines; i++) {
            double value = 1e9 * exp(noise * normal()) * (run >= n && i < slower ? times : 1);

            made->lines[i][run] = (struct dft_run_number){(uint64_t)value, run >= n, 1};
            made->whole[run].value += (uint64_t)value;
        }
    }
}

/* Is the change one, and B's median larger by more than a limit, as --fail-over has it? */
static int is_worse(const struct dft_family *family, const struct dft_run_number *runs, uint32_t nruns, double limit)
{
    const struct dft_family_member *member = dft_family_find(family, runs, nruns);
    struct dft_repeated_sides of;
    double a, b;

    dft_family_sides(runs, nruns, &of);
    a = (double)dft_repeated_of(of.of[0], of.n[0]).median;
    b = (double)dft_repeated_of(of.of[1], of.n[1]).median;
    return member && member->chance <= DFT_REPEATED_LEVEL && member->higher == 1 && b > a * (1 + limit);
}

struct found {
    unsigned any, worse, of_first; /* comparisons: with a difference either way; with a worse line; the first line */
};

static void compare(const struct simulated *made, struct found *found)
{
    struct dft_family family = {0};
    int any = 0, worse;

    CU_ASSERT_FATAL(!dft_family_add(&family, made->whole, made->nruns, DFT_FAMILY_WHOLE));
    for (uint32_t i = 0; i < made->nlines; i++)
        CU_ASSERT_FATAL(!dft_family_add(&family, made->lines[i], made->nruns, DFT_FAMILY_LINE));
    dft_family_correct(&family);
    for (uint32_t i = 0; i < family.count; i++)
        any |= family.members[i].chance <= DFT_REPEATED_LEVEL && family.members[i].higher;
    worse = is_worse(&family, made->whole, made->nruns, 0.1);
    for (uint32_t i = 0; i < made->nlines; i++)
        worse |= is_worse(&family, made->lines[i], made->nruns, 0.1);
    found->any += any != 0;
    found->worse += worse != 0;
    found->of_first += is_worse(&family, made->lines[0], made->nruns, 0.1);
    dft_family_fini(&family);
}

static struct found run(uint32_t rounds, uint32_t n, uint32_t nlines, double noise, double times, uint32_t slower)
{
    static struct simulated made;
    struct found found = {0};

    for (uint32_t round = 0; round < rounds; round++) {
        simulate(&made, n, nlines, noise, times, slower);
        compare(&made, &found);
    }
    return found;
}

/* Equal runs: at most 5 % of comparisons find anything, with what the number of rounds leaves open. */
static void false_alarms(void)
{
    static const uint32_t lines[] = {1, 10, 50};
    unsigned all = 0, found_any = 0;

    for (size_t s = 0; s < sizeof sides / sizeof *sides; s++)
        for (size_t l = 0; l < 3; l++)
            for (size_t k = 0; k < 3; k++) {
                uint32_t rounds = lines[l] * sides[s] > 100 ? 100 : 600;
                struct found found = run(rounds, sides[s], lines[l], noises[k], 1, 0);
                double most = 0.05 * rounds + 3.5 * sqrt(0.05 * 0.95 * rounds);

                printf("equal: %2u a side, %2u lines, noise %2.0f %%: different %.1f %%, worse by 10 %% %.1f %%\n",
                       sides[s], lines[l], 100 * noises[k], 100.0 * found.any / rounds, 100.0 * found.worse / rounds);
                CU_ASSERT(found.any <= most);
                all += rounds;
                found_any += found.any;
            }
    CU_ASSERT(found_any <= 0.05 * all);
}

/* The usual test of one line: Mann and Whitney's at 5 %, with U's from its table. */
static int mann_whitney(const struct dft_run_number *runs, uint32_t n, uint32_t most)
{
    uint32_t above = 0;

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = n; k < 2 * n; k++)
            above += runs[i].value > runs[k].value;
    return above <= most;
}

/* B is 20 % slower, and runs differ by 10 %. */
static void power(void)
{
    static const uint32_t u[] = {0, 0, 2, 13, 37, 127}; /* of `sides`; two and three cannot be told so */

    for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
        static struct simulated made;
        struct found one = {0}, ten, one_of_ten;
        unsigned rounds = 500, usual = 0;

        for (unsigned round = 0; round < rounds; round++) {
            simulate(&made, sides[s], 1, 0.1, 1.2, 1);
            usual += sides[s] >= 5 && mann_whitney(made.lines[0], sides[s], u[s]);
            compare(&made, &one);
        }
        ten = run(200, sides[s], 10, 0.1, 1.2, 10);
        one_of_ten = run(200, sides[s], 10, 0.1, 1.2, 1);
        printf("20 %% slower: %2u a side: one line %.0f %% (Mann-Whitney %.0f %%); ten %.0f %%; one of ten %.0f %%\n",
               sides[s], 100.0 * one.worse / rounds, 100.0 * usual / rounds, ten.worse / 2.0,
               one_of_ten.of_first / 2.0);
        CU_ASSERT(one.worse + rounds / 20 >= usual);
        CU_ASSERT(sides[s] < 12 || one.worse >= rounds * 9 / 10);
    }
}

/* Holm's correction with the weights, by hand. */
static void by_hand(void)
{
    struct dft_family family = {0};
    struct dft_run_number runs[16];
    static const uint64_t whole[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}; /* 2 of 12870 deals */
    static const uint64_t line[16] = {1, 2, 3, 4, 5, 6, 7, 9, 8, 10, 11, 12, 13, 14, 15, 16};  /* 4 */
    static const uint64_t other[16] = {1, 4, 5, 8, 9, 12, 13, 16, 2, 3, 6, 7, 10, 11, 14, 15}; /* as even as can be */
    const uint64_t *const all[] = {whole, line, other, line};

    for (int l = 0; l < 4; l++) {
        for (uint32_t i = 0; i < 16; i++)
            runs[i] = (struct dft_run_number){all[l][i] * (l + 1), i >= 8, 1};
        CU_ASSERT_FATAL(!dft_family_add(&family, runs, 16, l ? DFT_FAMILY_LINE : DFT_FAMILY_WHOLE));
    }
    CU_ASSERT_EQUAL(family.count, 3); /* runs in the same order are one test */
    dft_family_correct(&family);
    CU_ASSERT(family.members[0].is_whole && family.members[0].higher == 1);
    CU_ASSERT_DOUBLE_EQUAL(family.members[0].chance, 1.25 * 2.0 / 12870, 1e-12); /* four fifths of the level */
    CU_ASSERT_DOUBLE_EQUAL(family.members[1].chance, 2 * 4.0 / 12870, 1e-12);    /* one of two that are left */
    CU_ASSERT_DOUBLE_EQUAL(family.members[2].chance, 1, 1e-12);
    dft_family_fini(&family);
    /* Of fewer than five runs a side no line is tested. */
    family = (struct dft_family){0};
    for (uint32_t i = 0; i < 8; i++)
        runs[i] = (struct dft_run_number){i, i >= 4, 1};
    CU_ASSERT(!dft_family_add(&family, runs, 8, DFT_FAMILY_LINE) && !family.count);
}

int suite_family(void)
{
    CU_TestInfo tests[] = {{"by hand", by_hand}, {"false alarms", false_alarms}, {"power", power}, CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"many lines", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
