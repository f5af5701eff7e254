/* SPDX-License-Identifier: MIT */
/* Where a record belongs. */
#ifndef DFT_DFTRACER_PFW_PLACE_H
#define DFT_DFTRACER_PFW_PLACE_H

#include "dftracer/pfw_inside.h"

struct dft_pfw_stream *dft_pfw_stream_of_record(struct dft_pfw *pfw, uint32_t kind);
uint64_t dft_pfw_file_of(struct dft_pfw *pfw, struct dft_pfw_record *record);
/* A member as a number; 0 where there is none. */
uint64_t dft_pfw_number(const struct dft_pfw_record *record, enum dft_pfw_member member);

#endif
