/* SPDX-License-Identifier: MIT */
/* Writes the columns GAP and DURATION: coded, with every bit in the bit string, so that deflate,
 * which cannot make times smaller, has none of it to do. How long a call takes depends most on
 * what it is: shapes with many events have codes of their own. Few events are LEB128; times that
 * another tracer took in microseconds are numbers of these. */
#include <errno.h>

#include "code.h"
#include "times.h"

#define CODED_EVENTS 24u   /* with fewer, the codes would take more than they save */
#define OWN_EVENTS   32u   /* likewise for a code of a shape's own */
#define SHAPE_BYTES  128u  /* more shapes than one byte of the column SHAPE can tell */
#define COARSE_NS    1000u /* what coarse times are multiples of */

enum { GAP, DURATION, COLUMNS };

/* A symbol's code, and what is to be added to the shifted value to make that and the low bits. */
struct symbol {
    uint64_t bias;
    uint8_t length, bits; /* of the code; in all */
};

/* What a shape's times are coded by. First the symbols are counted, then each has a code. */
struct context {
    uint64_t below[COLUMNS]; /* one less than the least time */
    union {
        uint16_t *counts;
        struct symbol *symbols;
    } of[COLUMNS];
};

struct coding {
    struct context *contexts; /* of each shape */
    uint32_t *events;         /* of each shape */
    uint32_t nshapes, own;    /* shapes with so many events have codes of their own */
    const uint8_t *shapes;    /* of each event */
    const uint64_t *times[COLUMNS];
    uint32_t count;
    struct context rest; /* of all shapes that have no own */
};

/* At most 56 bits: a word is written, of which the bytes behind them are zeros. The first byte is
 * zero at first. Returns the place behind them. */
static inline uint64_t put_bits_56(uint8_t *bits, uint64_t at, uint64_t value, unsigned count)
{
    uint8_t *byte = bits + (at >> 3);

    dft_store64(byte, *byte | value << (at & 7));
    return at + count;
}

static inline unsigned symbol_of(uint64_t above)
{
    return (unsigned)__builtin_clzll(above) ^ 63u;
}

static inline void keep_least(uint64_t *least, uint64_t value)
{
    if (dft_unlikely(value < *least))
        *least = value;
}

/* Finds the least times of each shape. Returns 0, or -1: there is one too long for a code. */
static int find_least(struct coding *coding)
{
    const uint64_t *gaps = coding->times[GAP], *durations = coding->times[DURATION];
    struct context *contexts = coding->contexts;
    const uint8_t *shapes = coding->shapes;
    uint32_t *events = coding->events;
    size_t count = coding->count;
    uint64_t all = 0;

    memset(contexts, 0xff, coding->nshapes * sizeof *contexts);
    memset(events, 0, coding->nshapes * sizeof *events);
    for (size_t i = 0; i < count; i++) {
        size_t shape = shapes[i];

        keep_least(&contexts[shape].below[GAP], gaps[i]);
        keep_least(&contexts[shape].below[DURATION], durations[i]);
        all |= gaps[i] | durations[i];
        events[shape]++;
    }
    return all >> (DFT_CODE_SYMBOLS - 1) ? -1 : 0;
}

/* Gives each shape its context. `own`: the next one's counts. */
static void share_contexts(struct coding *coding, uint16_t *own)
{
    struct context *rest = &coding->rest;

    memset(rest, 0xff, sizeof *rest);
    for (unsigned column = 0; column < COLUMNS; column++) {
        rest->of[column].counts = own;
        own += DFT_CODE_SYMBOLS;
        for (uint32_t i = 0; i < coding->nshapes; i++) {
            struct context *context = &coding->contexts[i];

            if (coding->events[i] >= coding->own) {
                context->below[column]--;
                context->of[column].counts = own;
                own += DFT_CODE_SYMBOLS;
            } else {
                keep_least(&rest->below[column], context->below[column]);
            }
        }
        rest->below[column]--;
    }
    for (uint32_t i = 0; i < coding->nshapes; i++)
        if (coding->events[i] < coding->own)
            coding->contexts[i] = *rest;
}

