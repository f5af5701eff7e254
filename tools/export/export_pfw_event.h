/* SPDX-License-Identifier: MIT */
/* JSON lines in the form of DFTracer 1.0.8: lines of events. */
#ifndef DFT_EXPORT_PFW_EVENT_H
#define DFT_EXPORT_PFW_EVENT_H

#include "object/object.h"

/* `pfw` is a struct dft_pfw_out. Returns 0 or -EIO: the stream is broken. */
int dft_pfw_out_event(void *pfw, const struct dft_event_at *at);

#endif
