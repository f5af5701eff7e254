/* SPDX-License-Identifier: MIT */
/* The kinds of calls of one file. */
#ifndef DFT_DFTRACER_PFW_CALLS_H
#define DFT_DFTRACER_PFW_CALLS_H

#include "dftracer/pfw_inside.h"

/* The call of a record that has a name. */
struct dft_pfw_call *dft_pfw_call(struct dft_pfw *pfw, struct dft_pfw_record *record);
/* The position among pfw->calls of a call with this op on this file, 0: on none. */
uint32_t dft_pfw_call_position(struct dft_pfw *pfw, struct dft_pfw_call *call, uint8_t op, uint64_t file);
void dft_pfw_calls_bound(struct dft_pfw *pfw);

#endif
