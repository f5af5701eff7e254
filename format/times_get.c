/* SPDX-License-Identifier: MIT */
/* Reads the columns GAP and DURATION, in any encoding that they ever had, and the bit string behind
 * the columns. */
#include <errno.h>

#include "code.h"
#include "times.h"

#define SYMBOL_LAST 251u /* of the split encoding */
#define OWN_SHAPES  256u /* those below may have codes of their own */
#define ENTRIES     (1u << DFT_CODE_LENGTH)
#define TAIL_SLACK  32u /* bytes behind the bit string that may be read */

/* The bit string of a block, with bytes behind it that may be read. */
struct bit_source {
    const uint8_t *bytes;
    uint64_t at, end; /* bits */
};

/* A code, as a table of what the next bits stand for. */
struct code {
    uint64_t below; /* one less than the least value */
    uint8_t is_empty;
    struct entry {
        uint8_t length, all; /* of the code; with the low bits behind it */
    } entries[ENTRIES];
};

/* A column whose values, or some of their bits, are in the bit string. */
struct source_column {
    uint8_t encoding;
    const uint8_t *symbols;                 /* split: the next one's */
    const struct code *codes;               /* coded: the first one is for shapes that have none of their own */
    const struct code *code_of[OWN_SHAPES]; /* shape -> code */
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

static inline uint64_t from_symbol(uint8_t symbol, struct bit_source *source)
{
    unsigned bits;

    if (symbol < 8)
        return symbol;
    bits = (symbol >> 2) - 1u;
    return (uint64_t)(4 | (symbol & 3)) << bits | get_bits(source, bits);
}

/* The bits from here on, 57 of them at least. Does not look for the end: the caller does, once an
 * event. */
static inline uint64_t peek(const struct bit_source *source)
{
    return dft_load64(source->bytes + (source->at >> 3)) >> (source->at & 7);
}

/* The value of an entry that `word` begins with. */
static inline uint64_t of_entry(const struct code *code, struct entry entry, uint64_t word)
{
    uint64_t high = UINT64_C(1) << (entry.all - entry.length);

    return code->below + (high | (word >> entry.length & (high - 1)));
}

static inline uint64_t from_code(const struct code *code, struct bit_source *source)
{
    uint64_t word = peek(source);
    struct entry entry = code->entries[word % ENTRIES];

    source->at += entry.all;
    return of_entry(code, entry, word);
}

/* A gap and a duration. Most often one word has both, and the second need not wait for another. */
static inline void get_two(const struct code *one, const struct code *other, struct bit_source *source, uint64_t *gap,
                           uint64_t *duration)
{
    uint64_t word = peek(source), rest;
    struct entry first = one->entries[word % ENTRIES], second;

    *gap = of_entry(one, first, word);
    rest = word >> first.all;
    second = other->entries[rest % ENTRIES];
    source->at += first.all;
    if (dft_unlikely(first.all + DFT_CODE_LENGTH > 57 || first.all + second.all > 57)) {
        *duration = from_code(other, source);
    } else {
        *duration = of_entry(other, second, rest);
        source->at += second.all;
    }
}

static const struct code *code_of(const struct source_column *column, uint64_t shape)
{
    return shape < OWN_SHAPES ? column->code_of[shape] : column->codes;
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

static void fill_table(struct code *code, unsigned first, unsigned n, const uint8_t *lengths, const uint8_t *bits)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned at = bits[i]; lengths[i] && at < ENTRIES; at += 1u << lengths[i])
            code->entries[at] = (struct entry){lengths[i], (uint8_t)(lengths[i] + first + i)};
}

/* The next code of a column. Returns 0, or -EBADMSG: it is none. */
static int get_code(struct dft_columns *columns, unsigned id, struct code *code)
{
    unsigned n = (unsigned)dft_column_leb_max(columns, id, DFT_CODE_SYMBOLS), first;
    uint8_t lengths[DFT_CODE_SYMBOLS + 1], bits[DFT_CODE_SYMBOLS] = {0};
    const uint8_t *two;

    code->is_empty = !n;
    code->below = 0;
    memset(code->entries, 0, sizeof code->entries);
    if (!n)
        return columns->reason ? -EBADMSG : 0;
    first = (unsigned)dft_column_leb_max(columns, id, DFT_CODE_SYMBOLS - n);
    code->below = dft_column_leb(columns, id) - 1;
    if (n == 1) {
        for (unsigned i = 0; i < ENTRIES; i++)
            code->entries[i].all = (uint8_t)first;
        return columns->reason ? -EBADMSG : 0;
    }
    two = dft_column_bytes(columns, id, (n + 1) / 2);
    if (!two)
        return -EBADMSG;
    for (unsigned i = 0; i < n; i++)
        lengths[i] = two[i / 2] >> i % 2 * 4 & 15;
    if (dft_code_bits(lengths, n, bits)) {
        dft_column_fault(columns, id);
        return -EBADMSG;
    }
    fill_table(code, first, n, lengths, bits);
    return 0;
}

