/* SPDX-License-Identifier: MIT */
/* The table of a thread that keeps aggregates only: the rows of its calls, in the live file.
 *
 * A call adds to its rows at once; no record is made. The table has one writer, its thread. What
 * the thread was adding when it was killed is found in the table's step, and added by the reader.
 *
 * LAYOUT. struct dft_live_table, then the arena up to `bytes`. Objects lie in the arena from both
 * ends: from the start up to `low` histograms, their chunks, files with what belongs to them; from
 * the end down to `high` call rows, all of one size. A place in the arena is a number of eight
 * bytes from the start of the table; 0 is none. An object is whole before `low` or `high` tells of
 * it. Unused memory is not zeroed.
 *
 * STREAMS. Call rows and the other objects are written to the trace at different times, so each
 * kind is a stream of its own, with its own range of event numbers: call rows hold the events from
 * `calls_first` on, files and histograms those from `files_first` on, both up to `events`. Who
 * finds the last event's number in a block of the stream knows that the rows are in that block.
 *
 * ONE STEP. To add an event, the writer
 *   1. sets `ticket` to events + 1, and makes the objects that the event needs, all neutral;
 *   2. notes the event in `step`, with the old values of all sums that it will change;
 *   3. sets `applying` to the ticket;
 *   4. adds: sums from their old values, minima, maxima and bits as they come;
 *   5. sets `events` to the ticket.
 * A reader that finds applying == ticket != events does 4 again: nothing is counted twice. A reader
 * that finds ticket != events and another `applying` knows that nothing was changed. A handler that
 * finds ticket != events keeps away.
 *
 *   who                     may do                                       with whom at the same time
 *   owner                   all of the above                             readers
 *   owner's handlers        all of the above, when no step goes on       the owner, interrupted
 *   a thread that flushes   write and empty the table, when it has set   the owner, which keeps away
 *                           `frozen` and no step goes on (lock of state)
 *   dftmerge                read                                         all */
#ifndef DFT_FORMAT_LIVE_TABLE_H
#define DFT_FORMAT_LIVE_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "format/event.h"
#include "format/row.h"

#define DFT_LIVE_TABLE_MAGIC UINT64_C(0x656c626174746664) /* bytes "dfttable" */
#define DFT_LIVE_TABLE_BYTES (44u << 10)
#define DFT_LIVE_CHUNK_BINS  8u
#define DFT_LIVE_CHUNKS      240u /* of a histogram with all its bins */
#define DFT_LIVE_STRIDES     4u
#define DFT_LIVE_FURTHER     6u

enum dft_live_object_type {
    DFT_LIVE_HISTOGRAM = 1,
    DFT_LIVE_CHUNK = 2,
    DFT_LIVE_FILE = 3,
    DFT_LIVE_DATA = 4,
    DFT_LIVE_PATTERN = 5,
};

/* What all objects of the lower end begin with. */
struct dft_live_object {
    uint8_t type;
    uint8_t which;   /* chunk: enum dft_live_bins; file: dft_live_which */
    uint16_t number; /* chunk: its bins begin at DFT_LIVE_CHUNK_BINS times this; data: 1: what was touched is not
                        known; histogram: the owner's affair */
    uint32_t other;  /* histogram: place of its newest chunk; chunk: of the next older one; 0: none */
};

enum dft_live_bins { DFT_LIVE_DURATIONS = 0, DFT_LIVE_SIZES = 1, DFT_LIVE_ASKED = 2, DFT_LIVE_BINS = 3 };

/* What makes a call row that row. */
struct dft_live_key {
    uint64_t subject; /* of an annotation: id of its name; else 0 */
    uint64_t region, interval;
    uint32_t call;   /* enum dft_call_number; enum dft_io << 16 */
    uint32_t facets; /* dft_facets_of */
};

/* The sums that a step changes: they are kept in the step as they were before. */
struct dft_live_sums {
    uint64_t samples, dur_sum, data, bytes, asked, turns;
    uint64_t calls; /* calls less samples, modulo 2^64 */
    uint64_t pad;
};

