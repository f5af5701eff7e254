/* SPDX-License-Identifier: MIT */
/* Runs of equal numbers, and packed ones between them: levels of definition and indices into a
 * dictionary. */
#include "parquet/encode_runs.h"
#include "parquet/bits.h"

#define GROUP 8u /* packed numbers come in groups of eight */

/* Are the next eight all this number? Two are compared at once. */
static inline int are_all(const uint32_t *numbers, uint32_t number)
{
    uint64_t two = (uint64_t)number << 32 | number, other = 0;

    for (uint32_t i = 0; i < GROUP; i += 2)
        other |= dft_load64(numbers + i) ^ two;
    return !other;
}

static uint32_t run_length(const uint32_t *numbers, uint32_t count)
{
    uint32_t n = 0;

    while (n + GROUP <= count && are_all(numbers + n, numbers[0]))
        n += GROUP;
    while (n < count && numbers[n] == numbers[0])
        n++;
    return n;
}

void dft_parquet_encode_run(struct dft_bytes *page, uint32_t number, uint32_t count, unsigned width)
{
    dft_bytes_varint(page, (uint64_t)count << 1);
    dft_bytes_number(page, number, (width + 7) / 8);
}

static unsigned char *pack(unsigned char *to, const uint32_t *numbers, uint32_t count, unsigned width)
{
    struct dft_bits bits = {.to = to};

    if (width == 8) {
        for (uint32_t i = 0; i < count; i++)
            to[i] = (unsigned char)numbers[i];
        return to + count;
    }
    for (uint32_t i = 0; i < count; i++)
        dft_bits_put(&bits, numbers[i], width);
    return dft_bits_end(&bits);
}

/* The last group of a page may be shorter; zeros fill it. */
static void put_packed(struct dft_bytes *page, const uint32_t *numbers, uint32_t count, unsigned width)
{
    size_t groups = (count + GROUP - 1) / GROUP, bytes = groups * width;
    unsigned char *room, *end;

    if (!count)
        return;
    dft_bytes_varint(page, groups << 1 | 1);
    room = dft_bytes_room(page, bytes + 8);
    if (!room)
        return;
    end = pack(room, numbers, count, width);
    memset(end, 0, (size_t)(room + bytes - end));
    page->length += bytes;
}

void dft_parquet_encode_runs(struct dft_bytes *page, const uint32_t *numbers, uint32_t count, unsigned width)
{
    uint32_t from = 0, at = 0;

    while (at + GROUP <= count) {
        if (!are_all(numbers + at, numbers[at])) { /* a run of eight takes less than packing them */
            at += GROUP;
            continue;
        }
        put_packed(page, numbers + from, at - from, width);
        from = at + run_length(numbers + at, count - at);
        dft_parquet_encode_run(page, numbers[at], from - at, width);
        at = from;
    }
    put_packed(page, numbers + from, count - from, width);
}

void dft_parquet_encode_levels(struct dft_bytes *page, const uint32_t *present, uint32_t count, int all)
{
    size_t begin = page->length;
    uint32_t length;

    dft_bytes_number(page, 0, 4);
    if (present)
        dft_parquet_encode_runs(page, present, count, 1);
    else
        dft_parquet_encode_run(page, all != 0, count, 1);
    if (page->failed)
        return;
    length = (uint32_t)(page->length - begin - sizeof length);
    memcpy(page->bytes + begin, &length, sizeof length);
}

unsigned dft_parquet_encode_index_width(uint32_t entries)
{
    unsigned width = dft_bits_width(entries ? entries - 1 : 0);

    return width <= 1 ? 1 : width <= 2 ? 2 : width <= 4 ? 4 : width <= 8 ? 8 : width <= 16 ? 16 : width;
}
