/* SPDX-License-Identifier: MIT */
/* Writes a damaged trace anew, without what cannot be read. */
#ifndef DFT_REPAIR_H
#define DFT_REPAIR_H

#include <stdint.h>

#include "object/object.h"

/* Replaces a trace by one that has all its blocks but those that `bad` (one byte for each block of
 * the source) says make no sense; what was damaged stays beside it, as PATH.damaged. Nothing is
 * done to a file in which a process that still runs writes; with `force`, one of which that cannot
 * be seen does not. What was done, or why it could not be, is noted. Returns 0 or -errno. */
int dft_repair(struct dft_source *source, uint32_t file, const uint8_t *bad, int force);

#endif
