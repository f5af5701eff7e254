/* SPDX-License-Identifier: MIT */
/* What a replay prints: its plan, and what came out. */
#ifndef DFT_REPLAY_OUTPUT_H
#define DFT_REPLAY_OUTPUT_H

#include "replay/replay_plan.h"
#include "replay/replay_threads.h"

struct dft_replay_result {
    const struct dft_replay_plan *plan;
    const struct dft_replay_threads *threads; /* NULL: a plan alone */
    const char *root;                         /* NULL: not specified */
    const char *speed;
};

/* Both return 0 or -ENOMEM. */
int dft_replay_text(const struct dft_replay_result *result);
int dft_replay_json(const struct dft_replay_result *result, struct dft_source *source);

/* The name of a call that is repeated: "pread". */
const char *dft_replay_call_word(enum dft_replay_call call);

#endif
