/* SPDX-License-Identifier: MIT */
/* What replay writes, and where it reads to. The bytes of the recorded program are not known: replay writes random
 * bytes that nothing compresses. None of them ends a line or a string. */
#ifndef DFT_REPLAY_BUFFERS_H
#define DFT_REPLAY_BUFFERS_H

#include <stddef.h>

/* The most that one call moves; larger calls are made in pieces. */
#define DFT_REPLAY_PIECE ((size_t)32 << 20)

/* Makes both. They take 4 MiB of memory, which is mapped again and again. Returns 0 or -errno. */
int dft_replay_buffers_make(void);
/* DFT_REPLAY_PIECE bytes to write, with a NUL behind them. */
const char *dft_replay_pattern(void);
/* DFT_REPLAY_PIECE bytes to read into, for all threads at once: nobody looks at them. */
char *dft_replay_sink(void);

#endif
