/* SPDX-License-Identifier: MIT */
/* Owns the record of when events were kept. It is bounded: a process that has changed between events
 * and aggregates a thousand times stays with aggregates, and further pauses are counted by thread.
 * PROCESS is written again as the record grows by a quarter, and at the end. The live file has the
 * last pairs: those that PROCESS lacks when the process is killed. */
#include "store/kept.h"

#include <errno.h>
#include <string.h>

#include "os/bulk.h"
#include "os/clock.h"
#include "os/self.h"
#include "os/sys.h"
#include "store/notes.h"

#define UNWRITTEN_MAX (DFT_LIVE_KEPT / 2) /* pairs that the live file alone has */

static uint8_t column[8192] DFT_BULK;
static struct dft_spin lock; /* guards all below; innermost */
static uint32_t used, pairs;
static uint64_t last_ns;         /* 0: no pair so far */
static enum dft_keep now, first; /* between pauses; first: by the settings */
static enum dft_keep_why now_why;
static enum dft_keep_why pause_why;     /* DFT_KEEP_WHY_SETTINGS: no pause that stands in the record */
static uint32_t written, written_pairs; /* of `used` and `pairs`: PROCESS has, or gets, as much */

static void put(uint64_t time_ns, enum dft_keep keep, enum dft_keep_why why)
{
    uint64_t since_ns = last_ns ? last_ns : dft_clock_start_ns;

    time_ns = time_ns > since_ns ? time_ns : since_ns;
    used += dft_kept_put(column + used, time_ns - since_ns, keep, why);
    last_ns = time_ns;
    if (dft_live) {
        dft_live->kept[pairs % DFT_LIVE_KEPT] = (struct dft_live_kept){time_ns, dft_kept_what(keep, why)};
        atomic_store_explicit(&dft_live->nkept, pairs + 1, memory_order_release);
    }
    pairs++;
}

static uint64_t now_ns(void)
{
    return dft_clock_monotonic_ns() + (uint64_t)dft_clock_offset;
}

static void tell_some(void)
{
    if (used - written > written / 4 || pairs - written_pairs >= UNWRITTEN_MAX)
        dft_kept_tell();
}

int dft_kept_note(enum dft_keep keep, enum dft_keep_why why)
{
    uint64_t time_ns = why == DFT_KEEP_WHY_SETTINGS ? dft_clock_start_ns : now_ns();
    int result = 0;

    dft_spin_lock(&lock);
    if (!pause_why && used + DFT_KEPT_PAIR_MAX > sizeof column) {
        result = -ENOSPC;
    } else if (keep != now || why != now_why) {
        now = keep;
        now_why = why;
        first = why == DFT_KEEP_WHY_SETTINGS ? keep : first;
        if (!pause_why) /* else the end of the pause says it */
            put(time_ns, now, now_why);
    }
    dft_spin_unlock(&lock);
    tell_some();
    return result;
}

/* A pause takes no room that the limits of size and cost may need, and leaves room for its own end. */
static int has_room_for_pause(void)
{
    return used + 4 * DFT_KEPT_PAIR_MAX <= sizeof column;
}

void dft_kept_pause(enum dft_keep_why why)
{
    dft_spin_lock(&lock);
    if (why != pause_why && (why ? has_room_for_pause() : 1)) {
        pause_why = why;
        put(now_ns(), why ? DFT_KEEP_NOTHING : now, why ? why : now_why);
    }
    dft_spin_unlock(&lock);
    tell_some();
}

int dft_kept_has_pause(void)
{
    return __atomic_load_n(&pause_why, __ATOMIC_RELAXED) != DFT_KEEP_WHY_SETTINGS;
}

void dft_kept_tell(void)
{
    if (used == written)
        return;
    written = used;
    written_pairs = pairs;
    dft_process_changed();
}

int dft_kept_has_room(void)
{
    return __atomic_load_n(&used, __ATOMIC_RELAXED) + 2 * DFT_KEPT_PAIR_MAX <= sizeof column;
}

void dft_kept_place(struct dft_live *live, const struct dft_live *before)
{
    dft_spin_lock(&lock);
    if (before)
        memcpy(live->kept, before->kept, sizeof live->kept);
    atomic_store(&live->nkept, pairs);
    dft_spin_unlock(&lock);
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
    if (pause_why)
        text.length = dft_kept_put(room, 0, DFT_KEEP_NOTHING, pause_why);
    else if (now != DFT_KEEP_EVENTS)
        text.length = dft_kept_put(room, 0, now, now_why);
    dft_spin_unlock(&lock);
    return text;
}

void dft_kept_forked(int is_paused)
{
    lock.held = 0;
    used = written = pairs = written_pairs = 0;
    last_ns = 0;
    now = first;
    now_why = DFT_KEEP_WHY_SETTINGS;
    pause_why = is_paused ? DFT_KEEP_WHY_PROGRAM : DFT_KEEP_WHY_SETTINGS;
    if (now != DFT_KEEP_EVENTS)
        put(dft_clock_start_ns, now, now_why);
    if (is_paused)
        put(dft_clock_start_ns, DFT_KEEP_NOTHING, pause_why);
}
