/* SPDX-License-Identifier: MIT */
/* First cause: finds the rank that departed first from its earlier behaviour.
 *
 * Each rank has a series of samples in order of time. Consecutive rises add up until a sample does
 * not rise. A rank's threshold is the larger of `floor` and a tenth of its largest value. The
 * rank's spike is where the rises first reach its threshold. Spikes are put in order on the aligned
 * clock: time - offset of the rank. The second spike is the onset. The suspects are the ranks with
 * a spike up to the onset. */
#ifndef DFT_FIRST_CAUSE_H
#define DFT_FIRST_CAUSE_H

#include <stdint.h>

struct dft_sample {
    int64_t time_ns;
    int64_t value; /* not negative */
};

struct dft_metric_series {
    uint32_t rank;
    uint32_t count;
    const struct dft_sample *samples;
    int64_t offset_ns;
};

enum dft_confidence { DFT_CONFIDENCE_LOW, DFT_CONFIDENCE_MEDIUM, DFT_CONFIDENCE_HIGH };

struct dft_suspect {
    uint32_t rank;
    int64_t time_ns, aligned_ns; /* time of the spike */
    int64_t delta;               /* sum of the rises */
    uint32_t samples;            /* number of samples that rose */
    int64_t lead_ns;             /* time from the spike to the onset; 0 without an onset */
    enum dft_confidence confidence;
};

struct dft_first_cause {
    uint32_t candidates; /* ranks with a spike */
    int has_onset;
    int64_t onset_ns;
    struct dft_suspect *suspects; /* in order */
    uint32_t nsuspects;
    uint32_t *short_ranks; /* ranks with fewer than two samples, ascending */
    uint32_t nshort;
};

/* `interval_ns`: the usual time between samples; `missing`: there are ranks without samples. The
 * series are in order of rank, with each rank once. Returns 0 or -ENOMEM; after 0 the caller calls
 * dft_first_cause_fini. */
int dft_first_cause_find(const struct dft_metric_series *series, uint32_t count, int64_t floor, int64_t interval_ns,
                         int missing, struct dft_first_cause *found);
/* `first` becomes the first suspect: ranks with a spike before it are no candidates any more. The search
 * had a series of its rank. Suspects have no confidence then. */
void dft_first_cause_lead(struct dft_first_cause *found, const struct dft_suspect *first);
void dft_first_cause_fini(struct dft_first_cause *found);

const char *dft_confidence_name(enum dft_confidence confidence);

#endif
