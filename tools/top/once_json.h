/* SPDX-License-Identifier: MIT */
/* One answer for programs. */
#ifndef DFT_TOP_ONCE_JSON_H
#define DFT_TOP_ONCE_JSON_H

#include "top/frame.h"

/* Returns 0 or -ENOMEM. */
int dft_top_once_json(FILE *out, const struct dft_top_view *view);

#endif
