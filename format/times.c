/* SPDX-License-Identifier: MIT */
/* The columns GAP and DURATION: LEB128, or split into one-byte symbols, which deflate well, and the
 * low bits, which do not deflate at all and are left out of it. Which is smaller depends on the
 * program: the encoder tries both now and then. Times that another tracer took in microseconds are
 * numbers of these. */
#include "times.h"

#include <errno.h>

#include "deflate.h"

#define TRIAL_BLOCKS 32u /* both encodings are tried in one block of so many */
#define TRIAL_EVENTS 64u /* and never on fewer events: the result would say little */
#define SYMBOL_LAST  251u
#define COARSE_NS    1000u /* what coarse times are multiples of */

/* Low bits that the symbol of a value leaves to the bit string. */
static inline unsigned low_bits(uint64_t value)
{
    return 61u - (unsigned)__builtin_clzll(value | 4);
}

static inline uint8_t symbol_of(uint64_t value, unsigned bits)
{
    return (uint8_t)(4 * bits + (value >> bits));
}

static size_t put_leb(const uint64_t *values, uint32_t count, uint8_t *out)
{
    uint8_t *at = out;

    for (uint32_t i = 0; i < count; i++)
        at = dft_leb_put(at, values[i]);
    return (size_t)(at - out);
}

/* Returns the number of bits left to the bit string. */
static uint64_t put_symbols(const uint64_t *values, uint32_t count, uint8_t *out)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        unsigned bits = low_bits(values[i]);

        out[i] = symbol_of(values[i], bits);
        sum += bits;
    }
    return sum;
}

struct bits {
    uint8_t *at;
    uint64_t waiting;
    unsigned count; /* of the waiting ones, below 8 between puts */
};

static inline void put_bits_56(struct bits *bits, uint64_t value, unsigned count)
{
    bits->waiting |= value << bits->count;
    bits->count += count;
    dft_store64(bits->at, bits->waiting);
    bits->at += bits->count >> 3;
    bits->waiting >>= bits->count & ~7u;
    bits->count &= 7;
}

static inline void put_low_bits(struct bits *bits, uint64_t value)
{
    unsigned count = low_bits(value);

    value &= (UINT64_C(1) << count) - 1;
    if (dft_unlikely(count > 56)) {
        put_bits_56(bits, value & UINT32_MAX, 32);
        value >>= 32;
        count -= 32;
    }
    put_bits_56(bits, value, count);
}

/* Chooses by size after deflate (or without, when blocks are stored). */
static uint8_t try_both(struct dft_encoder *encoder, const uint64_t *values, uint32_t count, uint8_t *scratch)
{
    uint8_t *out = encoder->block;
    size_t leb = put_leb(values, count, scratch), split, stored;
    uint64_t bits;

    if (encoder->compression == DFT_DEFLATE) {
        stored = dft_deflate(encoder->workspace, scratch, leb, 0, out, leb);
        leb = stored ? stored : leb;
    }
    bits = put_symbols(values, count, scratch);
    split = count;
    if (encoder->compression == DFT_DEFLATE) {
        stored = dft_deflate(encoder->workspace, scratch, split, split, out, split);
        split = stored ? stored : split;
    }
    return split + bits / 8 < leb ? DFT_ENC_SPLIT : DFT_ENC_LEB128;
}

static void put_column(struct dft_raw *raw, unsigned id, uint8_t encoding, const uint64_t *values, uint32_t count)
{
    dft_raw_open(raw, id, encoding);
    if (raw->full || (uint64_t)(raw->end - raw->at) < (uint64_t)count * DFT_LEB_MAX) {
        raw->full = 1;
        return;
    }
    if (encoding == DFT_ENC_SPLIT) {
        put_symbols(values, count, raw->at);
        raw->at += count;
    } else {
        raw->at += put_leb(values, count, raw->at);
    }
    dft_raw_close(raw);
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
    if (!encoder->coarse_times || !put_scaled(&encoder->raw, id, values, count))
        put_column(&encoder->raw, id, DFT_ENC_LEB128, values, count);
}

/* Will the block be one of the first, which are not deflated? Times take some four bytes an
 * event. */
static int is_stored(const struct dft_encoder *encoder, uint32_t count)
{
    return (uint64_t)(encoder->raw.at - encoder->raw.start) + count * UINT64_C(4) <= encoder->store_first;
}

