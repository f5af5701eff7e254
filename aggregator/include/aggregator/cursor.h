/* SPDX-License-Identifier: MIT */
/* Events into a fixed table, one by one, as fast as a counter: in the drain of a traced process.
 *
 * Nearly every event falls into the row that the last event of its call and region fell into. A
 * cursor is that row: it sums up what falls there, and the table takes the sum when it is asked for
 * rows. Everything else goes the slow way (dft_table_put), which moves the cursor to the row
 * where the event lies. So what is counted is the same, whichever way an event went. */
#ifndef DFT_CURSOR_H
#define DFT_CURSOR_H

#include "aggregator/aggregate.h"

#define DFT_CURSORS         64u
#define DFT_CHUNK_BINS      32u
#define DFT_CHUNKS_OF_SPINE (DFT_BINS / DFT_CHUNK_BINS)

enum { DFT_DURATIONS = 0, DFT_SIZES = 1 };

/* Counters of an octave of bins, and a histogram: the chunks of its octaves. */
struct dft_chunk {
    uint64_t counts[DFT_CHUNK_BINS];
};

struct dft_spine {
    uint32_t chunks[2][DFT_CHUNKS_OF_SPINE]; /* number + 1, 0 none */
};

struct dft_cursor {
    uint64_t from_ns, width_ns, to_ns; /* the interval of the row; width 0: the cursor is nowhere */
    uint64_t region;
    uint32_t call; /* the caller's number of it */
    uint32_t row;
    struct dft_chunk *chunks;
    struct dft_spine *spine;
    /* The data events since the last one that moved as many bytes, with the same bits. */
    uint64_t same_bytes, same_count;
    uint32_t same_bits;
    struct dft_metrics sum; /* of events since the row was told; count, edge, data, sizes come then */
} __attribute__((aligned(256)));

/* What a row takes of an event that is complete and stands for one call. */
struct dft_sample {
    uint64_t start_ns, dur_ns;
    uint64_t region;
    uint64_t bytes; /* moved, by a data event */
    int64_t offset; /* -1: none */
    uint32_t call;  /* the caller's number of it */
    uint16_t err;
    uint8_t bits; /* DFT_BIT_SEQUENTIAL, DFT_BIT_CONSECUTIVE */
};

/* The table's cursors. */
struct dft_cursor *dft_table_cursors(struct dft_table *);

static inline struct dft_cursor *dft_cursor_of(struct dft_cursor *cursors, uint32_t call, uint64_t region)
{
    return &cursors[(call ^ (uint32_t)region) % DFT_CURSORS];
}

/* Is there room for any event? 0, or -ENOSPC: take the rows and clear the table first. */
int dft_table_has_room(struct dft_table *);

/* Adds any event, which moved so many bytes, of this call: event->call is its number. There is room
 * for it. Moves the cursor of the call there. */
void dft_table_put(struct dft_table *, const struct dft_event *event, uint64_t bytes, const struct dft_call *call);

/* The next data event moves so many bytes, has these bits, and the last ones did not. Returns 0 where
 * there is no counter for it yet. */
int dft_cursor_move_bytes(struct dft_cursor *cursor, uint64_t bytes, uint32_t bits);

#define DFT_CURSOR_INLINE static inline __attribute__((always_inline))

/* The counter of a duration; NULL: there is none yet. */
DFT_CURSOR_INLINE uint64_t *dft_cursor_counter(struct dft_chunk *chunks, const struct dft_spine *spine, uint64_t dur_ns)
{
    uint32_t bin = dft_bin_of(dur_ns), chunk = spine->chunks[DFT_DURATIONS][bin / DFT_CHUNK_BINS];

    return __builtin_expect(chunk != 0, 1) ? &chunks[chunk - 1].counts[bin % DFT_CHUNK_BINS] : NULL;
}

/* Adds what only a data event has. Returns 0 with nothing done where it must go the slow way. */
DFT_CURSOR_INLINE int dft_cursor_add_data(struct dft_cursor *cursor, const struct dft_sample *sample)
{
    int64_t end = sample->offset + (int64_t)sample->bytes;

    if (__builtin_expect((uint64_t)sample->offset >> 62 || sample->bytes >> 62, 0) && sample->offset != -1)
        return 0;
    if (__builtin_expect(sample->bytes != cursor->same_bytes || sample->bits != cursor->same_bits, 0) &&
        !dft_cursor_move_bytes(cursor, sample->bytes, sample->bits))
        return 0;
    if (sample->offset != -1) {
        if (sample->offset < cursor->sum.offset_min)
            cursor->sum.offset_min = sample->offset;
        if (end > cursor->sum.offset_max)
            cursor->sum.offset_max = end;
    }
    cursor->same_count++;
    return 1;
}

