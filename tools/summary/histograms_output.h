/* SPDX-License-Identifier: MIT */
/* Histograms of the summary, for people and as JSON. */
#ifndef DFT_HISTOGRAMS_OUTPUT_H
#define DFT_HISTOGRAMS_OUTPUT_H

#include "base/write_json.h"
#include "query/histograms.h"
#include "summary/summary.h"

/* Is --hist requested in a way that it cannot be answered? Says why on stderr. Returns 0 or
 * -EINVAL. */
int dft_histograms_check(const struct dft_summary *summary);
/* Asks, and prints them: durations at the left, sizes at the right. Returns as
 * dft_histograms_ask. */
int dft_histograms_print(struct dft_summary *summary);
/* Asks, and writes the member "histograms". Returns as dft_histograms_ask. */
int dft_histograms_json(struct dft_json *json, struct dft_summary *summary);

#endif
