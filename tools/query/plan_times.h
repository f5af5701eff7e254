/* SPDX-License-Identifier: MIT */
/* Where time groups begin and how wide they are. */
#ifndef DFT_PLAN_TIMES_H
#define DFT_PLAN_TIMES_H

#include "query/execution.h"

/* Width, base and grid of time groups, if there are some. Collective; returns 0 or -ENOMEM. */
int dft_choose_times(struct dft_execution *execution);
/* The widest interval of the rows of our own processes; 0: there are none. Collective. */
int dft_query_interval(struct dft_source *source, uint64_t *interval_ns);
/* The period of rows that another tracer counted; 0: there are none. Collective. */
int dft_query_period(struct dft_source *source, uint64_t *period_ns);

#endif
