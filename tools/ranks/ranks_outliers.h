/* SPDX-License-Identifier: MIT */
/* Which ranks stand out from their equals, by more than chance?
 *
 * VALUES are what each rank lost in each interval of time. The mean over the ranks is taken off in each
 * interval: what all lost together is nobody's. A rank's score is its largest sum over intervals in a row. So
 * somebody who is slow for a while only is found as well.
 *
 * THE TEST. Equal ranks are exchangeable: in any interval each could have had what the other had. So the
 * values of the ranks are permuted in each interval, 999 times. A rank stands out where no permutation makes a
 * score as large: that is a level of 0.1 % for all ranks together, however many they are. Those found are taken
 * out before the next one is tested. This is the permutation test of randomized blocks (Pitman 1938), with the
 * largest score, step by step (Westfall and Young 1993). Intervals are as long as needed to make them
 * independent: twice as long as the trouble of the other ranks lasts (their autocorrelation).
 *
 * THE OTHERS. The score must be twice the largest of the others too; from ten times on, and with a score of `alone`
 * at least, no test is made: one call that hangs has no second one to compare.
 * Those who stand out are few: three at most, and no more than half; or all ranks of their hosts.
 *
 * The numbers are set by simulated jobs (tests/tools/test_ranks_chance.py): of 200 jobs of equal ranks with
 * bursts by chance 4 blame a rank, of 200 jobs with a straggler all name it.
 */
#ifndef DFT_RANKS_OUTLIERS_H
#define DFT_RANKS_OUTLIERS_H

#include <stdint.h>

struct dft_outlier {
    uint32_t rank;     /* row of the values */
    uint32_t from, to; /* columns [from, to) of its largest sum */
    double score;
};

/* `values`: by rank, then interval; NAN: the rank did nothing then. `hosts`: a number of each rank's host.
 * found: for as many as there are ranks; they come in order of time. Returns 0 or -ENOMEM. */
int dft_outliers_find(const double *values, uint32_t nranks, uint32_t nintervals, const uint64_t *hosts, double alone,
                      struct dft_outlier *found, uint32_t *count);

#endif
