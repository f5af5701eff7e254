/* SPDX-License-Identifier: MIT */
/* Turns the samples in a live file into those of a COUNTERS block. */
#include "format/live_counters.h"

#include "format/hash.h"

static const struct {
    const char *text;
    uint8_t length, unit, kind;
} list[] = {
#define DFT_COUNTER(NAME, name, unit, kind, help)                                                                      \
    {"process\0" #name, sizeof "process\0" #name - 1, DFT_UNIT_##unit, DFT_COUNTER_##kind},
#include <dftrace/counters.def>
#undef DFT_COUNTER
};

uint64_t dft_live_counters_id(void)
{
    uint64_t id = DFT_COUNTERS;

    for (uint32_t i = 0; i < DFT_COUNTERS; i++)
        id = id * 31 + dft_name_id(list[i].text, list[i].length);
    return id;
}

struct dft_counters dft_live_counters_get(const struct dft_live_counters *live, struct dft_live_samples *room)
{
    uint32_t nmoments =
        atomic_load_explicit(&((struct dft_live_counters *)(uintptr_t)live)->nmoments, memory_order_acquire);
    struct dft_counters counters = {.first = live->first,
                                    .series = room->series,
                                    .nseries = DFT_COUNTERS,
                                    .samples = room->samples,
                                    .names = room->names,
                                    .nnames = DFT_COUNTERS};

    for (uint32_t i = 0; i < DFT_COUNTERS; i++) {
        uint64_t id = dft_name_id(list[i].text, list[i].length);

        room->series[i] = (struct dft_counter_series){.id = id, .unit = list[i].unit, .kind = list[i].kind};
        room->names[i] = (struct dft_name){.id = id, .text = {list[i].text, list[i].length}};
    }
    for (uint32_t m = 0; m < nmoments && m < DFT_LIVE_MOMENTS; m++)
        for (uint32_t i = 0; i < DFT_COUNTERS; i++)
            if (live->moments[m].present >> i & 1)
                room->samples[counters.count++] = (struct dft_counter_sample){
                    .time_ns = live->moments[m].time_ns, .series = i, .value = live->moments[m].values[i]};
    return counters;
}
