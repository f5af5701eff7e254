/* SPDX-License-Identifier: MIT */
/* Owns the functions of <string.h> that are used here: our own hidden copies, for us and the code
 * that is linked into us. The program may replace the C library's functions. So may a sanitizer,
 * which is not ready when we are loaded, or which does not know our locks.
 *
 * A change must not let the compiler find the function itself in its loop (-fno-builtin and the
 * like in CMakeLists.txt). */
#include <stddef.h>
#include <stdint.h>

#include "format/vector.h"

#define OWN __attribute__((visibility("hidden"), used))

typedef dft_vector vector;
typedef uint64_t word __attribute__((aligned(1), may_alias));
typedef uint32_t half __attribute__((aligned(1), may_alias));
typedef uint8_t block __attribute__((vector_size(16), may_alias)); /* aligned */

OWN void *memcpy(void *restrict to, const void *restrict from, size_t size);
OWN void *memmove(void *to, const void *from, size_t size);
OWN void *memset(void *at, int byte, size_t size);
OWN int memcmp(const void *one, const void *other, size_t size);
OWN void *memchr(const void *at, int byte, size_t size);
OWN size_t strlen(const char *text);
OWN size_t strnlen(const char *text, size_t size);
OWN int strcmp(const char *one, const char *other);
OWN int strncmp(const char *one, const char *other, size_t size);
OWN char *strchr(const char *text, int letter);
OWN char *strrchr(const char *text, int letter);
OWN size_t strcspn(const char *text, const char *reject);
OWN char *strstr(const char *text, const char *part);

/* Moves fewer than 16 bytes. All bytes are read before the first is written. */
static inline void move_few(char *to, const char *from, size_t size)
{
    if (size >= 8) {
        uint64_t first = *(const word *)from, last = *(const word *)(from + size - 8);

        *(word *)to = first;
        *(word *)(to + size - 8) = last;
    } else if (size >= 4) {
        uint32_t first = *(const half *)from, last = *(const half *)(from + size - 4);

        *(half *)to = first;
        *(half *)(to + size - 4) = last;
    } else if (size) {
        char first = *from, middle = from[size / 2], last = from[size - 1];

        *to = first;
        to[size / 2] = middle;
        to[size - 1] = last;
    }
}

/* Moves from the beginning on. Right when `to` lies before `from`, or when they do not overlap. */
static inline void move_up(char *to, const char *from, size_t size)
{
    const vector last = *(const vector *)(from + size - 16);
    size_t at = 0;

    for (; at + 64 < size; at += 64) {
        const vector *source = (const vector *)(from + at);
        vector a = source[0], b = source[1], c = source[2], d = source[3], *target = (vector *)(to + at);

        target[0] = a;
        target[1] = b;
        target[2] = c;
        target[3] = d;
    }
    for (; at + 16 < size; at += 16)
        *(vector *)(to + at) = *(const vector *)(from + at);
    *(vector *)(to + size - 16) = last;
}

static inline void move_down(char *to, const char *from, size_t size)
{
    const vector first = *(const vector *)from;

    for (size_t left = size; left > 16; left -= 16)
        *(vector *)(to + left - 16) = *(const vector *)(from + left - 16);
    *(vector *)to = first;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    if (size < 16)
        move_few(to, from, size);
    else
        move_up(to, from, size);
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    if (size < 16)
        move_few(to, from, size);
    else if ((uintptr_t)to - (uintptr_t)from >= size) /* also when `to` lies before `from` */
        move_up(to, from, size);
    else
        move_down(to, from, size);
    return to;
}

void *memset(void *at, int byte, size_t size)
{
    const uint64_t eight = UINT64_C(0x0101010101010101) * (uint8_t)byte;
    const vector sixteen = dft_vector_of((uint8_t)byte);
    char *to = at;

    if (size >= 16) {
        size_t done = 0;

        for (; done + 64 < size; done += 64) {
            vector *target = (vector *)(to + done);

            target[0] = sixteen;
            target[1] = sixteen;
            target[2] = sixteen;
            target[3] = sixteen;
        }
        for (; done + 16 < size; done += 16)
            *(vector *)(to + done) = sixteen;
        *(vector *)(to + size - 16) = sixteen;
    } else if (size >= 8) {
        *(word *)to = eight;
        *(word *)(to + size - 8) = eight;
    } else {
        for (size_t i = 0; i < size; i++)
            to[i] = (char)byte;
    }
    return at;
}

/* Which is the greater of two words that differ? Their first bytes count most. */
static inline int order(uint64_t one, uint64_t other)
{
    return __builtin_bswap64(one) < __builtin_bswap64(other) ? -1 : 1;
}

int memcmp(const void *one, const void *other, size_t size)
{
    const uint8_t *a = one, *b = other;

    if (size >= 8) {
        const uint8_t *last = a + size - 8;

        for (; a < last; a += 8, b += 8)
            if (*(const word *)a != *(const word *)b)
                return order(*(const word *)a, *(const word *)b);
        b -= a - last;
        return *(const word *)last == *(const word *)b ? 0 : order(*(const word *)last, *(const word *)b);
    }
    for (; size; size--, a++, b++)
        if (*a != *b)
            return *a - *b;
    return 0;
}

/* Returns `size` where the byte is not found. Reads whole vectors, which are aligned, and of which
 * each has a byte that was requested: so they lie in its page. */
static inline size_t find(const uint8_t *text, uint8_t byte, size_t size)
{
    const size_t before = (uintptr_t)text % sizeof(vector);
    const vector sixteen = dft_vector_of(byte);
    const uint8_t *at = text - before;
    uint32_t found;

    if (!size)
        return 0;
    found = dft_vector_bits((vector)(*(const block *)at == sixteen)) >> before << before;
    while (!found) {
        at += sizeof(vector);
        if ((size_t)(at - text) >= size)
            return size;
        found = dft_vector_bits((vector)(*(const block *)at == sixteen));
    }
    at += __builtin_ctz(found);
    return (size_t)(at - text) < size ? (size_t)(at - text) : size;
}

void *memchr(const void *at, int byte, size_t size)
{
    const size_t n = find(at, (uint8_t)byte, size);

    return n < size ? (uint8_t *)(uintptr_t)at + n : NULL;
}

size_t strlen(const char *text)
{
    return find((const uint8_t *)text, 0, SIZE_MAX);
}

size_t strnlen(const char *text, size_t size)
{
    return find((const uint8_t *)text, 0, size);
}

int strcmp(const char *one, const char *other)
{
    while (*one && *one == *other) {
        one++;
        other++;
    }
    return (uint8_t)*one - (uint8_t)*other;
}

int strncmp(const char *one, const char *other, size_t size)
{
    for (; size; size--, one++, other++)
        if (*one != *other || !*one)
            return (uint8_t)*one - (uint8_t)*other;
    return 0;
}

char *strchr(const char *text, int letter)
{
    while (*text != (char)letter)
        if (!*text++)
            return NULL;
    return (char *)text;
}

char *strrchr(const char *text, int letter)
{
    const char *found = NULL;

    do
        if (*text == (char)letter)
            found = text;
    while (*text++);
    return (char *)found;
}

size_t strcspn(const char *text, const char *reject)
{
    size_t n = 0;

    while (text[n] && !strchr(reject, text[n]))
        n++;
    return n;
}

char *strstr(const char *text, const char *part)
{
    const size_t size = strlen(part);

    for (; strncmp(text, part, size); text++)
        if (!*text)
            return NULL;
    return (char *)text;
}
