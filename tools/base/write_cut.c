/* SPDX-License-Identifier: MIT */
/* Owns how a text is cut that is too long for its column. */
#include "base/write_cut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"

#define DOTS 3u /* columns of "..." */

/* Counts the bytes of the first n columns of a text. */
static size_t bytes_of(const char *text, size_t n)
{
    size_t i = 0;

    for (;; i++) {
        if (((unsigned char)text[i] & 0xc0) == 0x80)
            continue;
        if (!text[i] || !n--)
            return i;
    }
}

/* `head` columns from `from` on, "...", and the last `tail` columns. */
static char *join(const char *before, const char *from, size_t head, size_t tail)
{
    size_t columns = dft_text_columns(from);
    char *cut;

    if (asprintf(&cut, "%s%.*s...%s", before, (int)bytes_of(from, head), from, from + bytes_of(from, columns - tail)) <
        0)
        return NULL;
    return cut;
}

static char *behind_dots(const char *tail)
{
    char *cut;

    return asprintf(&cut, "...%s", tail) < 0 ? NULL : cut;
}

char *dft_text_cut(const char *text, size_t width, int is_path)
{
    const char *tail = is_path ? text : NULL;
    size_t head = (width - DOTS) / 3; /* the end says more than the beginning */

    for (size_t columns = tail ? dft_text_columns(tail) : 0; tail && columns + DOTS > width;) {
        const char *slash = strchr(tail + 1, '/');

        for (; slash && tail < slash; tail++)
            columns -= ((unsigned char)*tail & 0xc0) != 0x80;
        tail = slash;
    }
    return tail ? behind_dots(tail) : join("", text, head, width - DOTS - head);
}

char *dft_text_fit(const char *text, size_t width, int is_path)
{
    return dft_text_columns(text) > width ? dft_text_cut(text, width, is_path) : strdup(text);
}

char *dft_text_cut_apart(const char *text, const char *other, size_t width)
{
    size_t same = 0, from, capacity = width > 2 * DOTS ? width - 2 * DOTS : 1, head = (capacity + 1) / 2;

    while (text[same] && text[same] == other[same])
        same++;
    while (same && ((unsigned char)text[same] & 0xc0) == 0x80)
        same--;
    for (from = same; from && text[from] != '/';) /* the component that differs */
        from--;
    if (dft_text_columns(text + from) + DOTS <= width)
        return behind_dots(text + from);
    if (same - from >= head)
        from = same;
    if (dft_text_columns(text + from) + DOTS <= width)
        return behind_dots(text + from);
    return from ? join("...", text + from, head, capacity - head) : dft_text_cut(text, width, 0);
}
