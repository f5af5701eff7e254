/* SPDX-License-Identifier: MIT */
/* The cubes of the page. */
#ifndef DFT_REPORT_CUBES_H
#define DFT_REPORT_CUBES_H

#include "report/report.h"

/* The steps of it, in this order. Each returns 0 or -errno. */
int dft_report_cubes(struct dft_report *report);
/* The value of each dimension that a group has; 0 of one that is no key. The value of a process that
 * the page does not have is DFT_WHO_MAX. */
void dft_report_values(const struct dft_report *report, const struct dft_answer *answer, const struct dft_group *group,
                       uint32_t at[DFT_DIMENSIONS]);

#endif
