/* SPDX-License-Identifier: MIT */
/* The unit of time of a trace, and the period of its aggregated records. */
#ifndef DFT_DFTRACER_PFW_UNIT_H
#define DFT_DFTRACER_PFW_UNIT_H

#include "dftracer/pfw_inside.h"

/* At the beginning, and when the unit of time becomes known. */
void dft_pfw_encoder_begin(struct dft_pfw *pfw);
/* "NS", "US", "MS", "SEC"; or an object that says so, and how long a period is. */
void dft_pfw_unit(struct dft_pfw *pfw, const struct dft_pfw_value *value);

#endif