struct dft_live_row {
    struct dft_live_key key; /* interval: of W */
    struct dft_live_sums sums;
    uint64_t edge, step; /* `edge` less dur_sum, and `step`, modulo 2^64 */
    uint64_t occupancy;
    uint64_t dur_min, dur_max, first_start, last_end;
    uint64_t size_min, size_max;
    int64_t offset_min, offset_max;
};
_Static_assert(sizeof(struct dft_live_row) % 8 == 0, "places are numbers of eight bytes");

struct dft_live_histogram {
    struct dft_live_object object;
    struct dft_live_key key; /* interval: of 64 W */
};

struct dft_live_chunk {
    struct dft_live_object object;
    uint32_t counts[DFT_LIVE_CHUNK_BINS];
};

struct dft_live_file_sums {
    uint64_t samples, dur_sum, errors, calls;
};

struct dft_live_file {
    struct dft_live_object object;
    uint64_t file, region, interval; /* of 64 W */
    struct dft_live_file_sums sums;
    uint64_t edge, step;
    uint64_t dur_min, dur_max, first_start, last_end;
    uint32_t data, pattern; /* places */
};

struct dft_live_data_sums {
    uint64_t data, bytes, asked;
    uint64_t sequential, consecutive, turns;
};

/* What a file has whose data was accessed. */
struct dft_live_data {
    struct dft_live_object object;
    struct dft_live_data_sums sums;
    uint64_t size_min, size_max;
    int64_t offset_min, offset_max;
};

/* What was touched, once it is not all between offset_min and offset_max. */
struct dft_live_pattern {
    struct dft_live_object object;
    _Atomic uint32_t folding; /* the bits are being folded: nothing is known */
    uint32_t pad;
    struct dft_touched touched;
    struct dft_stride strides[DFT_LIVE_STRIDES];
};

/* A row whose `edge` and `step` change: what they are after it. */
struct dft_live_further {
    uint32_t place;
    uint32_t is_file;
    uint64_t edge, step, occupancy;
};

struct dft_live_step {
    uint64_t start_ns, end_ns;
    uint64_t bytes, asked;
    int64_t offset;     /* -1: none */
    uint64_t occupancy; /* of the call row */
    uint32_t samples;   /* 0 or 1 */
    uint32_t calls;
    uint8_t is_data, is_error, is_turn, bits; /* bits: DFT_BIT_SEQUENTIAL and DFT_BIT_CONSECUTIVE */
    uint32_t nfurther;
    uint32_t row, file, data, pattern; /* places */
    /* The counters of histograms: numbers of four bytes from the start of the table, 0 none; and what
     * they were. */
    uint32_t counters[DFT_LIVE_BINS], counts[DFT_LIVE_BINS];
    struct dft_live_sums row_sums;
    struct dft_live_file_sums file_sums;
    struct dft_live_data_sums data_sums;
    struct dft_live_further further[DFT_LIVE_FURTHER];
};

enum { DFT_LIVE_CALLS_WRITTEN = 1, DFT_LIVE_FILES_WRITTEN = 2 };

struct dft_live_table {
    uint64_t magic;
    uint32_t bytes; /* of the table and its arena */
    uint32_t tid;
    uint32_t call_stream, file_stream;
    uint64_t offset; /* in the live file; 0: it is plain memory */
    uint64_t width_ns;
    _Atomic uint64_t ticket, applying, events;
    _Atomic uint64_t calls_first, files_first;
    _Atomic uint32_t low, high; /* places */
    _Atomic uint32_t written;   /* bits: these rows are in a block, and not here any more */
    _Atomic uint32_t frozen;    /* no step may begin */
    struct dft_live_step step;
};
#define DFT_LIVE_ARENA ((uint32_t)((sizeof(struct dft_live_table) + 7) / 8)) /* the first place */

/* The length of an object of the lower end; 0: it is of no type. */
static inline uint32_t dft_live_object_bytes(const struct dft_live_object *object)
{
    static const uint8_t bytes[] = {
        [DFT_LIVE_HISTOGRAM] = sizeof(struct dft_live_histogram), [DFT_LIVE_CHUNK] = sizeof(struct dft_live_chunk),
        [DFT_LIVE_FILE] = sizeof(struct dft_live_file),           [DFT_LIVE_DATA] = sizeof(struct dft_live_data),
        [DFT_LIVE_PATTERN] = sizeof(struct dft_live_pattern),
    };

    return object->type < sizeof bytes ? bytes[object->type] : 0;
}

