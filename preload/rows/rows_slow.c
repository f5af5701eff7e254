/* SPDX-License-Identifier: MIT */
/* The slow way of a call into the rows of its thread: makes rows, moves the window, writes what is
 * full. */
#include "rows/rows_inside.h"
#include "rows/mode.h"

#include <signal.h>
#include <string.h>

#include "os/clock.h"
#include "os/sys.h"
#include "thread/append.h"
#include "store/counters.h"
#include "store/livefile.h"

#define CLOCK_NS UINT64_C(1000000000) /* so long goes a reading of the clock */
#define GUESS_NS UINT64_C(1000000)    /* and so long the first ones */

/* --- steps ------------------------------------------------------------------------------------ */

/* A handler that left a step by longjmp lies above it on the stack. A handler that interrupts a step
 * lies below, or on a stack of its own. */
static int is_abandoned(const struct dft_rows *rows, uintptr_t frame)
{
    stack_t stack;

    if (frame < rows->frame || dft_is_sandboxed() || DFT_SYS(sigaltstack, 0, &stack, 0, 0, 0, 0) < 0)
        return 0;
    return !(stack.ss_flags & SS_ONSTACK);
}

/* Ends an abandoned step as a reader of a killed process would. Returns 0: it goes on. */
int dft_rows_end_abandoned(struct dft_rows *rows, uintptr_t frame)
{
    struct dft_live_table *live = rows->live;
    uint64_t ticket = dft_rows_load(&live->ticket);

    if (!is_abandoned(rows, frame))
        return 0;
    if (dft_rows_load(&live->applying) == ticket) {
        dft_live_apply(live);
        atomic_store_explicit(&live->events, ticket, memory_order_release);
    } else {
        atomic_store_explicit(&live->ticket, dft_rows_load(&live->events), memory_order_release);
    }
    /* All may have been changed half-way. */
    rows->window = 0;
    memset(rows->cursors, 0, sizeof rows->cursors);
    memset(rows->files, 0, sizeof rows->files);
    dft_rows_index_again(rows);
    return 1;
}

/* Everything that the step needs is there: adds it. */
static void end(struct dft_live_table *live)
{
    struct dft_live_step *step = &live->step;
    uint64_t ticket = dft_rows_load(&live->ticket);

    step->row_sums = ((const struct dft_live_row *)dft_live_at(live, step->row))->sums;
    for (int i = 0; i < DFT_LIVE_BINS; i++)
        if (step->counters[i])
            step->counts[i] = ((const uint32_t *)(const void *)live)[step->counters[i]];
    if (step->file)
        step->file_sums = ((const struct dft_live_file *)dft_live_at(live, step->file))->sums;
    if (step->data)
        step->data_sums = ((const struct dft_live_data *)dft_live_at(live, step->data))->sums;
    dft_rows_apply_step(live, ticket);
    dft_live_apply(live);
    atomic_store_explicit(&live->events, ticket, memory_order_release);
}

/* --- the slow way ----------------------------------------------------------------------------- */

/* Times go by one clock for some time. Signals are blocked for the lock of the clock. */
static void look_at_clock(struct dft_rows *rows)
{
    struct dft_signals before;

    if (dft_is_sandboxed() || !dft_live) /* the child that a handler has made goes on here */
        return;
    before = dft_signals_block();
    dft_clock_update(&rows->clock);
    dft_signals_restore(before);
}

/* The ticks from which on times are not below this one. */
static uint64_t ticks_at(const struct dft_near_clock *near, uint64_t ns)
{
    uint64_t ticks = ns > near->origin_ns && near->mult
                         ? (uint64_t)(((unsigned __int128)(ns - near->origin_ns) << 32) / near->mult)
                         : 0;

    return near->origin + (ticks < near->most ? ticks : near->most);
}

