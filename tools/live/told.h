/* SPDX-License-Identifier: MIT */
/* What the head of a live file tells of its process besides records: its last sign of life, and what was kept. */
#ifndef DFT_LIVE_TOLD_H
#define DFT_LIVE_TOLD_H

#include "object/object.h"

/* Puts what a checked live file tells into file->end and file->kept. Returns 0 or -ENOMEM. */
int dft_live_told(struct dft_source *source, struct dft_source_file *file, const void *bytes);
/* Adds the pairs of KEPT that the trace lacks. Returns 0 or -ENOMEM. */
int dft_live_told_kept(struct dft_source *source, const struct dft_source_file *file,
                       struct dft_source_process *process);

#endif
