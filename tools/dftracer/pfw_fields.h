/* SPDX-License-Identifier: MIT */
/* The fields of an event from the arguments of its record. */
#ifndef DFT_DFTRACER_PFW_FIELDS_H
#define DFT_DFTRACER_PFW_FIELDS_H

#include "dftracer/pfw_inside.h"

/* The fields of a call from its arguments. */
void dft_pfw_fields(struct dft_pfw *pfw, struct dft_pfw_stream *stream, struct dft_pfw_call *call,
                    struct dft_event *event);
/* The members of args that no field took, as arguments of the last event. */
void dft_pfw_arguments(struct dft_pfw *pfw, struct dft_pfw_stream *stream, const struct dft_pfw_record *record);

#endif
