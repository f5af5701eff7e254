/* SPDX-License-Identifier: MIT */
/* PerfFlowAspect's weave symbols. */
#ifndef DFT_PERFFLOW_H
#define DFT_PERFFLOW_H

/* Constructor only: PERFFLOW_OPTIONS; and, whether tracing is on or not, a library behind ours that
 * has the symbols. */
void dft_perfflow_init(char *const *environment);
void dft_perfflow_find_next(void);

#endif
