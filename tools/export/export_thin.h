/* SPDX-License-Identifier: MIT */
/* Counter tracks with all points or with fewer. */
#ifndef DFT_EXPORT_THIN_H
#define DFT_EXPORT_THIN_H

#include "export/export_perfetto_put.h"

/* Writes the counter tracks. Points are means over intervals of this width, from the first time that is exported; the
 * last point of a track stays. 0: all points; UINT64_MAX: none. Returns 0 or -ENOMEM. */
int dft_thin_put(struct dft_perfetto *p, uint64_t width_ns);
/* What they take. Returns 0 or -ENOMEM. */
int dft_thin_bytes(struct dft_perfetto *p, uint64_t width_ns, uint64_t *bytes);
/* Sets p->plan.width_ns so that they take `most_bytes` at most. *bytes: what they take. Returns 0 or -ENOMEM. */
int dft_thin_fit(struct dft_perfetto *p, uint64_t most_bytes, uint64_t *bytes);

/* A stream that counts what is written to it. NULL: no memory. */
FILE *dft_thin_counter(uint64_t *bytes);

#endif