/* Adds an event, if it lies in the cursor's row and no counter has to be made for it. Returns
 * whether it was added. */
DFT_CURSOR_INLINE int dft_cursor_add(struct dft_cursor *cursor, const struct dft_sample *sample, int is_data)
{
    uint64_t start_ns = sample->start_ns, dur_ns = sample->dur_ns, end_ns = start_ns + dur_ns;
    uint64_t *counter;

    if (__builtin_expect(start_ns - cursor->from_ns >= cursor->width_ns || dur_ns > cursor->to_ns - start_ns ||
                             cursor->call != sample->call || cursor->region != sample->region,
                         0))
        return 0;
    counter = dft_cursor_counter(cursor->chunks, cursor->spine, dur_ns);
    if (!counter)
        return 0;
    if (__builtin_expect(sample->err, 0))
        cursor->sum.errors++;
    else if (is_data && !dft_cursor_add_data(cursor, sample))
        return 0;
    ++*counter;
    cursor->sum.samples++;
    cursor->sum.dur_sum += dur_ns;
    if (dur_ns < cursor->sum.dur_min)
        cursor->sum.dur_min = dur_ns;
    if (dur_ns > cursor->sum.dur_max)
        cursor->sum.dur_max = dur_ns;
    if (start_ns < cursor->sum.first_start)
        cursor->sum.first_start = start_ns;
    if (end_ns > cursor->sum.last_end)
        cursor->sum.last_end = end_ns;
    return 1;
}

/* Events behind one that a cursor has just taken, which differ from it in their times alone and
 * follow each other. */
struct dft_cursor_repeat {
    struct dft_cursor *cursor;
    uint64_t from_ns, width_ns, to_ns;
    struct dft_chunk *chunks;
    const struct dft_spine *spine;
    uint64_t dur_sum, dur_min, dur_max;
};

static inline struct dft_cursor_repeat dft_cursor_repeat(struct dft_cursor *cursor)
{
    return (struct dft_cursor_repeat){.cursor = cursor,
                                      .from_ns = cursor->from_ns,
                                      .width_ns = cursor->width_ns,
                                      .to_ns = cursor->to_ns,
                                      .chunks = cursor->chunks,
                                      .spine = cursor->spine,
                                      .dur_min = UINT64_MAX};
}

/* Returns 0 with nothing done where the event must go another way. */
DFT_CURSOR_INLINE int dft_cursor_repeat_add(struct dft_cursor_repeat *run, uint64_t start_ns, uint64_t dur_ns)
{
    uint64_t *counter = dft_cursor_counter(run->chunks, run->spine, dur_ns);

    if (__builtin_expect(start_ns - run->from_ns >= run->width_ns || dur_ns > run->to_ns - start_ns, 0) || !counter)
        return 0;
    ++*counter;
    run->dur_sum += dur_ns;
    run->dur_min = dur_ns < run->dur_min ? dur_ns : run->dur_min;
    run->dur_max = dur_ns > run->dur_max ? dur_ns : run->dur_max;
    return 1;
}

/* The run had `count` events, and ended then; `offset`: where the last one has ended, -1: nowhere. */
static inline void dft_cursor_repeat_end(const struct dft_cursor_repeat *run, uint64_t count, uint64_t end_ns, int err,
                                         int is_data, int64_t offset)
{
    struct dft_cursor *cursor = run->cursor;
    struct dft_metrics *sum = &cursor->sum;

    sum->samples += count;
    sum->errors += err ? count : 0;
    sum->dur_sum += run->dur_sum;
    sum->dur_min = run->dur_min < sum->dur_min ? run->dur_min : sum->dur_min;
    sum->dur_max = run->dur_max > sum->dur_max ? run->dur_max : sum->dur_max;
    sum->last_end = end_ns > sum->last_end ? end_ns : sum->last_end;
    if (!is_data || err)
        return;
    cursor->same_count += count;
    sum->offset_max = offset > sum->offset_max ? offset : sum->offset_max;
}

#endif
