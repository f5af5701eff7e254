/* SPDX-License-Identifier: MIT */
/* Owns the record of when events were kept. It is bounded: a process that has changed between events
 * and aggregates a thousand times stays with aggregates. PROCESS is written again as the record grows
 * by a quarter, and at the end: a process that is killed has told most of it. */
#include "store/kept.h"

#include <errno.h>

#include "os/bulk.h"
#include "os/clock.h"
#include "os/sys.h"
#include "store/process.h"

static uint8_t column[8192] DFT_BULK;
static struct dft_spin lock; /* guards all below; innermost */
static uint32_t used;
static uint64_t last_ns;         /* 0: no pair so far */
static enum dft_keep now, first; /* first: by the settings */
static enum dft_keep_why now_why;
static uint32_t told; /* of `used`: PROCESS has, or gets, as much */

static void put(uint64_t time_ns)
{
    uint64_t since_ns = last_ns ? last_ns : dft_clock_start_ns;

    used += dft_kept_put(column + used, time_ns > since_ns ? time_ns - since_ns : 0, now, now_why);
    last_ns = time_ns > since_ns ? time_ns : since_ns;
}

int dft_kept_note(enum dft_keep keep, enum dft_keep_why why)
{
    uint64_t time_ns = dft_clock_monotonic_ns() + (uint64_t)dft_clock_offset;
    int result = 0;

    dft_spin_lock(&lock);
    if (used + DFT_KEPT_PAIR_MAX > sizeof column) {
        result = -ENOSPC;
    } else if (keep != now || why != now_why) {
        now = keep;
        now_why = why;
        first = why == DFT_KEEP_WHY_SETTINGS ? keep : first;
        put(why == DFT_KEEP_WHY_SETTINGS ? dft_clock_start_ns : time_ns);
    }
    dft_spin_unlock(&lock);
    if (used - told > told / 4)
        dft_kept_tell();
    return result;
}

void dft_kept_tell(void)
{
    if (used == told)
        return;
    told = used;
    dft_process_changed();
}

int dft_kept_has_room(void)
{
    return __atomic_load_n(&used, __ATOMIC_RELAXED) + 2 * DFT_KEPT_PAIR_MAX <= sizeof column;
}

struct dft_text dft_kept_column(void)
{
    struct dft_text text;

    dft_spin_lock(&lock);
    text = (struct dft_text){(const char *)column, used}; /* what is behind `used` alone changes later */
    dft_spin_unlock(&lock);
    return text;
}

struct dft_text dft_kept_of_child(uint8_t room[DFT_KEPT_PAIR_MAX])
{
    struct dft_text text = {(const char *)room, 0};

    dft_spin_lock(&lock);
    if (now != DFT_KEEP_EVENTS)
        text.length = dft_kept_put(room, 0, now, now_why);
    dft_spin_unlock(&lock);
    return text;
}

void dft_kept_forked(void)
{
    lock.held = 0;
    used = told = 0;
    last_ns = 0;
    now = first;
    now_why = DFT_KEEP_WHY_SETTINGS;
    if (now != DFT_KEEP_EVENTS)
        put(dft_clock_start_ns);
}