/* The quick way is open to what lies within the same 64th of an interval as this start. */
static void move_window(struct dft_rows *rows, uint64_t start_ticks, uint64_t start_ns)
{
    const uint64_t width = rows->live->width_ns, interval = start_ns / width, from_ns = interval * width;
    const uint64_t slot = dft_occupancy_part(start_ns - from_ns, width);
    uint64_t least, most;

    if (interval < rows->interval) /* what began long ago ends now: the next call goes on where the last one was */
        return;
    rows->window = 0;
    rows->near = dft_near_clock(&rows->clock, start_ticks);
    if (interval != rows->interval) {
        if (!rows->interval)
            rows->files_interval = interval;
        rows->interval = interval;
        memset(rows->cursors, 0, sizeof rows->cursors);
    }
    if (interval / DFT_COARSE != rows->coarse) {
        rows->coarse = interval / DFT_COARSE;
        memset(rows->files, 0, sizeof rows->files);
    }
    if (!rows->near.most)
        return;
    /* A tick within lies safely in the slot: the ends are rounded inwards. */
    least = ticks_at(&rows->near, from_ns + (slot * width + 63) / 64) + 2;
    most = ticks_at(&rows->near, from_ns + ((slot + 1) * width + 63) / 64);
    rows->slot = UINT64_C(1) << slot;
    rows->since = least;
    rows->window = most > least + 2 ? most - 2 - least : 0;
}

/* Adds what a span of time adds to the rows of the intervals behind its first one. Returns 0 or
 * -ENOSPC. */
static int add_further(struct dft_rows *rows, const struct dft_rows_event *event, int is_file)
{
    struct dft_live_step *step = &rows->live->step;
    const uint64_t width = rows->live->width_ns * (is_file ? DFT_COARSE : 1);
    const uint64_t first = event->start_ns / width, last = (event->end_ns - 1) / width;
    const struct {
        uint64_t interval, edge, step, from_ns, to_ns;
    } parts[3] = {
        {first, (first + 1) * width - event->end_ns, 0, event->start_ns, (first + 1) * width},
        {last, event->end_ns - last * width, last > first + 1 ? UINT64_MAX : 0, last * width, event->end_ns},
        {first + 1, 0, 1, 0, 0},
    };

    for (uint32_t i = 0; i < (last > first + 1 ? 3 : 2); i++) {
        struct dft_live_further *further = &step->further[step->nfurther];
        struct dft_live_key key = {event->subject, event->region, parts[i].interval, event->call, event->facets};
        uint32_t place = is_file ? dft_rows_file(rows, event->file, event->region, parts[i].interval, event->which)
                                 : dft_rows_row(rows, &key);

        if (!place)
            return -ENOSPC;
        *further = (struct dft_live_further){.place = place, .is_file = (uint32_t)is_file};
        if (is_file) {
            const struct dft_live_file *file = dft_live_at(rows->live, place);

            further->edge = file->edge + parts[i].edge;
            further->step = file->step + parts[i].step;
        } else {
            const struct dft_live_row *row = dft_live_at(rows->live, place);

            further->edge = row->edge + parts[i].edge;
            further->step = row->step + parts[i].step;
            if (parts[i].to_ns)
                further->occupancy = dft_occupancy_of(parts[i].from_ns - parts[i].interval * width,
                                                      parts[i].to_ns - parts[i].interval * width, width);
        }
        step->nfurther++;
    }
    return 0;
}

static int crosses(uint64_t start_ns, uint64_t end_ns, uint64_t width)
{
    return end_ns > start_ns && (end_ns - 1) / width != start_ns / width;
}