static void count_symbols(const struct coding *coding)
{
    const uint64_t *gaps = coding->times[GAP], *durations = coding->times[DURATION];
    size_t count = coding->count;

    for (size_t i = 0; i < count; i++) {
        const struct context *context = &coding->contexts[coding->shapes[i]];

        context->of[GAP].counts[symbol_of(gaps[i] - context->below[GAP])]++;
        context->of[DURATION].counts[symbol_of(durations[i] - context->below[DURATION])]++;
    }
}

/* The number of symbols up to the last one in use, whose counts are looked at four at a time. */
static unsigned find_last(const uint16_t *counts)
{
    unsigned n = DFT_CODE_SYMBOLS;

    while (n && !dft_load64(counts + n - 4))
        n -= 4;
    while (n && !counts[n - 1])
        n--;
    return n;
}

/* Makes a code, and writes it. */
static void put_code(struct dft_raw *raw, uint64_t below, const uint16_t *counts, struct symbol *symbols)
{
    uint8_t lengths[DFT_CODE_SYMBOLS + 1], bits[DFT_CODE_SYMBOLS], pairs[DFT_CODE_SYMBOLS / 2];
    unsigned first = 0, n = find_last(counts);

    while (first < n && !counts[first])
        first++;
    n -= first;
    dft_raw_leb(raw, n);
    if (!n)
        return;
    dft_raw_leb(raw, first);
    dft_raw_leb(raw, below + 1);
    lengths[0] = lengths[n] = bits[0] = 0;
    if (n > 1) {
        dft_code_lengths(counts + first, n, lengths);
        dft_code_bits(lengths, n, bits);
        for (unsigned i = 0; i < n; i += 2)
            pairs[i / 2] = (uint8_t)(lengths[i] | lengths[i + 1] << 4);
        dft_raw_bytes(raw, pairs, (n + 1) / 2);
    }
    for (unsigned i = 0; i < n; i++)
        symbols[first + i] = (struct symbol){.bias = bits[i] - (UINT64_C(1) << (first + i) << lengths[i]),
                                             .length = lengths[i],
                                             .bits = (uint8_t)(lengths[i] + first + i)};
}

/* Writes the codes of a column, and puts them in the place of what was counted. */
static void put_codes(struct dft_raw *raw, struct coding *coding, unsigned column, struct symbol *symbols)
{
    uint32_t between = 0;

    dft_raw_open(raw, column == GAP ? DFT_EV_GAP : DFT_EV_DURATION, DFT_ENC_CODED);
    put_code(raw, coding->rest.below[column], coding->rest.of[column].counts, symbols);
    coding->rest.of[column].symbols = symbols;
    for (uint32_t i = 0; i < coding->nshapes; i++) {
        struct context *context = &coding->contexts[i];

        if (coding->events[i] >= coding->own) {
            symbols += DFT_CODE_SYMBOLS;
            dft_raw_leb(raw, between);
            put_code(raw, context->below[column], context->of[column].counts, symbols);
            context->of[column].symbols = symbols;
            between = 0;
        } else {
            context->of[column] = coding->rest.of[column];
            between++;
        }
    }
    dft_raw_close(raw);
}

/* Returns their number. */
static uint64_t put_bits(const struct coding *coding, uint8_t *bits)
{
    const uint64_t *gaps = coding->times[GAP], *durations = coding->times[DURATION];
    const struct context *contexts = coding->contexts;
    const uint8_t *shapes = coding->shapes;
    size_t count = coding->count;
    uint64_t at = 0;

    bits[0] = 0;
    for (size_t i = 0; i < count; i++) {
        const struct context *context = &contexts[shapes[i]];
        uint64_t gap = gaps[i] - context->below[GAP], duration = durations[i] - context->below[DURATION];
        const struct symbol *one = &context->of[GAP].symbols[symbol_of(gap)];
        const struct symbol *other = &context->of[DURATION].symbols[symbol_of(duration)];

        gap = (gap << one->length) + one->bias;
        duration = (duration << other->length) + other->bias;
        if (dft_likely(one->bits + other->bits <= 56)) {
            at = put_bits_56(bits, at, gap | duration << one->bits, one->bits + other->bits);
        } else {
            at = put_bits_56(bits, at, gap, one->bits);
            at = put_bits_56(bits, at, duration, other->bits);
        }
    }
    return at;
}

