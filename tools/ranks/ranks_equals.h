/* SPDX-License-Identifier: MIT */
/* A rank is blamed for what it lost beyond its equals, and only where chance does not do that.
 *
 * What a rank lost in a bucket is its time beyond that of as many calls of their sizes, at the pace of the
 * other ranks in the same bucket. Where most of these make no calls, the pace is that of the rank in the
 * middle over the whole job. In a bucket in which all are slow chance is larger, too, so values are divided by
 * the pace. Ranks do different work: one that does more than the mean counts as the mean, so its scatter is
 * not larger. A call that lasts longer than a bucket is one value. Of all time in I/O, so is what comes when half
 * of the ranks have ended: the last one is alone then, by chance or not. ranks_outliers.h says who stands out. The
 * rank must also take 1.3 times what the others would (twice their bytes), and lose a hundredth of the wall
 * time: less is nobody's trouble.
 */
#ifndef DFT_RANKS_EQUALS_H
#define DFT_RANKS_EQUALS_H

#include "ranks/ranks_job.h"

/* Sets measured->blamed, in order of time. Returns 0 or -ENOMEM. */
int dft_ranks_blame(const struct dft_ranks_job *job, enum dft_ranks_measure measure, struct dft_measured *measured);
/* Sets job->slow_stands: does the slowest rank stand out by its time in I/O? Returns 0 or -ENOMEM. */
int dft_ranks_blame_slow(struct dft_ranks_job *job);

#endif
