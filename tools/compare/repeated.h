/* SPDX-License-Identifier: MIT */
/* Repetitions: is a difference between two sides larger than what the repetitions of one side
 * differ among themselves? */
#ifndef DFT_REPEATED_H
#define DFT_REPEATED_H

#include <stdint.h>

#define DFT_REPEATED_FAR 5 /* times the wider range: a margin that chance alone seldom has */

/* One number of all repetitions of a side. */
struct dft_repeated {
    uint64_t median, low, high;   /* of an even number: the middle between the two in the middle */
    uint64_t rest_low, rest_high; /* the range without the outlier; without one: low, high */
    uint32_t n;
    int outlier; /* one value far off the rest: 1 above, -1 below, 0 none */
};

enum dft_repeated_sure { DFT_REPEATED_LOW, DFT_REPEATED_MEDIUM, DFT_REPEATED_HIGH };

/* Sorts the values. */
struct dft_repeated dft_repeated_of(uint64_t *values, uint32_t n);

/* Is b higher (1) or lower (-1) than a by more than repetitions differ; not (0); or is it unknown
 * (2), as neither side has two? Sides of three and more differ where their ranges do not meet, however
 * wide one range is. With fewer, the medians must also lie further apart than the wider range is wide.
 *
 * OUTLIERS. Of three and more, the lowest or highest value is an outlier where it lies further from its
 * neighbour than DFT_REPEATED_FAR times the range of the rest, and a quarter of the median at least. It
 * decides nothing where four and more are left to judge by; of three, it stays in the range.
 *
 * HOW SURE. `chance` is how often ranges of as many values lie apart by chance alone: 2 of all
 * ways to divide them. `margin` is the distance of the medians through the wider range.
 *
 *   high     three on each side at least and a margin of 5; or a chance below 1 % (five on each side)
 *   medium   three on each side at least; or two and a margin of 5
 *   low      all else: one on a side, or two that nearly touch the others
 * An outlier that was left out makes it medium at most.
 *
 * Where it is not so, the answer is surer the more repetitions there are: what would be larger
 * than their range would have shown. */
int dft_repeated_judge(const struct dft_repeated *a, const struct dft_repeated *b, enum dft_repeated_sure *sure);

/* How often ranges of n and m values lie apart by chance, in per cent. */
double dft_repeated_chance(uint32_t n, uint32_t m);
/* "low", "medium", "high" */
const char *dft_repeated_sure_name(enum dft_repeated_sure sure);

#endif
