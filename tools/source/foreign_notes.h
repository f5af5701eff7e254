/* SPDX-License-Identifier: MIT */
/* Notes about traces of DFTracer. */
#ifndef DFT_FOREIGN_NOTES_H
#define DFT_FOREIGN_NOTES_H

#include "dftracer/pfw.h"
#include "source/source_object.h"

/* Of one file that was converted, or whose index was read. */
void dft_foreign_note(struct dft_source *source, const char *path, const struct dft_pfw_counts *counts);

/* Of all, when the last file is done. Collective. */
void dft_foreign_note_all(struct dft_source *source);

#endif