/* Returns 1, or 0: these times cannot be coded, or -E2BIG. */
static int put_coded(struct dft_encoder *encoder, struct coding *coding, uint8_t *tail, size_t *tail_bytes)
{
    uint32_t codes = 1;
    uint16_t *counts;
    struct symbol *symbols;

    coding->contexts = dft_arena_take(encoder, coding->nshapes * sizeof *coding->contexts);
    coding->events = dft_arena_take(encoder, coding->nshapes * sizeof *coding->events);
    if (!coding->contexts || !coding->events)
        return -E2BIG;
    if (find_least(coding))
        return 0;
    for (uint32_t i = 0; i < coding->nshapes; i++)
        codes += coding->events[i] >= coding->own;
    counts = dft_arena_take(encoder, (uint64_t)COLUMNS * codes * DFT_CODE_SYMBOLS * sizeof *counts);
    symbols = dft_arena_take(encoder, (uint64_t)COLUMNS * codes * DFT_CODE_SYMBOLS * sizeof *symbols);
    if (!counts || !symbols)
        return -E2BIG;
    memset(counts, 0, (size_t)COLUMNS * codes * DFT_CODE_SYMBOLS * sizeof *counts);
    share_contexts(coding, counts);
    count_symbols(coding);
    put_codes(&encoder->raw, coding, GAP, symbols);
    put_codes(&encoder->raw, coding, DURATION, symbols + (size_t)codes * DFT_CODE_SYMBOLS);
    *tail_bytes = (put_bits(coding, tail) + 7) / 8;
    return 1;
}

/* Multiples of a microsecond in that unit: they take fewer bytes, before and after deflate. Returns
 * whether they are. */
static int put_scaled(struct dft_raw *raw, unsigned id, const uint64_t *values, uint32_t count)
{
    uint8_t *before = raw->at;

    dft_raw_open(raw, id, DFT_ENC_SCALED);
    if (raw->full || (uint64_t)(raw->end - raw->at) < ((uint64_t)count + 1) * DFT_LEB_MAX) {
        raw->full = 1;
        return 1;
    }
    raw->at = dft_leb_put(raw->at, COARSE_NS);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = values[i] / COARSE_NS;

        if (dft_unlikely(value * COARSE_NS != values[i])) {
            raw->at = before;
            return 0;
        }
        raw->at = dft_leb_put(raw->at, value);
    }
    dft_raw_close(raw);
    return 1;
}

static void put_numbers(struct dft_encoder *encoder, unsigned id, const uint64_t *values, uint32_t count)
{
    struct dft_raw *raw = &encoder->raw;

    if (encoder->coarse_times && put_scaled(raw, id, values, count))
        return;
    dft_raw_open(raw, id, DFT_ENC_LEB128);
    if (raw->full || (uint64_t)(raw->end - raw->at) < (uint64_t)count * DFT_LEB_MAX) {
        raw->full = 1;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        raw->at = dft_leb_put(raw->at, values[i]);
    dft_raw_close(raw);
}

int dft_times_put(struct dft_encoder *encoder, const uint8_t *shapes, uint32_t nshapes, const uint64_t *gaps,
                  const uint64_t *durations, uint32_t count, const uint8_t **tail, size_t *tail_bytes)
{
    struct coding coding = {
        .nshapes = nshapes, .own = OWN_EVENTS, .shapes = shapes, .times = {gaps, durations}, .count = count};
    uint8_t *scratch = dft_arena_take(encoder, (uint64_t)count * 16 + 16);
    int status = 0;

    if (!scratch)
        return -E2BIG;
    *tail = scratch;
    *tail_bytes = 0;
    if (nshapes > SHAPE_BYTES) {
        uint8_t *zeros = dft_arena_take(encoder, count);

        if (!zeros)
            return -E2BIG;
        coding.shapes = memset(zeros, 0, count);
        coding.nshapes = 1;
        coding.own = UINT32_MAX;
    }
    if (count >= CODED_EVENTS && !encoder->coarse_times)
        status = put_coded(encoder, &coding, scratch, tail_bytes);
    if (!status) {
        put_numbers(encoder, DFT_EV_GAP, gaps, count);
        put_numbers(encoder, DFT_EV_DURATION, durations, count);
    }
    return status < 0 ? status : 0;
}
