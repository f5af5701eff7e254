/* SPDX-License-Identifier: MIT */
/* Which calls replay repeats, and by what. */
#ifndef DFT_REPLAY_CALLS_H
#define DFT_REPLAY_CALLS_H

#include <stdint.h>

#include "base/map.h"

/* What repeats a call: DFT_REPLAY_pread is pread(). NONE: nothing does. */
enum dft_replay_call {
    DFT_REPLAY_NONE = 0,
#define DFT_REPLAY(name, on)        DFT_REPLAY_##name,
#define DFT_REPLAY_STREAM(name, on) DFT_REPLAY_##name,
#define DFT_REPLAY_AS(alias, name)
#define DFT_REPLAY_STREAM_AS(alias, name)
#include "replay/replay_calls.def"
    DFT_REPLAY_CALLS
};

/* Fills a map from the ids of names of calls to enum dft_replay_call. Returns 0 or -ENOMEM. */
int dft_replay_calls_make(struct dft_map *calls);
/* Does it work on a descriptor or a stream? Else on a path. */
int dft_replay_on_descriptor(enum dft_replay_call call);
/* What repeats an event of this call and operation. stands_in: no function has the call's name, and one of plain reads
 * and writes moves its bytes. */
enum dft_replay_call dft_replay_call_of(const struct dft_map *calls, uint64_t call, uint8_t op, int *stands_in);

#endif
