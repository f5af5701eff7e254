/* SPDX-License-Identifier: MIT */
/* Chance: the generator of each operation, and sizes, offsets and bytes as files meet them. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

/* splitmix64 */
uint64_t chance_next(struct worker *w)
{
    uint64_t z = w->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void chance_begin(struct worker *w, int op)
{
    w->op = op;
    w->random = w->seed * 1000003 + w->number;
    w->random = chance_next(w) + (uint64_t)op * UINT64_C(0x2545f4914f6cdd1d);
}

unsigned below(struct worker *w, unsigned limit)
{
    return (unsigned)(chance_next(w) >> 33) % limit;
}

int percent(struct worker *w, unsigned percentage)
{
    return below(w, 100) < percentage;
}

size_t some_size(struct worker *w)
{
    static const size_t often[] = {0, 1, 2, 3, 7, 16, 100, 511, 512, 1000, 4095, 4096, 4097, 8192, 10000};

    if (percent(w, 60))
        return often[below(w, sizeof often / sizeof *often)];
    return percent(w, 10) ? below(w, BUFFER) : below(w, 300);
}

long some_offset(struct worker *w)
{
    static const long often[] = {0, 0, 1, 10, 100, 4095, 4096, 5000, 16384, 65536};

    if (percent(w, 50))
        return often[below(w, sizeof often / sizeof *often)];
    return below(w, 20000);
}

/* Text with lines, or anything, NUL bytes too. */
void some_bytes(struct worker *w, void *to, size_t size)
{
    static const char text[] = "abcdefghij klm nop 0123456789 12 345 6.5 x\n\n";
    int wild = percent(w, 25);
    char *bytes = to;

    for (size_t i = 0; i < size; i += 8) {
        uint64_t r = chance_next(w);

        for (size_t k = i; k < size && k < i + 8; k++, r >>= 8)
            bytes[k] = wild ? (char)r : text[(r & 0xff) % (sizeof text - 1)];
    }
}

/* "0-99,150": is the operation among these? */
int is_kept(const char *keep, int op)
{
    while (keep && *keep) {
        char *end;
        long first = strtol(keep, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;

        if (op >= first && op <= last)
            return 1;
        keep = *end ? end + 1 : end;
    }
    return keep == NULL;
}
