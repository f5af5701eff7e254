/* SPDX-License-Identifier: MIT */
/* The rank-sum test: do two lists of values differ by more than chance, in where they lie? */
#ifndef DFT_RANK_TEST_H
#define DFT_RANK_TEST_H

#include <stdint.h>

#define DFT_RANK_TEST_MIN 8u /* values on each side */

/* Are b's values higher (1) or lower (-1) than a's beyond chance, not (0), or is it unknown (2)?
 * Sorts both. The statistic is U with its correction for continuity; its variance has the
 * correction for ties. */
int dft_rank_test(uint64_t *a, uint32_t n, uint64_t *b, uint32_t m);

/* How often chance alone, if all values were of one pot, puts the rank sum as far from its mean as it
 * is, two-sided: from 0 to 1. Up to 40 values in all it is counted over all ways to deal these values,
 * equal ones among them (Streitberg and Roehmel 1986); from there on it is of the normal law with the
 * corrections above (Mann and Whitney 1947; Lehmann, Nonparametrics, 1975). *higher: where b's values
 * lie, 1 higher, -1 lower, 0 neither. Both are sorted. */
double dft_rank_chance(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m, int *higher);

/* How many of the n m ordered differences of pairs are left out at each end of an interval that has the true difference
 * in 95 % of cases (Hodges and Lehmann 1963). *confidence: how often it has, exactly. Where no interval has it so
 * often, 0: the whole range. */
uint32_t dft_rank_trim(uint32_t n, uint32_t m, double *confidence);

#endif
