/* SPDX-License-Identifier: MIT */
/* What the owner of a table knows besides: where its objects are, and what a step is to add. */
#ifndef DFT_ROWS_INSIDE_H
#define DFT_ROWS_INSIDE_H

#include <errno.h>

#include "aggregator/histogram.h"
#include "format/clock.h"
#include "rows/rows.h"
#include "rows/rows_table.h"
#include "rows/rows_flush.h"

#define DFT_ROWS_CURSORS    64u
#define DFT_ROWS_INDEX      2048u
#define DFT_ROWS_HISTOGRAMS 64u
#define DFT_ROWS_NO_FILE    UINT8_MAX

/* The row of the last calls of one kind, and what the last one was. */
struct dft_rows_cursor {
    uint32_t kind; /* dft_rows_kind; 0: of none */
    uint32_t size; /* requested by data calls */
    uint64_t region, subject;
    int64_t result;
    uint64_t bytes;          /* that were moved then */
    uint32_t row, histogram; /* place; number */
    uint32_t bytes_counter, asked_counter;
    uint16_t err;
    uint8_t which; /* row of its files */
    uint8_t pad[5];
};
_Static_assert(sizeof(struct dft_rows_cursor) == 64, "a cache line");

/* The row of the last calls on a file. */
struct dft_rows_seen {
    uint64_t file, region; /* file 0: of none */
    uint32_t which, place, data, pattern;
    int64_t offset; /* start of the last access; -1: not known */
};

struct dft_rows {
    struct dft_live_table *live;
    /* Steps whose event lies between these ticks are quick: one clock, one 64th of one interval. */
    uint64_t since, window;
    struct dft_near_clock near;
    uint64_t slot; /* the bit of that 64th */
    uint64_t interval, coarse;
    struct dft_rows_cursor cursors[DFT_ROWS_CURSORS];
    struct dft_rows_seen files[DFT_ROWS_CURSORS];
    struct dft_clock clock;
    uint64_t clock_until_ns; /* then the clock is read again */
    uint64_t files_interval; /* in which histograms and files were written last */
    uint64_t closed_until;   /* until this interval no new file gets a row: there are too many counters */
    uintptr_t frame;         /* of the last step */
    uint32_t livefile;       /* dft_livefile_number when the table was made */
    struct {
        uint64_t file, directory;
    } directories[DFT_SENT_NAMES]; /* of files whose names were sent: ids */
    uint32_t nhistograms;
    uint32_t histograms[DFT_ROWS_HISTOGRAMS]; /* places */
    uint16_t index[DFT_ROWS_INDEX];           /* hash of places; 0: free */
    uint16_t chunks[DFT_ROWS_HISTOGRAMS][DFT_LIVE_BINS][DFT_LIVE_CHUNKS];
};

/* What a call adds. */
struct dft_rows_event {
    uint64_t start_ns, end_ns;
    uint64_t bytes, asked;
    int64_t offset;
    uint64_t region, subject, file;
    uint32_t call, facets;
    uint32_t calls, samples;
    uint8_t is_data, is_turn, bits;
    uint8_t which; /* of the rows of its file: dft_live_which; DFT_ROWS_NO_FILE: it adds to none */
};

/* The id of the directory that a file's calls count for where there is no room for the file: its own, or
 * that of all files. Its name has been sent. */
uint64_t dft_rows_directory_of(struct dft_thread *self, uint64_t id);

/* Writes what is full. No step goes on. Returns 0: it cannot be written now. */
int dft_rows_make_room(struct dft_thread *self, unsigned what);

static inline uint32_t dft_rows_counter_in(uint32_t chunk, uint32_t bin)
{
    return 2 * chunk + (uint32_t)(sizeof(struct dft_live_object) / 4) + bin % DFT_LIVE_CHUNK_BINS;
}

/* The same where the chunk is there; 0: it is not. */
static inline uint32_t dft_rows_counter_there(const struct dft_rows *rows, uint32_t histogram, enum dft_live_bins which,
                                              uint64_t value)
{
    uint32_t bin = dft_bin_of(value), chunk = rows->chunks[histogram][which][bin / DFT_LIVE_CHUNK_BINS];

    return __builtin_expect(chunk != 0, 1) ? dft_rows_counter_in(chunk, bin) : 0;
}