/* All codes of a column, which are put behind each other. Returns 0 or -EBADMSG. */
static int get_codes(struct dft_columns *columns, unsigned id, struct code *codes, struct source_column *column)
{
    struct code *next = codes;
    uint64_t shape = 0;

    column->codes = codes;
    for (unsigned i = 0; i < OWN_SHAPES; i++)
        column->code_of[i] = codes;
    if (get_code(columns, id, next))
        return -EBADMSG;
    for (; dft_column_left(columns, id); shape++) {
        shape += dft_column_leb_max(columns, id, OWN_SHAPES);
        if (shape >= OWN_SHAPES)
            dft_column_fault(columns, id);
        if (columns->reason || get_code(columns, id, ++next))
            return -EBADMSG;
        column->code_of[shape] = next;
    }
    return 0;
}

/* Makes a column ready, or reads it if it has no part in the bit string. Returns 0, -ENOMEM or
 * -EBADMSG. */
static int open_column(struct dft_decoder *decoder, unsigned id, uint32_t count, struct source_column *column,
                       uint64_t *values)
{
    struct dft_columns *columns = &decoder->columns;
    size_t most = 1 + OWN_SHAPES;

    column->encoding = columns->list[id].encoding;
    if (column->encoding == DFT_ENC_SPLIT)
        column->symbols = symbols_of(columns, id, count);
    else if (column->encoding != DFT_ENC_CODED)
        get_leb(columns, id, values, count);
    else if (dft_buffer_reserve(&decoder->codes, 2 * most * sizeof(struct code)))
        return -ENOMEM;
    else
        get_codes(columns, id, (struct code *)decoder->codes.bytes + (id == DFT_EV_GAP ? 0 : most), column);
    return columns->reason ? -EBADMSG : 0;
}

/* What is amiss with shapes is found when the events are read. */
static inline uint64_t next_shape(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *next;
    uint64_t shape;

    if (dft_likely(*at < end && **at < 128))
        return *(*at)++;
    next = dft_leb_get(*at, end, &shape);
    if (!next)
        return 0;
    *at = next;
    return shape;
}

static void get_both_coded(struct dft_decoder *decoder, struct source_column both[2], struct bit_source *source,
                           uint32_t count)
{
    const struct dft_column *shapes = &decoder->columns.list[DFT_EV_SHAPE];
    const uint8_t *at = shapes->at;
    uint64_t *gaps = decoder->times.bytes, *durations = gaps + count;
    struct bit_source local = *source;
    unsigned empty = 0;

    for (uint32_t i = 0; i < count && local.at <= local.end; i++) {
        uint64_t shape = next_shape(&at, shapes->end);
        const struct code *one = code_of(&both[0], shape), *other = code_of(&both[1], shape);

        empty |= one->is_empty | other->is_empty;
        get_two(one, other, &local, &gaps[i], &durations[i]);
    }
    *source = local;
    if (empty)
        dft_column_fault(&decoder->columns, DFT_EV_SHAPE);
}

/* A value of any encoding that has a part in the bit string. */
static uint64_t get_one(struct dft_columns *columns, struct source_column *column, struct bit_source *source,
                        uint64_t shape, uint64_t value)
{
    const struct code *code;

    if (column->encoding == DFT_ENC_SPLIT)
        return from_symbol(*column->symbols++, source);
    if (column->encoding != DFT_ENC_CODED)
        return value;
    code = code_of(column, shape);
    if (code->is_empty)
        dft_column_fault(columns, DFT_EV_SHAPE);
    return from_code(code, source);
}

static void get_mixed(struct dft_decoder *decoder, struct source_column both[2], struct bit_source *source,
                      uint32_t count)
{
    const struct dft_column *shapes = &decoder->columns.list[DFT_EV_SHAPE];
    const uint8_t *at = shapes->at;
    uint64_t *gaps = decoder->times.bytes, *durations = gaps + count;

    for (uint32_t i = 0; i < count && source->at <= source->end; i++) {
        uint64_t shape = next_shape(&at, shapes->end);

        gaps[i] = get_one(&decoder->columns, &both[0], source, shape, gaps[i]);
        durations[i] = get_one(&decoder->columns, &both[1], source, shape, durations[i]);
    }
}

int dft_times_get(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload)
{
    struct dft_columns *columns = &decoder->columns;
    uint32_t count = header->count;
    struct source_column both[2];
    struct bit_source source;
    uint64_t *times;
    int status;

    if (dft_buffer_reserve(&decoder->times, count * 2 * sizeof *times) ||
        dft_buffer_reserve(&decoder->tail, (size_t)header->tail + TAIL_SLACK))
        return -ENOMEM;
    times = decoder->times.bytes;
    memcpy(decoder->tail.bytes, (const uint8_t *)payload + header->stored - header->tail, header->tail);
    memset((uint8_t *)decoder->tail.bytes + header->tail, 0, TAIL_SLACK);
    source = (struct bit_source){decoder->tail.bytes, 0, (uint64_t)header->tail * 8};
    status = open_column(decoder, DFT_EV_GAP, count, &both[0], times);
    if (!status)
        status = open_column(decoder, DFT_EV_DURATION, count, &both[1], times + count);
    if (status)
        return status;
    if (both[0].encoding == DFT_ENC_CODED && both[1].encoding == DFT_ENC_CODED)
        get_both_coded(decoder, both, &source, count);
    else if (both[0].encoding == DFT_ENC_SPLIT || both[0].encoding == DFT_ENC_CODED ||
             both[1].encoding == DFT_ENC_SPLIT || both[1].encoding == DFT_ENC_CODED)
        get_mixed(decoder, both, &source, count);
    if (source.at > source.end)
        dft_columns_fault(columns, "the bit string ends early");
    return columns->reason ? -EBADMSG : 0;
}
