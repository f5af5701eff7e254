/* SPDX-License-Identifier: MIT */
/* Adds up what the copies of live files have and no block does. */
#ifndef DFT_TOP_LIVES_ADD_H
#define DFT_TOP_LIVES_ADD_H

#include "top/watch.h"

int dft_top_lives_add(struct dft_top_watch *watch);

#endif
