/* SPDX-License-Identifier: MIT */
/* Decides which files have a class of their own. The rows of classes.def become
 * comparisons with constants. Before them stand sets of letters: most paths have none of those at
 * the places where a row has them, and nothing else is looked at. */
#include "format/file_class.h"

#include <string.h>

#include "format/vector.h"

/* A set of letters. Some share a bit: such a set says no, or perhaps. */
#define BIT(letter)      (UINT64_C(1) << ((uint8_t)(letter)&63))
#define HAS(set, letter) ((set) >> ((uint8_t)(letter)&63) & 1)

/* All rows of a kind, each by the macro of that kind; the others are empty. */
#define DFT_FILE_CLASS(where, text, class, reason) where(text, DFT_IO_##class)
#define NOT(text, class)

/* A row: `at` has as many bytes as the text, at least. */
#define SAME(at, text) (!memcmp(at, text, sizeof(text) - 1))

#define PART    NOT
#define END     NOT
#define VERSION NOT

/* path[0] may be anything: it is a slash of nearly all. */
static inline int may_start(const char *path)
{
#define START(text, class) | BIT((text)[1])
    const uint64_t first = 0
#include <dftrace/classes.def>
        ;
#undef START
#define START(text, class) | BIT((text)[2])
    const uint64_t second = 0
#include <dftrace/classes.def>
        ;
#undef START
#define START(text, class) | BIT((text)[3])
    const uint64_t third = 0
#include <dftrace/classes.def>
        ;
#undef START

    return HAS(first, path[1]) && HAS(second, path[2]) && HAS(third, path[3]);
}

static __attribute__((noinline)) enum dft_io by_start(const char *path, size_t length)
{
#define START(text, class)                                                                                             \
    if (length >= sizeof(text) - 1 && SAME(path, text) &&                                                              \
        (length == sizeof(text) - 1 || (text)[sizeof(text) - 2] == ':' || path[sizeof(text) - 1] == '/'))              \
        return class;
#include <dftrace/classes.def>
#undef START
    return DFT_IO_NONE;
}
#undef PART

#define START NOT

/* The letters behind a slash. Of the first one of all rows the range is known. */
#define FIRST 'l'
#define LAST  'v'

/* Three letters as one, for a set of those that stand together. */
#define MIX(a, b, c) ((uint8_t)(a)*3 + (uint8_t)(b)*5 + (uint8_t)(c))

static inline int may_be_part(const char *slash)
{
#define PART(text, class) | BIT((text)[2])
    const uint64_t second = 0
#include <dftrace/classes.def>
        ;
#undef PART
#define PART(text, class) | BIT((text)[3])
    const uint64_t third = 0
#include <dftrace/classes.def>
        ;
#undef PART

#define PART(text, class) | BIT(MIX((text)[1], (text)[2], (text)[3]))
    const uint64_t mixed = 0
#include <dftrace/classes.def>
        ;
#undef PART

    return HAS(second, slash[2]) && HAS(third, slash[3]) && HAS(mixed, MIX(slash[1], slash[2], slash[3]));
}

static __attribute__((noinline)) enum dft_io by_part(const char *slash, size_t left)
{
#define PART(text, class)                                                                                              \
    if (left >= sizeof(text) - 1 && SAME(slash, text))                                                                 \
        return class;
#include <dftrace/classes.def>
#undef PART
    return DFT_IO_NONE;
}
#define PART NOT
#undef END

/* The last three letters, of at least four. */
static inline int may_end(const char *end)
{
#define END(text, class) | BIT((text)[sizeof(text) - 2])
    const uint64_t last = 0
#include <dftrace/classes.def>
        ;
#undef END
#define END(text, class) | BIT((text)[sizeof(text) - 3])
    const uint64_t second = 0
#include <dftrace/classes.def>
        ;
#undef END
#define END(text, class) | BIT((text)[sizeof(text) - 4])
    const uint64_t third = 0
#include <dftrace/classes.def>
        ;
#undef END

    return HAS(last, end[-1]) && HAS(second, end[-2]) && HAS(third, end[-3]);
}

static __attribute__((noinline)) enum dft_io by_end(const char *end, size_t length)
{
#define END(text, class)                                                                                               \
    if (length >= sizeof(text) - 1 && SAME(end - (sizeof(text) - 1), text))                                            \
        return class;
#include <dftrace/classes.def>
#undef END
    return DFT_IO_NONE;
}
#define END NOT
#undef VERSION

static inline int is_digit(char letter)
{
    return (uint8_t)(letter - '0') < 10;
}

/* A version: points, each with digits behind it. */
static inline enum dft_io by_version(const char *path, size_t length)
{
    for (;;) {
        size_t point = length;

        while (point > 4 && is_digit(path[point - 1]))
            point--;
        if (point == length || path[point - 1] != '.')
            break;
        length = point - 1;
    }
#define VERSION(text, class)                                                                                           \
    if (length >= sizeof(text) - 1 && SAME(path + length - (sizeof(text) - 1), text))                                  \
        return class;
#include <dftrace/classes.def>
#undef VERSION
    return DFT_IO_NONE;
}

#define STEP sizeof(dft_vector)

/* Finds which of 16 bytes are slashes with a letter of the range behind them. */
static inline uint32_t find_parts(const char *at)
{
    const dft_vector here = *(const dft_vector *)at, next = *(const dft_vector *)(at + 1);

    return dft_vector_bits(
        (dft_vector)((here == dft_vector_of('/')) & (next - dft_vector_of(FIRST) <= dft_vector_of(LAST - FIRST))));
}

/* For a path of 17 bytes or more. */
static inline enum dft_io by_parts(const char *path, size_t length)
{
    const char *const end = path + length, *const last = end - STEP - 1, *at = path;
    uint32_t seen = 0; /* of the 16 places from `at` on, those that were looked at before */
    enum dft_io io;

    for (;; at += STEP) {
        if (at > last) {
            seen = (uint32_t)(at - last);
            at = last;
        }
        for (uint32_t bits = find_parts(at) >> seen << seen; bits; bits &= bits - 1) {
            const char *slash = at + __builtin_ctz(bits);

            if (end - slash > 3 && __builtin_expect(may_be_part(slash), 0) &&
                (io = by_part(slash, (size_t)(end - slash))) != DFT_IO_NONE)
                return io;
        }
        if (at == last)
            return DFT_IO_NONE;
    }
}

/* A shorter one with zeros behind it. */
static __attribute__((noinline)) enum dft_io by_parts_short(const char *path, size_t length)
{
    char longer[STEP + 1] = {0};

    memcpy(longer, path, length);
    return by_parts(longer, sizeof longer);
}

int dft_file_is_library(const char *path, size_t length)
{
    return length >= 4 && by_version(path, length) == DFT_IO_STARTUP;
}

enum dft_io dft_file_class(const char *path, size_t length)
{
    enum dft_io io = DFT_IO_NONE;

    if (length < 4)
        return io;
    if (__builtin_expect(may_start(path), 0))
        io = by_start(path, length);
    if (io == DFT_IO_NONE)
        io = length > STEP ? by_parts(path, length) : by_parts_short(path, length);
    if (io == DFT_IO_NONE && __builtin_expect(may_end(path + length), 0))
        io = by_end(path + length, length);
    if (io == DFT_IO_NONE && (is_digit(path[length - 1]) || path[length - 1] == 'o'))
        io = by_version(path, length);
    return io;
}
