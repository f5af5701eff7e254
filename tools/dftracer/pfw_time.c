/* SPDX-License-Identifier: MIT */
/* Times and durations of a trace of DFTracer: which are believed. */
#include "dftracer/pfw_time.h"

#define LONGEST_NS UINT64_C(315576000000000000) /* ten years: no call, region or job takes longer */

int dft_pfw_when_else(struct dft_pfw *pfw, const struct dft_pfw_value *value, uint64_t *ns)
{
    int negative;

    if (dft_pfw_scaled(value, pfw->known->unit_ns, ns, &negative) || negative)
        return -1;
    if (*ns <= DFT_PFW_LATEST_NS)
        return 0;
    pfw->timed = 1; /* another unit may make sense of it */
    return -1;
}

int dft_pfw_start(struct dft_pfw *pfw, uint64_t *start_ns)
{
    if (dft_unlikely(dft_pfw_when(pfw, DFT_PFW_GET(pfw->record, TS), start_ns))) {
        pfw->counts->untimed++;
        return -1;
    }
    if (dft_unlikely(!pfw->first_ns))
        pfw->first_ns = *start_ns;
    pfw->counts->far +=
        (*start_ns > pfw->first_ns ? *start_ns - pfw->first_ns : pfw->first_ns - *start_ns) > LONGEST_NS;
    pfw->now_ns = *start_ns;
    pfw->timed = 1;
    return 0;
}

/* One that is longer than any program runs was made by a clock that stepped back. */
uint64_t dft_pfw_duration(struct dft_pfw *pfw, uint64_t ns, uint64_t count)
{
    if (dft_likely(ns <= LONGEST_NS || ns / count <= LONGEST_NS) && dft_likely(dft_pfw_sum_fits(&pfw->time_sum, ns)))
        return ns;
    pfw->counts->long_durations++;
    return 0;
}
