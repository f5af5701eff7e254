/* SPDX-License-Identifier: MIT */
/* Aggregated records. */
#ifndef DFT_DFTRACER_PFW_ROWS_H
#define DFT_DFTRACER_PFW_ROWS_H

#include "dftracer/pfw_inside.h"

int dft_pfw_aggregated(struct dft_pfw *pfw);

#endif
