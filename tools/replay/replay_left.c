/* SPDX-License-Identifier: MIT */
/* Counts what replay leaves out. */
#include "replay/replay_left.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

const char *dft_replay_reason_text(enum dft_replay_reason reason)
{
    static const char *const texts[DFT_LEFT_REASONS] = {
        [DFT_LEFT_NOT] = "",
        [DFT_LEFT_CALL] = "the call is not repeated",
        [DFT_LEFT_NO_FILE] = "no file is known: a socket, a pipe or a terminal",
        [DFT_LEFT_NO_NAME] = "the name of its file is not in the traces",
        [DFT_LEFT_KERNEL] = "in /proc, /sys or /dev",
        [DFT_LEFT_PATH] = "the path cannot be made",
        [DFT_LEFT_OPEN] = "the call did not return",
        [DFT_LEFT_PROCESS] = "processes become threads of one process",
    };

    return texts[reason];
}

int dft_replay_left_add(struct dft_replay_lefts *lefts, enum dft_replay_reason reason, uint64_t call)
{
    uint64_t *place = dft_map_put(&lefts->places, dft_map_join(call, reason));

    if (!place)
        return -ENOMEM;
    if (!*place) {
        if (DFT_ARRAY_PUSH(lefts->list, lefts->capacity, lefts->count, (struct dft_replay_left){call, 0, reason}))
            return -ENOMEM;
        *place = lefts->count;
    }
    lefts->list[*place - 1].events++;
    lefts->events++;
    return 0;
}

static int by_events(const void *left, const void *right)
{
    const struct dft_replay_left *a = left, *b = right;

    DFT_ORDER(b->events, a->events);
    DFT_ORDER(a->reason, b->reason);
    DFT_ORDER(a->call, b->call);
    return 0;
}

void dft_replay_left_sort(struct dft_replay_lefts *lefts)
{
    if (lefts->count)
        qsort(lefts->list, lefts->count, sizeof *lefts->list, by_events);
    dft_map_fini(&lefts->places);
}

uint64_t dft_replay_left_events(const struct dft_replay_lefts *lefts, enum dft_replay_reason reason)
{
    uint64_t events = 0;

    for (size_t i = 0; i < lefts->count; i++)
        events += lefts->list[i].reason == reason ? lefts->list[i].events : 0;
    return events;
}

void dft_replay_left_fini(struct dft_replay_lefts *lefts)
{
    free(lefts->list);
    dft_map_fini(&lefts->places);
    memset(lefts, 0, sizeof *lefts);
}
