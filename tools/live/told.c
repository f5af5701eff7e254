/* SPDX-License-Identifier: MIT */
/* What the head of a live file tells of its process besides records.
 *
 * A process that was killed says nothing of its end. Its last sign of life is the latest of: the start of a call or
 * a region (kept when the call is over, too, and in a pause), a sample of counters, a pair of KEPT. Records count as
 * they are read. What KEPT or a pause begins lasts for a ns at least, so that readers see it at the end of the life. */
#include "live/told.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/encode.h"
#include "format/live_counters.h"
#include "format/live_read.h"
#include "object/source_texts.h"

#define WHAT_MASK 0x3fffu /* two bytes as LEB128, whatever the file says */

/* The pairs of KEPT in source_file.kept. */
struct told {
    uint64_t first; /* number of the first one */
    struct dft_live_kept pairs[DFT_LIVE_KEPT];
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A sign of life just behind the moment at which something began; 0: nothing did. */
static uint64_t behind(uint64_t ns)
{
    return ns ? ns + 1 : 0;
}

static uint64_t sign_of_ring(const struct dft_live *live, const struct dft_ring *ring)
{
    uint64_t ticks = ring->flight_start,
             sign = behind(atomic_load(&((struct dft_ring *)(uintptr_t)ring)->paused_since));
    uint32_t depth = atomic_load(&((struct dft_ring *)(uintptr_t)ring)->depth);

    for (uint32_t i = 0; i < depth && i < DFT_OPEN_REGIONS; i++)
        ticks = later(ticks, dft_region_start(&ring->regions[i]));
    return ticks ? later(sign, dft_clock_ns(&live->clock, ticks)) : sign;
}

static uint64_t last_sign(const struct dft_live *live, const void *bytes, size_t length)
{
    const struct dft_live_counters *waiting = dft_live_counters((struct dft_live *)(uintptr_t)live);
    uint32_t moments = atomic_load(&((struct dft_live_counters *)(uintptr_t)waiting)->nmoments);
    uint64_t sign = atomic_load(&((struct dft_live *)(uintptr_t)live)->ended_ns);
    const struct dft_ring *ring;
    size_t offset = 0;

    if (waiting->id == dft_live_counters_id() && moments && moments <= DFT_LIVE_MOMENTS)
        sign = later(sign, waiting->moments[moments - 1].time_ns);
    while ((ring = dft_live_ring(bytes, length, &offset)))
        sign = later(sign, sign_of_ring(live, ring));
    for (uint32_t i = 0; i < DFT_LIVE_KEPT; i++)
        sign = later(sign, behind(live->kept[i].time_ns));
    return sign;
}

static int keep_pairs(struct dft_source *source, struct dft_source_file *file, const struct dft_live *live)
{
    uint64_t count = atomic_load(&((struct dft_live *)(uintptr_t)live)->nkept);
    struct told told = {.first = count > DFT_LIVE_KEPT ? count - DFT_LIVE_KEPT : 0};

    if (!count)
        return 0;
    for (uint64_t n = told.first; n < count; n++)
        told.pairs[n - told.first] = live->kept[n % DFT_LIVE_KEPT];
    file->kept.length = (uint32_t)(offsetof(struct told, pairs) + (count - told.first) * sizeof *told.pairs);
    file->kept.bytes = dft_source_keep(source, (const char *)&told, file->kept.length);
    return file->kept.bytes ? 0 : -ENOMEM;
}

int dft_live_told(struct dft_source *source, struct dft_source_file *file, const void *bytes)
{
    const struct dft_live *live = bytes;
    int is_running = file->life == DFT_LIFE_RUNNING && file->live_state != DFT_LIVE_EXEC;
    const struct dft_ring *ring;
    size_t offset = 0;

    file->end->time_ns = later(last_sign(live, bytes, file->bytes), is_running ? file->seen_ns : 0);
    while ((ring = dft_live_ring(bytes, file->bytes, &offset))) {
        file->end->pauses += atomic_load(&((struct dft_ring *)(uintptr_t)ring)->pauses);
        file->end->paused_ns += dft_ring_paused_ns(ring, file->end->time_ns);
    }
    return keep_pairs(source, file, live);
}

int dft_live_told_kept(struct dft_source *source, const struct dft_source_file *file,
                       struct dft_source_process *process)
{
    struct dft_text *kept = &process->process.kept;
    uint64_t last_ns, have = dft_kept_count(*kept, &last_ns), count;
    struct told told;
    uint8_t *column;
    uint32_t used = kept->length;

    if (file->kept.length <= offsetof(struct told, pairs) || !process->process.start_ns)
        return 0;
    memcpy(&told, file->kept.bytes, file->kept.length);
    count = told.first + (file->kept.length - offsetof(struct told, pairs)) / sizeof *told.pairs;
    column = malloc(used + DFT_LIVE_KEPT * DFT_KEPT_PAIR_MAX);
    if (!column)
        return -ENOMEM;
    if (used)
        memcpy(column, kept->bytes, used);
    for (uint64_t n = later(have, told.first); n < count; n++) {
        const struct dft_live_kept *pair = &told.pairs[n - told.first];
        uint64_t at_ns = pair->time_ns - process->process.start_ns;

        if (pair->time_ns < process->process.start_ns || at_ns < last_ns)
            continue;
        used += dft_kept_put_raw(column + used, at_ns - last_ns, pair->what & WHAT_MASK);
        last_ns = at_ns;
    }
    if (used > kept->length && used <= DFT_TEXT_MAX) {
        *kept = (struct dft_text){dft_source_keep(source, (const char *)column, used), used};
        process->more_kept = 1;
    }
    free(column);
    return used && !kept->bytes ? -ENOMEM : 0;
}