/* The row, the histogram and its counters. Returns 0, or what is full. */
static int find_call(struct dft_rows *rows, const struct dft_rows_event *event, uint32_t *number)
{
    const uint64_t width = rows->live->width_ns;
    struct dft_live_step *step = &rows->live->step;
    struct dft_live_key key = {event->subject, event->region, event->start_ns / width, event->call, event->facets};
    int histogram;

    step->row = dft_rows_row(rows, &key);
    if (!step->row)
        return DFT_LIVE_CALLS_WRITTEN;
    step->occupancy = 0;
    if (crosses(event->start_ns, event->end_ns, width)) {
        if (add_further(rows, event, 0))
            return DFT_LIVE_CALLS_WRITTEN;
    } else {
        step->occupancy =
            dft_occupancy_of(event->start_ns - key.interval * width, event->end_ns - key.interval * width, width);
    }
    key.interval /= DFT_COARSE;
    histogram = dft_rows_histogram(rows, &key);
    if (histogram < 0)
        return DFT_LIVE_FILES_WRITTEN;
    *number = (uint32_t)histogram;
    if (event->samples && !(step->counters[DFT_LIVE_DURATIONS] =
                                dft_rows_counter(rows, *number, DFT_LIVE_DURATIONS, event->end_ns - event->start_ns)))
        return DFT_LIVE_FILES_WRITTEN;
    if (event->is_data &&
        (!(step->counters[DFT_LIVE_SIZES] = dft_rows_counter(rows, *number, DFT_LIVE_SIZES, event->bytes)) ||
         !(step->counters[DFT_LIVE_ASKED] = dft_rows_counter(rows, *number, DFT_LIVE_ASKED, event->asked))))
        return DFT_LIVE_FILES_WRITTEN;
    return 0;
}

/* The quick way to the file's row has to know what the row has now, and where its last access lies. */
static void tell_quick_way(struct dft_rows *rows, const struct dft_rows_event *event, const struct dft_live_file *file)
{
    struct dft_rows_seen *seen = dft_rows_seen_of(rows, event->file, event->which);

    if (seen->place != rows->live->step.file)
        return;
    seen->data = file->data;
    seen->pattern = file->pattern;
    seen->offset = event->offset;
}

/* The file's row. Where there is no room for another one, and the table was written not long ago, the
 * call counts for a directory. Returns 0, or what is full. */
static int find_file(struct dft_thread *self, struct dft_rows *rows, struct dft_rows_event *event)
{
    struct dft_live_step *step = &rows->live->step;
    const uint64_t width = rows->live->width_ns * DFT_COARSE, interval = event->start_ns / width;
    const uint32_t which = event->which;

    if (!event->file || which == DFT_ROWS_NO_FILE)
        return 0;
    step->file = dft_rows_find_file(rows, event->file, event->region, interval, which);
    if (!step->file && !dft_rows_has_room(rows, 1)) {
        if (dft_rows_may_flush_files(rows))
            return DFT_LIVE_FILES_WRITTEN;
        event->file = dft_rows_directory_of(self, event->file);
        step->file = dft_rows_find_file(rows, event->file, event->region, interval, which);
    }
    if (!step->file)
        step->file = dft_rows_file(rows, event->file, event->region, interval, which);
    if (!step->file || dft_rows_widen_file(rows, step->file, event))
        return DFT_LIVE_FILES_WRITTEN;
    if (crosses(event->start_ns, event->end_ns, width) && add_further(rows, event, 1))
        return DFT_LIVE_FILES_WRITTEN;
    if (event->is_data) {
        const struct dft_live_file *file = dft_live_at(rows->live, step->file);

        step->data = file->data;
        step->pattern = file->pattern;
        tell_quick_way(rows, event, file);
    }
    return 0;
}

static void fill(struct dft_live_step *step, const struct dft_rows_event *event)
{
    step->start_ns = event->start_ns;
    step->end_ns = event->end_ns;
    step->bytes = event->bytes;
    step->asked = event->asked;
    step->offset = event->offset;
    step->samples = event->samples;
    step->calls = event->calls;
    step->is_data = event->is_data;
    step->is_error = dft_facets_err(event->facets) != 0;
    step->is_turn = event->is_turn;
    step->bits = event->bits;
    step->nfurther = step->row = step->file = step->data = step->pattern = 0;
    memset(step->counters, 0, sizeof step->counters);
}

