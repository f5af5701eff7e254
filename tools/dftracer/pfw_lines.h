/* SPDX-License-Identifier: MIT */
/* Lines of a file, plain or gzipped (one member or many, one behind the other), in bounded memory.
 * One thread. */
#ifndef DFT_PFW_LINES_H
#define DFT_PFW_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DFT_LINE_MAX ((size_t)16 << 20) /* longer lines are passed over */

struct dft_lines {
    const char *at, *end; /* what is there of the text and was not returned yet */
    uint64_t number;      /* of the line returned last, from 1 */
    uint64_t too_long;    /* lines passed over */
    uint64_t bytes_read;  /* of the file */
    int gzipped;
    int torn;           /* the last line had no end */
    const char *reason; /* what is wrong with the compressed data, NULL: nothing; the rest was used */
    struct dft_lines_inside *inside;
};

/* Returns 0 or -errno. */
int dft_lines_open(struct dft_lines *lines, const char *path);
void dft_lines_close(struct dft_lines *lines);

/* For dft_lines_next: makes the rest of the text begin with a whole line, or with the last one.
 * Returns the place of its end, NULL at the end of the text, or on an error (*error). */
const char *dft_lines_fill(struct dft_lines *lines, int *error);

/* The next line, without its end, which is followed by DFT_PFW_PADDING readable bytes; it is valid
 * until the next call. Returns 1, 0 at the end, or -errno. */
static inline int dft_lines_next(struct dft_lines *lines, const char **line, size_t *length)
{
    const char *end = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
    int error = 0;

    if (__builtin_expect(!end, 0)) {
        end = dft_lines_fill(lines, &error);
        if (!end)
            return error;
    }
    *line = lines->at;
    *length = (size_t)(end - lines->at);
    lines->at = end < lines->end ? end + 1 : end;
    lines->number++;
    return 1;
}

#endif
