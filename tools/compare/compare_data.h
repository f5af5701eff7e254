/* SPDX-License-Identifier: MIT */
/* A comparison for programs. */
#ifndef DFT_COMPARE_DATA_H
#define DFT_COMPARE_DATA_H

#include "compare/compare.h"

int dft_compare_json(const struct dft_comparison *comparison);
int dft_compare_csv(const struct dft_comparison *comparison);

#endif
