/* SPDX-License-Identifier: MIT */
/* Histograms of durations for the page, by call and what else it may filter by. */
#ifndef DFT_REPORT_LATENCY_H
#define DFT_REPORT_LATENCY_H

#include "report/report.h"

int dft_report_latency(struct dft_report *report);

#endif
