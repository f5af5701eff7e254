/* SPDX-License-Identifier: MIT */
/* Events into a fixed table, one by one, as fast as a counter: in the drain of a traced process.
 *
 * Nearly every event falls into the row that the last event of its call and region fell into. A cursor is that row: it
 * sums up what falls there, and the table takes the sum when its rows are requested. Everything else goes the slow way
 * (dft_table_put), which moves the cursor to the row where the event lies. So what is counted is the same, whichever
 * way an event went. */
#ifndef DFT_CURSOR_H
#define DFT_CURSOR_H

#include "aggregator/aggregate.h"
#include "format/event.h"

#define DFT_CURSORS         64u
#define DFT_CHUNK_BINS      32u
#define DFT_CHUNKS_OF_SPINE (DFT_BINS / DFT_CHUNK_BINS)

enum { DFT_DURATIONS = 0, DFT_SIZES = 1, DFT_ASKED = 2, DFT_HISTOGRAMS = 3 };

/* Counters of an octave of bins, and a histogram: the chunks of its octaves. */
struct dft_chunk {
    uint64_t counts[DFT_CHUNK_BINS];
};

struct dft_spine {
    uint32_t chunks[DFT_HISTOGRAMS][DFT_CHUNKS_OF_SPINE]; /* number + 1, 0 none */
};

/* Where events of one kind and region go: a row, and of its interval the 64th that the last one lay
 * in, whose bit of occupancy is set. */
struct dft_cursor {
    uint64_t from_ns, width_ns, to_ns; /* that 64th; width 0: the cursor is nowhere */
    uint64_t region;
    uint64_t kind;           /* dft_cursor_kind */
    uint64_t row_ns, end_ns; /* the interval of the row */
    struct dft_chunk *chunks;
    struct dft_spine *spine;
    uint64_t row; /* number */
    /* What `row` does not contain yet: the data events since the last one that moved as many bytes and
     * requested as many ... */
    uint64_t same_bytes, same_asked, same_count;
    /* ... and the sums of all before; as in struct dft_metrics. */
    uint64_t samples, dur_sum, dur_min, dur_max, first_start, last_end;
    uint64_t data, bytes, asked, size_min, size_max, turns;
    int64_t offset_min, offset_max;
    uint64_t occupancy;
} __attribute__((aligned(256)));

/* What a row takes of an event that is complete and stands for one call. */
struct dft_cursor_sample {
    uint64_t start_ns, dur_ns;
    uint64_t region;
    uint64_t kind;  /* dft_cursor_kind, or dft_cursor_data_kind of a data event */
    uint64_t bytes; /* moved, by a data event */
    uint64_t asked; /* for, likewise */
    int64_t offset; /* -1: none */
    uint16_t err;
    uint8_t turn; /* 1: DFT_BIT_TURN */
};

/* What tells rows of one region apart: the caller's number of a call, and all that facets are made of.
 * (Events of two kinds may well have one row.) */
static inline uint64_t dft_cursor_kind(uint32_t call, uint16_t err)
{
    return call | (uint64_t)err << 48;
}

#define DFT_KIND_SIZE_SHIFT 32
#define DFT_KIND_BITS_SHIFT 40

/* The same of a data event with these DFT_BIT_*. */
static inline uint64_t dft_cursor_data_kind(uint32_t call, uint16_t err, uint64_t asked, uint32_t bits, int64_t offset)
{
    return dft_cursor_kind(call, err) | (uint64_t)dft_size_class(asked) << DFT_KIND_SIZE_SHIFT |
           (uint64_t)(bits & (DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE)) << DFT_KIND_BITS_SHIFT |
           ((uint64_t)offset >> 63) << (DFT_KIND_BITS_SHIFT + 2); /* it has no offset */
}

/* The table's cursors. */
struct dft_cursor *dft_table_cursors(struct dft_table *);

/* Events of a kind may have two cursors: this one, and the one whose number differs in the last bit. */
static inline uint32_t dft_cursor_number(uint64_t kind, uint64_t region)
{
    return (uint32_t)(((kind ^ region) * UINT64_C(0x9e3779b97f4a7c15)) >> 58);
}
_Static_assert(DFT_CURSORS == 64, "six bits");

/* The one that is of this kind; of none, the second one. */
static inline struct dft_cursor *dft_cursor_of(struct dft_cursor *cursors, uint64_t kind, uint64_t region)
{
    uint32_t number = dft_cursor_number(kind, region);

    return &cursors[__builtin_expect(cursors[number].kind == kind, 1) ? number : number ^ 1];
}

/* Is there room for any event? 0, or -ENOSPC: take the rows and clear the table first. */
int dft_table_has_room(struct dft_table *);

/* Adds any event, which moved so many bytes, of this call: event->call is its number. There is room
 * for it. Moves the cursor of the call there. */
void dft_table_put(struct dft_table *, const struct dft_event *event, uint64_t bytes, const struct dft_call *call);

