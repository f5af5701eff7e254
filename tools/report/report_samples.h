/* SPDX-License-Identifier: MIT */
/* Single events of the page. */
#ifndef DFT_REPORT_SAMPLES_H
#define DFT_REPORT_SAMPLES_H

#include "report/report.h"

int dft_report_samples(struct dft_report *report);

#endif
