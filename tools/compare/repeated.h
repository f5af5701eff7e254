/* SPDX-License-Identifier: MIT */
/* Repetitions: is a difference between two sides larger than what the repetitions of one side
 * differ among themselves? */
#ifndef DFT_REPEATED_H
#define DFT_REPEATED_H

#include <stdint.h>

#define DFT_REPETITIONS_MAX 64u  /* of a side */
#define DFT_REPEATED_LEVEL  0.05 /* a difference that chance alone makes less often is one */

/* One number of all repetitions of a side. */
struct dft_repeated {
    uint64_t median, low, high;   /* of an even number: the middle between the two in the middle */
    uint64_t rest_low, rest_high; /* the range without the outlier; without one: low, high */
    uint32_t n;
    int outlier; /* one value far off the rest: 1 above, -1 below, 0 none */
};

enum dft_repeated_sure { DFT_REPEATED_LOW, DFT_REPEATED_MEDIUM, DFT_REPEATED_HIGH };

/* The numbers of both sides, sorted. */
struct dft_repeated_sides {
    uint64_t of[2][DFT_REPETITIONS_MAX];
    uint32_t n[2];
};

/* Where the true difference of B and A lies, how often: from 0 to 1. */
struct dft_repeated_interval {
    int64_t low, high;
    double confidence;
};

/* Sorts the values. An outlier, of three and more, is the lowest or highest value that lies further from its neighbour
 * than five times the range of the rest, and a quarter of the median at least. It is named, and decides nothing
 * alone. */
struct dft_repeated dft_repeated_of(uint64_t *values, uint32_t n);

/* How often chance alone makes B differ from A as much, either way. *higher: 1 B is higher, -1 lower, 0 neither.
 *
 * Where the rank-sum test can reach the level (rank_test.h), it answers. With so few runs that even sides that lie
 * apart are no rarity (three and three: one in ten), it is Student's t-test of the logarithms, and 1 where the sides
 * meet. That test takes the noise for lognormal. */
double dft_repeated_chance(const struct dft_repeated_sides *sides, int *higher);

/* By the differences of all pairs; at 95 %, or the whole range of them where fewer runs cannot give that. Each side
 * has one at least. */
struct dft_repeated_interval dft_repeated_interval(const struct dft_repeated_sides *sides);

/* How often ranges of n and m values lie apart by chance. */
double dft_repeated_apart(uint32_t n, uint32_t m);

/* HOW SURE. For a difference: by its chance and by the runs of the side with fewer.
 *
 *   high     a chance of 1 % at most (by the t-test: 0.1 %), and three runs
 *   medium   three runs; or two and such a chance
 *   low      all else
 *
 * For no difference: by its interval, in parts of A's median.
 *
 *   high     within 5 % either way, at 95 %
 *   medium   within 25 %, at 90 % (three and three)
 *   low      all else */
enum dft_repeated_sure dft_repeated_sure_beyond(const struct dft_repeated_sides *sides, double chance);
enum dft_repeated_sure dft_repeated_sure_within(const struct dft_repeated_interval *interval, uint64_t median);

/* "low", "medium", "high" */
const char *dft_repeated_sure_name(enum dft_repeated_sure sure);

#endif