/* The next data event moves and asks for so many bytes, and the last ones did not. Returns 0 where
 * there is no counter for it yet. */
int dft_cursor_move_bytes(struct dft_cursor *cursor, uint64_t bytes, uint64_t asked);

/* Moves the cursor to the 64th of its row's interval in which such an event ends. Returns 0 where the
 * event does not lie in the interval. */
int dft_cursor_move_within(struct dft_cursor *cursor, uint64_t start_ns, uint64_t dur_ns);

#define DFT_CURSOR_INLINE static inline __attribute__((always_inline))

/* The counter of a duration; NULL: there is none yet. */
DFT_CURSOR_INLINE uint64_t *dft_cursor_counter(struct dft_chunk *chunks, const struct dft_spine *spine, uint64_t dur_ns)
{
    uint32_t bin = dft_bin_of(dur_ns), chunk = spine->chunks[DFT_DURATIONS][bin / DFT_CHUNK_BINS];

    return __builtin_expect(chunk != 0, 1) ? &chunks[chunk - 1].counts[bin % DFT_CHUNK_BINS] : NULL;
}

/* Adds what only a data event has. Returns 0 with nothing done where it must go the slow way. */
DFT_CURSOR_INLINE int dft_cursor_add_data(struct dft_cursor *cursor, const struct dft_cursor_sample *sample)
{
    int64_t end = sample->offset + (int64_t)sample->bytes;

    if (__builtin_expect((uint64_t)sample->offset >> 62 || sample->bytes >> 62, 0) && sample->offset != -1)
        return 0;
    if (__builtin_expect(sample->bytes != cursor->same_bytes || sample->asked != cursor->same_asked, 0) &&
        !dft_cursor_move_bytes(cursor, sample->bytes, sample->asked))
        return 0;
    if (sample->offset != -1) {
        if (sample->offset < cursor->offset_min)
            cursor->offset_min = sample->offset;
        if (end > cursor->offset_max)
            cursor->offset_max = end;
    }
    cursor->same_count++;
    cursor->turns += sample->turn;
    return 1;
}

/* Adds an event that lies in the cursor's 64th, if no counter has to be made for it. Returns whether
 * it was added. */
DFT_CURSOR_INLINE int dft_cursor_take(struct dft_cursor *cursor, const struct dft_cursor_sample *sample, int is_data)
{
    uint64_t start_ns = sample->start_ns, dur_ns = sample->dur_ns, end_ns = start_ns + dur_ns;
    uint64_t *counter = dft_cursor_counter(cursor->chunks, cursor->spine, dur_ns);

    if (!counter)
        return 0;
    if (is_data && !sample->err && !dft_cursor_add_data(cursor, sample))
        return 0;
    ++*counter;
    cursor->samples++;
    cursor->dur_sum += dur_ns;
    if (dur_ns < cursor->dur_min)
        cursor->dur_min = dur_ns;
    if (dur_ns > cursor->dur_max)
        cursor->dur_max = dur_ns;
    if (start_ns < cursor->first_start)
        cursor->first_start = start_ns;
    if (end_ns > cursor->last_end)
        cursor->last_end = end_ns;
    return 1;
}

/* Adds an event, if it is one of the cursor's. Returns whether it was added. */
DFT_CURSOR_INLINE int dft_cursor_add(struct dft_cursor *cursor, const struct dft_cursor_sample *sample, int is_data)
{
    if (__builtin_expect(cursor->kind != sample->kind || cursor->region != sample->region, 0))
        return 0;
    if (__builtin_expect(sample->start_ns - cursor->from_ns >= cursor->width_ns ||
                             sample->dur_ns > cursor->to_ns - sample->start_ns,
                         0) &&
        !dft_cursor_move_within(cursor, sample->start_ns, sample->dur_ns))
        return 0;
    return dft_cursor_take(cursor, sample, is_data);
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

/* The run had `count` events, and ended then. `moves`: they are data events that did not fail;
 * `offset`: where the last one has ended, -1: nowhere. */
static inline void dft_cursor_repeat_end(const struct dft_cursor_repeat *run, uint64_t count, uint64_t end_ns,
                                         int moves, int turn, int64_t offset)
{
    struct dft_cursor *cursor = run->cursor;

    cursor->samples += count;
    cursor->dur_sum += run->dur_sum;
    cursor->dur_min = run->dur_min < cursor->dur_min ? run->dur_min : cursor->dur_min;
    cursor->dur_max = run->dur_max > cursor->dur_max ? run->dur_max : cursor->dur_max;
    cursor->last_end = end_ns > cursor->last_end ? end_ns : cursor->last_end;
    if (!moves)
        return;
    cursor->same_count += count;
    cursor->turns += turn ? count : 0;
    cursor->offset_max = offset > cursor->offset_max ? offset : cursor->offset_max;
}

#endif
