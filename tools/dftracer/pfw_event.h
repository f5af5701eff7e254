/* SPDX-License-Identifier: MIT */
/* Records that have a time. */
#ifndef DFT_DFTRACER_PFW_EVENT_H
#define DFT_DFTRACER_PFW_EVENT_H

#include "dftracer/pfw_inside.h"

/* Return 0, or -1: the record lacks what makes it one. */
int dft_pfw_complete(struct dft_pfw *pfw, struct dft_text line);
int dft_pfw_point(struct dft_pfw *pfw, uint8_t phase);
/* A line without id or time: has it been there before? */
void dft_pfw_see(struct dft_pfw *pfw, struct dft_text line);

#endif
