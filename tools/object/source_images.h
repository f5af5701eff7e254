/* SPDX-License-Identifier: MIT */
/* Which processes of a source are one process of the machine. */
#ifndef DFT_SOURCE_IMAGES_H
#define DFT_SOURCE_IMAGES_H

#include "object/object.h"

/* DFTracer writes the regions and the calls of a process into two files: imported images of one pid
 * on one host that overlap in time are one process. Fills in the first image of each, by number of
 * process. Returns 0 or -ENOMEM. */
int dft_source_images(const struct dft_source *source, uint32_t *images);

#endif
