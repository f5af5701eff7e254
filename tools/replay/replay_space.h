/* SPDX-License-Identifier: MIT */
/* The space that files take, at most. Sums that are too large stay at the largest number. */
#ifndef DFT_REPLAY_SPACE_H
#define DFT_REPLAY_SPACE_H

#include <stdint.h>

#include "replay/replay_files.h"

#define DFT_REPLAY_BLOCK 4096u /* of a usual file system */

static inline uint64_t dft_replay_plus(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

/* A call may take space from here on. Each place apart from the one before takes a block more. */
static inline void dft_replay_take_space(struct dft_replay_file *file, uint64_t from, uint64_t bytes, int is_apart)
{
    uint64_t end = dft_replay_plus(from, bytes);

    file->written = dft_replay_plus(file->written, dft_replay_plus(bytes, is_apart ? DFT_REPLAY_BLOCK : 0));
    file->most = end > file->most ? end : file->most;
}

/* The space that a file takes at most. Where nothing was written, there is a hole. */
static inline uint64_t dft_replay_space(const struct dft_replay_file *file)
{
    uint64_t most = dft_replay_plus(file->start_size, file->written);

    most = most > file->most ? file->most : most;
    most = most > file->start_size ? most : file->start_size;
    return dft_replay_plus(most, DFT_REPLAY_BLOCK - 1) / DFT_REPLAY_BLOCK * DFT_REPLAY_BLOCK;
}

#endif
