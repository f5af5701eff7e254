/* SPDX-License-Identifier: MIT */
/* Reads what has been added to traces. */
#ifndef DFT_TOP_TRACES_H
#define DFT_TOP_TRACES_H

#include "top/watch.h"

int dft_top_traces_read(struct dft_top_watch *watch, int *is_open);

#endif
