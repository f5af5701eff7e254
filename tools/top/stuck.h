/* SPDX-License-Identifier: MIT */
/* Where the threads are that hang in a call. */
#ifndef DFT_TOP_STUCK_H
#define DFT_TOP_STUCK_H

#include "top/frame.h"

/* Lines, which the caller frees. NULL: no memory. */
char *dft_top_stacks(const struct dft_top_watch *watch);

#endif