int dft_rows_make_room(struct dft_thread *self, unsigned what)
{
    struct dft_signals before;
    int done = 0;

    if (dft_is_sandboxed())
        return 0;
    before = dft_signals_block();
    if (self == dft_self && *dft_generation) {
        dft_spin_lock(&self->lock);
        done = self->rows->livefile == dft_livefile_number ? !dft_rows_flush_some(self, what) : !dft_rows_flush(self);
        dft_spin_unlock(&self->lock);
    }
    dft_signals_restore(before);
    return done;
}

/* The table is full, or an interval of files is over. */
static unsigned is_due(const struct dft_rows *rows, const struct dft_rows_event *event)
{
    const struct dft_live_table *live = rows->live;
    uint64_t coarse = event->start_ns / live->width_ns / DFT_COARSE;

    if (dft_rows_load(&live->events) - dft_rows_load(&live->files_first) > UINT32_MAX / 2)
        return DFT_LIVE_FILES_WRITTEN | DFT_LIVE_CALLS_WRITTEN;
    return coarse > rows->coarse && rows->coarse ? DFT_LIVE_FILES_WRITTEN | DFT_LIVE_CALLS_WRITTEN : 0;
}

/* A step has begun. Returns whether the event was added; no step goes on then. */
static int add(struct dft_thread *self, struct dft_rows_event *event, uint64_t start_ticks)
{
    struct dft_rows *rows = self->rows;
    unsigned full = is_due(rows, event);

    for (int tries = 0; tries < 4; tries++) {
        uint32_t number = 0;

        if (full) {
            dft_rows_cancel(rows->live);
            if (tries)
                full = dft_rows_choose(rows, full);
            if (!dft_rows_make_room(self, full) || !dft_rows_begin_step(self->rows))
                return 0;
            rows = self->rows;
        }
        move_window(rows, start_ticks, event->start_ns);
        fill(&rows->live->step, event);
        full = (unsigned)find_call(rows, event, &number);
        if (!full)
            full = (unsigned)find_file(self, rows, event);
        if (full)
            continue;
        end(rows->live);
        return 1;
    }
    dft_rows_cancel(rows->live);
    return 0;
}

/* The times of an event that is not within the window. */
static void set_times(struct dft_rows *rows, struct dft_rows_event *event, uint64_t start, uint64_t duration)
{
    event->start_ns = dft_clock_ns(&rows->clock, start);
    if (event->start_ns >= rows->clock_until_ns || event->start_ns + 2 * CLOCK_NS < rows->clock_until_ns) {
        look_at_clock(rows);
        event->start_ns = dft_clock_ns(&rows->clock, start);
        /* The first ratio is a guess. */
        rows->clock_until_ns =
            event->start_ns + (event->start_ns - dft_clock_start_ns < 2 * GUESS_NS ? GUESS_NS : CLOCK_NS);
    }
    event->end_ns = event->start_ns + dft_clock_since(&rows->clock, event->start_ns, start + duration);
}

/* Once an interval: a sample of the process's counters, and what is to be kept from now on. */
static void begin_interval(struct dft_thread *self)
{
    struct dft_signals before;

    if (self != dft_self || dft_is_sandboxed() || dft_in_vfork_child())
        return;
    before = dft_signals_block();
    dft_counters_drained();
    dft_signals_restore(before);
    dft_mode_update(self);
}

int dft_rows_add_slowly(struct dft_thread *self, struct dft_rows_event *event, uint64_t start, uint64_t duration)
{
    const uint64_t interval = self->rows->interval;
    int added;

    set_times(self->rows, event, start, duration);
    added = add(self, event, start);
    if (__builtin_expect(dft_live && dft_control_is_asked(dft_live), 0) && !dft_in_vfork_child() &&
        !dft_is_sandboxed()) {
        struct dft_signals before = dft_signals_block();

        dft_thread_hooks.look();
        dft_signals_restore(before);
    }
    if (__builtin_expect(self->rows && self->rows->interval != interval, 0))
        begin_interval(self);
    return added;
}
