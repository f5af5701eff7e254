/* SPDX-License-Identifier: MIT */
/* How processes ended that could not say it themselves: what their parents waited for. */
#ifndef DFT_SOURCE_WAITS_H
#define DFT_SOURCE_WAITS_H

#include "object/object.h"

/* Takes what dftrun has written of its child: an END of the kind DFT_ENDING_WAITED. */
void dft_source_take_waited(struct dft_source_process *process, const struct dft_source_end *end);
/* Reads the waits of parents for processes of which no end was seen, and says of both kinds how the process ended.
 * Reads no events where there is no such process. Once coverage is known. Returns an agreed 0 or -ENOMEM.
 * Collective. */
int dft_source_find_waits(struct dft_source *source);

#endif