/* What a file row is of: class of the calls, and of their operations. */
static inline uint8_t dft_live_which(enum dft_io io, enum dft_class class)
{
    return (uint8_t)(io | class << 4);
}

static inline void *dft_live_at(const struct dft_live_table *table, uint32_t place)
{
    return (uint64_t *)(uintptr_t)table + place;
}

#define DFT_LIVE_INLINE static inline __attribute__((always_inline))

DFT_LIVE_INLINE void dft_live_lower(uint64_t *least, uint64_t value)
{
    if (value < *least)
        *least = value;
}

DFT_LIVE_INLINE void dft_live_raise(uint64_t *most, uint64_t value)
{
    if (value > *most)
        *most = value;
}

/* The end of an access: cut where 64 bits end. */
DFT_LIVE_INLINE int64_t dft_live_end(const struct dft_live_step *step)
{
    uint64_t capacity = (uint64_t)(INT64_MAX - step->offset);

    return step->offset + (int64_t)(step->bytes < capacity ? step->bytes : capacity);
}

DFT_LIVE_INLINE void dft_live_add_sizes(const struct dft_live_step *step, uint64_t *size_min, uint64_t *size_max,
                                        int64_t *offset_min, int64_t *offset_max)
{
    dft_live_lower(size_min, step->bytes);
    dft_live_raise(size_max, step->bytes);
    if (step->offset >= 0 && step->offset < INT64_MAX) {
        int64_t end = dft_live_end(step);

        *offset_min = step->offset < *offset_min ? step->offset : *offset_min;
        *offset_max = end > *offset_max ? end : *offset_max;
    }
}

DFT_LIVE_INLINE void dft_live_add_to_row(struct dft_live_row *row, const struct dft_live_step *step)
{
    uint64_t dur_ns = step->end_ns - step->start_ns;

    row->sums.samples = step->row_sums.samples + step->samples;
    row->occupancy |= step->occupancy;
    dft_live_lower(&row->first_start, step->start_ns);
    dft_live_raise(&row->last_end, step->end_ns);
    if (__builtin_expect(step->samples, 1)) {
        row->sums.dur_sum = step->row_sums.dur_sum + dur_ns;
        dft_live_lower(&row->dur_min, dur_ns);
        dft_live_raise(&row->dur_max, dur_ns);
    }
    if (__builtin_expect(step->calls != step->samples, 0))
        row->sums.calls = step->row_sums.calls + step->calls - step->samples;
    if (!step->is_data)
        return;
    row->sums.data = step->row_sums.data + 1;
    row->sums.bytes = step->row_sums.bytes + step->bytes;
    row->sums.asked = step->row_sums.asked + step->asked;
    row->sums.turns = step->row_sums.turns + step->is_turn;
    dft_live_add_sizes(step, &row->size_min, &row->size_max, &row->offset_min, &row->offset_max);
}

DFT_LIVE_INLINE void dft_live_add_to_file(struct dft_live_file *file, const struct dft_live_step *step)
{
    uint64_t dur_ns = step->end_ns - step->start_ns;

    file->sums.samples = step->file_sums.samples + step->samples;
    dft_live_lower(&file->first_start, step->start_ns);
    dft_live_raise(&file->last_end, step->end_ns);
    if (__builtin_expect(step->samples, 1)) {
        file->sums.dur_sum = step->file_sums.dur_sum + dur_ns;
        dft_live_lower(&file->dur_min, dur_ns);
        dft_live_raise(&file->dur_max, dur_ns);
    }
    if (__builtin_expect(step->calls != step->samples, 0))
        file->sums.calls = step->file_sums.calls + step->calls - step->samples;
    if (__builtin_expect(step->is_error, 0))
        file->sums.errors = step->file_sums.errors + step->calls;
}

