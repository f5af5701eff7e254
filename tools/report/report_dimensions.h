/* SPDX-License-Identifier: MIT */
/* The dimensions of the page, one by one. */
#ifndef DFT_REPORT_DIMENSIONS_H
#define DFT_REPORT_DIMENSIONS_H

#include "report/report.h"

#define DFT_REPORT_PROCESSES 20000u /* of the tree */

/* Each returns 0 or -errno, in this order. */
int dft_report_times(struct dft_report *report);
/* Which value each process has. */
int dft_report_who(struct dft_report *report);
/* Calls, regions, files and stacks: those with the most time. */
int dft_report_tops(struct dft_report *report);
/* The tables of processes. base_ns must be known. */
int dft_report_people(struct dft_report *report);

#endif
