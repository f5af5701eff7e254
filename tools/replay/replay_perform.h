/* SPDX-License-Identifier: MIT */
/* Makes one recorded call again. */
#ifndef DFT_REPLAY_PERFORM_H
#define DFT_REPLAY_PERFORM_H

#include "replay/replay_threads.h"

/* Makes the call, by the function that the program called, and counts what came out. */
void dft_replay_perform(struct dft_replay_thread *thread, const struct dft_replay_call_at *call);

/* Calls on streams and folders. *result: as recorded for this call: items, bytes, or 0 and -1. Returns whether the
 * call is one of these. */
int dft_replay_stream(struct dft_replay_handle *handle, const struct dft_replay_call_at *call, int64_t *result);
/* Calls on paths that make no descriptor. Returns whether the call is one of these. */
int dft_replay_by_path(const struct dft_replay_call_at *call, int64_t *result);

#endif