int dft_times_put(struct dft_encoder *encoder, const uint64_t *gaps, const uint64_t *durations, uint32_t count,
                  const uint8_t **tail, size_t *tail_bytes)
{
    uint8_t *scratch = dft_arena_take(encoder, (uint64_t)count * 2 * 8 + 16);
    struct bits bits = {scratch, 0, 0};
    int split_gap, split_duration;

    if (!scratch)
        return -E2BIG;
    if (count >= TRIAL_EVENTS && !encoder->coarse_times && !is_stored(encoder, count) && encoder->until_trial-- == 0) {
        encoder->until_trial = TRIAL_BLOCKS - 1;
        encoder->gap_encoding = try_both(encoder, gaps, count, scratch);
        encoder->duration_encoding = try_both(encoder, durations, count, scratch);
    }
    split_gap = encoder->gap_encoding == DFT_ENC_SPLIT;
    split_duration = encoder->duration_encoding == DFT_ENC_SPLIT;
    if (!split_gap)
        put_numbers(encoder, DFT_EV_GAP, gaps, count);
    if (!split_duration)
        put_numbers(encoder, DFT_EV_DURATION, durations, count);
    encoder->raw.symbols = encoder->raw.at;
    if (split_gap)
        put_column(&encoder->raw, DFT_EV_GAP, DFT_ENC_SPLIT, gaps, count);
    if (split_duration)
        put_column(&encoder->raw, DFT_EV_DURATION, DFT_ENC_SPLIT, durations, count);
    if (split_gap || split_duration)
        for (uint32_t i = 0; i < count; i++) {
            if (split_gap)
                put_low_bits(&bits, gaps[i]);
            if (split_duration)
                put_low_bits(&bits, durations[i]);
        }
    *tail = scratch;
    *tail_bytes = (size_t)(bits.at - scratch) + (bits.count > 0);
    return 0;
}

/* The bit string of a block, with bytes behind it that may be read. */
struct bit_source {
    const uint8_t *bytes;
    uint64_t at, end; /* bits */
};

/* At most 61 bits; past the end: zeros, and at > end says so. */
static inline uint64_t get_bits(struct bit_source *source, unsigned count)
{
    uint64_t at = source->at, value;

    source->at = at + count;
    if (dft_unlikely(source->at > source->end))
        return 0;
    value = dft_load64(source->bytes + (at >> 3)) >> (at & 7);
    if (dft_unlikely(count > 56))
        value |= dft_load64(source->bytes + (at >> 3) + 4) >> (at & 7) << 32;
    return value & ((UINT64_C(1) << count) - 1);
}

/* Symbols to values; a column that is absent, too short or holds impossible symbols gives zeros
 * (and a fault). */
static inline uint64_t from_symbol(uint8_t symbol, struct bit_source *source)
{
    unsigned bits;

    if (symbol < 8)
        return symbol;
    bits = (symbol >> 2) - 1u;
    return (uint64_t)(4 | (symbol & 3)) << bits | get_bits(source, bits);
}

static const uint8_t *symbols_of(struct dft_columns *columns, unsigned id, uint32_t count)
{
    const uint8_t *symbols = dft_column_bytes(columns, id, count);

    for (uint32_t i = 0; symbols && i < count; i++)
        if (dft_unlikely(symbols[i] > SYMBOL_LAST)) {
            dft_column_fault(columns, id);
            return NULL;
        }
    return symbols;
}

static void get_leb(struct dft_columns *columns, unsigned id, uint64_t *values, uint32_t count)
{
    struct dft_column *column = &columns->list[id];
    uint64_t unit = column->encoding == DFT_ENC_SCALED ? dft_column_leb(columns, id) : 1;
    const uint8_t *at = column->at;
    uint32_t i = 0;

    if (dft_unlikely(!unit))
        dft_column_fault(columns, id);
    for (; i < count; i++) {
        const uint8_t *next = dft_leb_get(at, column->end, &values[i]);

        if (dft_unlikely(!next))
            break;
        values[i] *= unit;
        at = next;
    }
    column->at = at;
    for (; i < count; i++) /* an absent column, or a fault */
        values[i] = dft_column_leb(columns, id);
}

int dft_times_get(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload)
{
    struct dft_columns *columns = &decoder->columns;
    uint32_t count = header->count;
    const uint8_t *gap_symbols = NULL, *duration_symbols = NULL;
    struct bit_source source;
    uint64_t *gaps, *durations;

    if (dft_buffer_reserve(&decoder->times, count * 2 * sizeof *gaps) ||
        dft_buffer_reserve(&decoder->tail, (size_t)header->tail + 16))
        return -ENOMEM;
    gaps = decoder->times.bytes;
    durations = gaps + count;
    memcpy(decoder->tail.bytes, (const uint8_t *)payload + header->stored - header->tail, header->tail);
    memset((uint8_t *)decoder->tail.bytes + header->tail, 0, 16);
    source = (struct bit_source){decoder->tail.bytes, 0, (uint64_t)header->tail * 8};
    if (columns->list[DFT_EV_GAP].encoding == DFT_ENC_SPLIT)
        gap_symbols = symbols_of(columns, DFT_EV_GAP, count);
    else
        get_leb(columns, DFT_EV_GAP, gaps, count);
    if (columns->list[DFT_EV_DURATION].encoding == DFT_ENC_SPLIT)
        duration_symbols = symbols_of(columns, DFT_EV_DURATION, count);
    else
        get_leb(columns, DFT_EV_DURATION, durations, count);
    for (uint32_t i = 0; (gap_symbols || duration_symbols) && i < count; i++) {
        if (gap_symbols)
            gaps[i] = from_symbol(gap_symbols[i], &source);
        if (duration_symbols)
            durations[i] = from_symbol(duration_symbols[i], &source);
    }
    if (source.at > source.end)
        dft_columns_fault(columns, "the bit string ends early");
    return columns->reason ? -EBADMSG : 0;
}
