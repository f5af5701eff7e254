/* SPDX-License-Identifier: MIT */
/* Notes on how processes with live files ended, or that they still run. */
#ifndef DFT_SOURCE_FATES_H
#define DFT_SOURCE_FATES_H

#include "source/source_object.h"

/* Writes one note for each kind of ending, however many processes ended so. */
void dft_fates_note(struct dft_source *source);

#endif
