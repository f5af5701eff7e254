/* SPDX-License-Identifier: MIT */
/* Notes on how processes with live files ended, or that they run. */
#ifndef DFT_SOURCE_FATES_H
#define DFT_SOURCE_FATES_H

#include "source/source_object.h"

/* One note a kind, however many processes it is about. */
void dft_fates_note(struct dft_source *source);

#endif
