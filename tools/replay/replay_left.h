/* SPDX-License-Identifier: MIT */
/* What could not be taken over from a trace: how many events of which call, and why. */
#ifndef DFT_REPLAY_LEFT_H
#define DFT_REPLAY_LEFT_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

enum dft_replay_reason {
    DFT_LEFT_NOT = 0,
    DFT_LEFT_CALL,    /* the call is none that is repeated */
    DFT_LEFT_NO_FILE, /* no file is known: sockets, pipes, terminals */
    DFT_LEFT_NO_NAME, /* the file is known, and its name is nowhere in the traces */
    DFT_LEFT_KERNEL,  /* in /proc, /sys or /dev */
    DFT_LEFT_PATH,    /* too long, or no path at all */
    DFT_LEFT_OPEN,    /* it did not return */
    DFT_LEFT_PROCESS, /* fork, exec and the like: all runs in one process */
    DFT_LEFT_REASONS
};

struct dft_replay_left {
    uint64_t call; /* name id */
    uint64_t events;
    enum dft_replay_reason reason;
};

struct dft_replay_lefts {
    struct dft_map places; /* reason and call to the place in the list + 1 */
    struct dft_replay_left *list;
    size_t count, capacity;
    uint64_t events; /* of all */
};

/* "its call is not repeated" */
const char *dft_replay_reason_text(enum dft_replay_reason reason);
/* Counts one event. Returns 0 or -ENOMEM. */
int dft_replay_left_add(struct dft_replay_lefts *lefts, enum dft_replay_reason reason, uint64_t call);
/* Puts those with most events first. */
void dft_replay_left_sort(struct dft_replay_lefts *lefts);
/* The events left out for one reason. */
uint64_t dft_replay_left_events(const struct dft_replay_lefts *lefts, enum dft_replay_reason reason);
void dft_replay_left_fini(struct dft_replay_lefts *lefts);

#endif
