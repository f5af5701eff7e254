/* SPDX-License-Identifier: MIT */
/* The second pass over the trace: gives each call to its thread, with what it must wait for. */
#ifndef DFT_REPLAY_RUN_H
#define DFT_REPLAY_RUN_H

#include "replay/replay_plan.h"
#include "replay/replay_threads.h"

/* Repeats the calls of the plan. Returns 0, -ENOMEM, -EAGAIN (no more threads can be had), or -ECANCELED after
 * dft_replay_stop. All threads have ended then. */
int dft_replay_run(struct dft_replay_plan *plan, struct dft_replay_threads *threads, struct dft_source *source,
                   const struct dft_filter *filter);

#endif
