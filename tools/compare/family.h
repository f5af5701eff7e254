/* SPDX-License-Identifier: MIT */
/* Many lines, one level: of all that is tested together, chance alone makes one difference or more in 5 % of
 * comparisons at most. */
#ifndef DFT_FAMILY_H
#define DFT_FAMILY_H

#include "compare/repeated.h"

#define DFT_FAMILY_RUNS_MIN 5u /* of each side: with fewer, no test of many lines reaches the level */

/* The number of a line in one run. A run that does not know it counts for nothing. */
struct dft_run_number {
    uint64_t value;
    uint8_t side, known;
};

enum dft_family_role {
    DFT_FAMILY_WHOLE, /* all I/O: it is tested first */
    DFT_FAMILY_LINE   /* with fewer than DFT_FAMILY_RUNS_MIN runs on a side, none is tested */
};

struct dft_family_member {
    uint16_t ranks[2 * DFT_REPETITIONS_MAX]; /* of the runs in order; 0: unknown */
    double chance, weight;                   /* chance: corrected, once all are known */
    int higher, is_whole;
};

struct dft_family {
    struct dft_family_member *members;
    uint32_t count, capacity;
};

void dft_family_sides(const struct dft_run_number *runs, uint32_t nruns, struct dft_repeated_sides *sides);
/* Adds a line that is to be tested, once: lines whose runs stand in the same order are one test. Returns 0 or
 * -ENOMEM. */
int dft_family_add(struct dft_family *family, const struct dft_run_number *runs, uint32_t nruns,
                   enum dft_family_role role);
/* Corrects the chances for the number of tests (Holm 1979, with weights): four fifths of the level are for the
 * whole, one fifth is for all lines, and what is found leaves its part to the rest. */
void dft_family_correct(struct dft_family *family);
/* The test of a line; NULL: there is none. */
const struct dft_family_member *dft_family_find(const struct dft_family *family, const struct dft_run_number *runs,
                                                uint32_t nruns);
void dft_family_fini(struct dft_family *family);

#endif
