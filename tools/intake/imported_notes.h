/* SPDX-License-Identifier: MIT */
/* Notes about traces of DFTracer. */
#ifndef DFT_IMPORTED_NOTES_H
#define DFT_IMPORTED_NOTES_H

#include "dftracer/pfw.h"
#include "object/object.h"

/* Notes of one file that was converted, or whose index was read. */
void dft_imported_note(struct dft_source *source, const char *path, const struct dft_pfw_counts *counts);

/* Notes of all files, after the last file. Collective. */
void dft_imported_note_all(struct dft_source *source);

#endif
