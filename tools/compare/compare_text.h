/* SPDX-License-Identifier: MIT */
/* A comparison for people. */
#ifndef DFT_COMPARE_TEXT_H
#define DFT_COMPARE_TEXT_H

#include "compare/compare.h"

/* Output, to standard output. Return 0 or -ENOMEM. */
int dft_compare_print(const struct dft_comparison *comparison);

#endif
