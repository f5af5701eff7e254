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

#endif
