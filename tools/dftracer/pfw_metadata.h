/* SPDX-License-Identifier: MIT */
/* Metadata records. */
#ifndef DFT_DFTRACER_PFW_METADATA_H
#define DFT_DFTRACER_PFW_METADATA_H

#include "dftracer/pfw_inside.h"

int dft_pfw_metadata(struct dft_pfw *pfw, struct dft_text line);
void dft_pfw_metadata_waiting(struct dft_pfw *pfw);

#endif
