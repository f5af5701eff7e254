/* SPDX-License-Identifier: MIT */
/* Times and sums of a trace of DFTracer: which are believed. */
#ifndef DFT_PFW_TIME_H
#define DFT_PFW_TIME_H

#include "format/leb128.h"
#include "dftracer/pfw_inside.h"

#define DFT_PFW_LATEST_NS (UINT64_C(1) << 62) /* the year 2116: no time of a trace is later */
/* Of a file: what does not fit is not counted, and reported. Some files together may wrap, which is reported, too. */
#define DFT_PFW_SUM_MAX   (UINT64_C(1) << 63)

int dft_pfw_when_else(struct dft_pfw *pfw, const struct dft_pfw_value *value, uint64_t *ns);

/* A time or a duration in nanoseconds. Returns 0, or -1: it is none. */
static inline int dft_pfw_when(struct dft_pfw *pfw, const struct dft_pfw_value *value, uint64_t *ns)
{
    if (dft_likely(value->kind == DFT_PFW_INTEGER && !value->negative &&
                   !__builtin_mul_overflow(value->number, pfw->known->unit_ns, ns) && *ns <= DFT_PFW_LATEST_NS))
        return 0;
    return dft_pfw_when_else(pfw, value, ns);
}

/* The start of the record at hand, which has a time; it is the file's time now. Returns 0, or -1: it is no time, which
 * is counted. */
int dft_pfw_start(struct dft_pfw *pfw, uint64_t *start_ns);

/* The time of `count` calls, or 0 where it cannot be true, which is counted. */
uint64_t dft_pfw_duration(struct dft_pfw *pfw, uint64_t ns, uint64_t count);

/* Adds a number to its sum over the file. Returns whether it fits. */
static inline int dft_pfw_sum_fits(uint64_t *sum, uint64_t number)
{
    if (dft_unlikely(number > DFT_PFW_SUM_MAX - *sum))
        return 0;
    *sum += number;
    return 1;
}

#endif
