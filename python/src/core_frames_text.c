/* SPDX-License-Identifier: MIT */
/* Texts of the interpreter (str) as UTF-8, read in place. */
#include <Python.h>

#include "core_frames_inside.h"

#define LENGTH_MAX 65536 /* a longer name is none */

/* The word behind the length and the hash: bits 2 to 4 are the bytes of a character. */
enum { STATE_AT = 32, LENGTH_AT = 16, STATE_COMPACT = 32, STATE_ASCII = 64 };

static uint32_t character(const void *text, unsigned width, size_t i)
{
    uint16_t two;
    uint32_t four;

    if (width == 1)
        return ((const uint8_t *)text)[i];
    if (width == 2) {
        memcpy(&two, (const uint16_t *)text + i, sizeof two);
        return two;
    }
    memcpy(&four, (const uint32_t *)text + i, sizeof four);
    return four;
}

/* One character as UTF-8. Half of a pair (a byte of a path that is no UTF-8) becomes "?". */
static unsigned encode(uint32_t c, uint8_t bytes[4])
{
    if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
        c = '?';
    if (c < 0x80) {
        bytes[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        bytes[0] = (uint8_t)(0xc0 | c >> 6);
        bytes[1] = (uint8_t)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        bytes[0] = (uint8_t)(0xe0 | c >> 12);
        bytes[1] = (uint8_t)(0x80 | (c >> 6 & 63));
        bytes[2] = (uint8_t)(0x80 | (c & 63));
        return 3;
    }
    bytes[0] = (uint8_t)(0xf0 | c >> 18);
    bytes[1] = (uint8_t)(0x80 | (c >> 12 & 63));
    bytes[2] = (uint8_t)(0x80 | (c >> 6 & 63));
    bytes[3] = (uint8_t)(0x80 | (c & 63));
    return 4;
}

/* The last characters that fit, written from the end. */
static size_t put_end(const void *characters, unsigned width, size_t length, int is_ascii, char *to, size_t capacity)
{
    size_t at = capacity;

    if (is_ascii) {
        capacity = length < capacity ? length : capacity;
        memcpy(to, (const char *)characters + length - capacity, capacity);
        return capacity;
    }
    while (length) {
        uint8_t bytes[4];
        unsigned n = encode(character(characters, width, --length), bytes);

        if (n > at)
            break;
        at -= n;
        memcpy(to + at, bytes, n);
    }
    memmove(to, to + at, capacity - at);
    return capacity - at;
}

size_t core_frames_text(struct core_reader *reader, const struct core_layout *layout, const void *text, char *to,
                        size_t capacity)
{
    const char *characters = text;
    uint32_t state;
    unsigned width;
    size_t length;

    if (!core_can_read(reader, text, layout->text_other) || core_pointer(text, 8) != &PyUnicode_Type)
        return 0;
    state = (uint32_t)core_number(text, STATE_AT);
    length = core_word(text, LENGTH_AT);
    width = state >> 2 & 7;
    if (!(state & STATE_COMPACT) || (width != 1 && width != 2 && width != 4) || length > LENGTH_MAX)
        return 0;
    characters += state & STATE_ASCII ? layout->text_ascii : layout->text_other;
    if (!core_can_read(reader, characters, length * width + 1))
        return 0;
    return put_end(characters, width, length, (state & STATE_ASCII) != 0, to, capacity);
}