static inline uint32_t dft_rows_hash(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (a >> 32)) * UINT64_C(0x9e3779b97f4a7c15) + b;

    return (uint32_t)((h ^ (h >> 29)) * UINT64_C(0xff51afd7ed558ccd) >> 40);
}

/* The call of a record, its class, its bits, and whether it has an offset: the access says so, too. */
static inline uint32_t dft_rows_kind(const struct dft_slot *record)
{
    return (record->call & ~DFT_SLOT_TURN) | (uint32_t)record->bits << 16 |
           (uint32_t)((uint64_t)record->offset >> 63) * DFT_SLOT_TURN;
}

static inline struct dft_rows_cursor *dft_rows_cursor_of(struct dft_rows *rows, uint32_t kind, uint32_t size_class,
                                                         uint64_t region)
{
    return &rows->cursors[(((kind ^ size_class << 12) * UINT32_C(0x9e3779b1) >> 26) ^ (uint32_t)region) %
                          DFT_ROWS_CURSORS];
}

static inline struct dft_rows_seen *dft_rows_seen_of(struct dft_rows *rows, uint64_t file, uint32_t which)
{
    return &rows->files[((uint32_t)file ^ which) % DFT_ROWS_CURSORS];
}

/* --- steps ------------------------------------------------------------------------------------ */

static inline uint64_t dft_rows_load(const _Atomic uint64_t *number)
{
    return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)number, memory_order_relaxed);
}

/* Ends a step that a handler has left by longjmp. `frame`: of the caller. Returns 0: the step goes
 * on. */
int dft_rows_end_abandoned(struct dft_rows *rows, uintptr_t frame);

/* A reader sees that the step is being made before what it changes. */
static inline __attribute__((always_inline)) void dft_rows_apply_step(struct dft_live_table *live, uint64_t ticket)
{
    atomic_store_explicit(&live->applying, ticket, memory_order_release);
    atomic_thread_fence(memory_order_release);
}

static inline void dft_rows_cancel(struct dft_live_table *live)
{
    atomic_store_explicit(&live->ticket, dft_rows_load(&live->events), memory_order_release);
}

/* Returns 0: no step may begin. From here on handlers keep away. Either the thread that flushes sees
 * the step, or the step sees that thread. */
static inline __attribute__((always_inline)) int dft_rows_begin_step(struct dft_rows *rows)
{
    struct dft_live_table *live = rows->live;
    uint64_t events = dft_rows_load(&live->events);

    if (__builtin_expect(dft_rows_load(&live->ticket) != events, 0)) {
        if (!dft_rows_end_abandoned(rows, (uintptr_t)__builtin_frame_address(0)))
            return 0;
        events = dft_rows_load(&live->events);
    }
    rows->frame = (uintptr_t)__builtin_frame_address(0);
    atomic_store_explicit(&live->ticket, events + 1, memory_order_relaxed);
    __asm__ volatile("" : : : "memory");
    atomic_thread_fence(memory_order_release); /* a reader sees the ticket before what the step writes down */
    if (__builtin_expect(*(volatile int *)&dft_late | (int)atomic_load_explicit(&live->frozen, memory_order_relaxed),
                         0)) {
        dft_rows_cancel(live);
        return 0;
    }
    return 1;
}

/* A step has begun. Adds the event, and ends the step. Returns 0: it could not be added. */
int dft_rows_add_slowly(struct dft_thread *self, struct dft_rows_event *event, uint64_t start, uint64_t duration);

/* --- records ---------------------------------------------------------------------------------- */

/* What is not in the fields of a record's slot. */
struct dft_rows_more {
    uint64_t size, duration;
    uint32_t unit, calls, phase;
};

/* The bytes that a data call moved. */
static inline uint64_t dft_rows_bytes(const struct dft_slot *record, uint32_t unit)
{
    if (record->result <= 0)
        return 0;
    return record->bits & DFT_SLOT_UNIT ? (uint64_t)(uint32_t)record->result * (uint32_t)(record->result >> 32)
                                        : (uint64_t)record->result * unit;
}

/* What the record means, but for its times. */
void dft_rows_read(struct dft_rows_event *event, const struct dft_slot *record, const struct dft_rows_more *more);
/* Adds any record. Returns as dft_rows_take. */
int dft_rows_take_any(struct dft_thread *self, const struct dft_slot *record, const struct dft_rows_more *more);

#endif
