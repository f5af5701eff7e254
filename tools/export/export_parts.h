/* SPDX-License-Identifier: MIT */
/* Files of `--format perfetto` that have a limit (--max-bytes), or a part of the time each (--split). */
#ifndef DFT_EXPORT_PARTS_H
#define DFT_EXPORT_PARTS_H

#include "export/export_perfetto_put.h"

/* Writes the file `path`, or the parts into a directory of that path where export->split_ns is set.
 * Collective. Returns 0 or -errno, the same on all ranks; DFT_EXPORT_SAID where stderr has it. */
int dft_parts_write(struct dft_perfetto *p, const char *path);

#endif
