/* SPDX-License-Identifier: MIT */
/* How sure the first cause is that traces show. (Of telemetry first_cause.h says it, as the format
 * demands.)
 *
 * Looked at are the buckets of the suspect's bad time: from its spike as long as three of four
 * smoothed values are beyond the floor. `times` is what the suspect took (or moved) in them through
 * what is usual; `others` the largest such number of another rank in the same buckets, before the
 * onset. The answer is
 *
 *   high     three ranks at least, none missing; the suspect was the first alone, by two buckets at least where others
 *            follow; its bad time is a quarter of its active time (half, where it is over before the end) and five
 *            buckets at least, three of four of these
 *            are beyond the usual; and times is at least 5, and 4 times the others
 *   medium   the same with two ranks, or with ranks missing; or a tenth of the active time and three buckets at
 *            least, and times is at least 3, and twice the others; or a quarter and ten buckets, and
 *            times is at least 1.3, and 1.3 times the others
 *   low      all else; nobody is blamed (ranks_equals.h); several were first at once; or the suspect was as usual
 *            again when the next one began
 *
 * The numbers are set by made jobs whose truth is known (the test `confidence` in tests/tools/test_ranks.py): of the
 * answers with "high" 95 of 100 at least are right, and healthy jobs get none. Two ranks cannot say who of them is
 * unusual, however far they are apart. */
#ifndef DFT_RANKS_CONFIDENCE_H
#define DFT_RANKS_CONFIDENCE_H

#include "ranks/ranks_job.h"

/* What the search ran over. */
struct dft_searched {
    const struct dft_ranks_job *job;
    const uint64_t *medians;                /* of bytes, by bucket; NULL: time is measured */
    int kind;                               /* DFT_LOST_...: of time */
    const struct dft_metric_series *series; /* smoothed */
    uint32_t count;
};

/* Sets the confidence of the suspects, and measured->reason. Returns 0 or -ENOMEM. */
int dft_ranks_confide(const struct dft_searched *searched, struct dft_measured *measured);

/* How many suspects began at the earliest time. */
uint32_t dft_ranks_together(const struct dft_first_cause *cause);

#endif
