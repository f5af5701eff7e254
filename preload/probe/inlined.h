/* SPDX-License-Identifier: MIT */
/* getc_unlocked and putc_unlocked are inlined by the headers of the C library: only the calls that
 * find the buffer used up reach it, as __uflow and __overflow. What was moved in between is told by
 * the stream's position, at the next call that is seen: it is counted then, as calls of getc and
 * putc that took no time.
 *
 * A stream on which such a call was seen has DFT_OPEN_INLINED on its description. */
#ifndef DFT_INLINED_H
#define DFT_INLINED_H

#include "probe/probe.h"

/* In __uflow and __overflow, before the real function. */
void dft_inlined_begin(FILE *stream, struct dft_probe *probe);

/* At the end of the process: streams that were not closed. */
void dft_inlined_end_all(void);

#endif