DFT_LIVE_INLINE void dft_live_add_to_data(struct dft_live_data *data, const struct dft_live_step *step)
{
    data->sums.data = step->data_sums.data + 1;
    data->sums.bytes = step->data_sums.bytes + step->bytes;
    data->sums.asked = step->data_sums.asked + step->asked;
    data->sums.sequential = step->data_sums.sequential + (step->bits & DFT_BIT_SEQUENTIAL ? 1 : 0);
    data->sums.consecutive = step->data_sums.consecutive + (dft_bits_are_consecutive(step->bits) ? 1 : 0);
    data->sums.turns = step->data_sums.turns + step->is_turn;
    dft_live_add_sizes(step, &data->size_min, &data->size_max, &data->offset_min, &data->offset_max);
}

/* Marks what the event touched. The bits are wide enough for its end. */
static inline void dft_live_add_to_pattern(struct dft_live_pattern *pattern, const struct dft_live_step *step)
{
    uint64_t last;

    if (!step->bytes || step->offset < 0 || step->offset == INT64_MAX)
        return;
    last = (uint64_t)(dft_live_end(step) - 1) >> pattern->touched.shift;
    if (last < DFT_TOUCHED_PARTS)
        dft_touched_mark(&pattern->touched, (uint64_t)step->offset >> pattern->touched.shift, last);
}

/* Adds the event of the table's step. Doing so again changes nothing. */
DFT_LIVE_INLINE void dft_live_apply(struct dft_live_table *table)
{
    const struct dft_live_step *step = &table->step;

    dft_live_add_to_row(dft_live_at(table, step->row), step);
    for (int i = 0; i < DFT_LIVE_BINS; i++)
        if (step->counters[i])
            ((uint32_t *)(void *)table)[step->counters[i]] = step->counts[i] + 1;
    if (step->file)
        dft_live_add_to_file(dft_live_at(table, step->file), step);
    if (step->data)
        dft_live_add_to_data(dft_live_at(table, step->data), step);
    if (__builtin_expect(step->pattern != 0, 0))
        dft_live_add_to_pattern(dft_live_at(table, step->pattern), step);
    for (uint32_t i = 0; __builtin_expect(i < step->nfurther, 0); i++) {
        const struct dft_live_further *further = &step->further[i];

        if (further->is_file) {
            struct dft_live_file *file = dft_live_at(table, further->place);

            file->edge = further->edge;
            file->step = further->step;
        } else {
            struct dft_live_row *row = dft_live_at(table, further->place);

            row->edge = further->edge;
            row->step = further->step;
            row->occupancy |= further->occupancy;
        }
    }
}

/* The rows of a table, in memory of the caller: of each array so many elements are used, and there
 * is room for so many. */
struct dft_live_rows {
    struct dft_row *rows;
    struct dft_call *calls; /* those that rows refer to, as many at most as rows */
    uint32_t count, ncalls, capacity;
    struct dft_bin *bins;
    uint32_t nbins, bins_capacity;
    struct dft_pattern *patterns;
    uint32_t npatterns, patterns_capacity;
};

/* Bounds for what one table can hold. */
#define DFT_LIVE_ROWS_MAX     (DFT_LIVE_TABLE_BYTES / sizeof(struct dft_live_histogram))
#define DFT_LIVE_BINS_MAX     (DFT_LIVE_TABLE_BYTES / 4)
#define DFT_LIVE_PATTERNS_MAX (DFT_LIVE_TABLE_BYTES / sizeof(struct dft_live_data))

/* Puts a table's call rows into `rows`, or its histogram and file rows. Calls have their id and their operation there.
 * Returns 0, or -EBADMSG: the table makes no sense, or needs more memory. Bounded, whatever the bytes. */
int dft_live_table_calls(const struct dft_live_table *table, struct dft_live_rows *rows);
int dft_live_table_files(const struct dft_live_table *table, struct dft_live_rows *rows);

/* Copies a table of a killed or running process, and finishes the step that was going on. `bytes`:
 * so many can be read at `from`; `to` has room for DFT_LIVE_TABLE_BYTES. Returns 0, -EAGAIN: its
 * owner changed it all the time, or -EBADMSG: no table. */
int dft_live_table_copy(struct dft_live_table *to, const struct dft_live_table *from, size_t bytes);

/* The table at or behind *offset of a live file, which then lies behind it; NULL: there is none. */
const struct dft_live_table *dft_live_table_find(const void *bytes, size_t length, size_t *offset);

#endif
