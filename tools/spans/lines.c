/* SPDX-License-Identifier: MIT */
/* Reads a log line by line. */
#include "spans/lines.h"
#include "base/open_regular.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int dft_log_lines_open(struct dft_log_lines *lines, const char *path)
{
    *lines = (struct dft_log_lines){.in = dft_fopen_regular(path), .buffer = malloc(DFT_LINE_MAX + 1)};
    if (!lines->in)
        return -errno;
    if (!lines->buffer)
        return -ENOMEM;
    setvbuf(lines->in, NULL, _IOFBF, 1 << 16);
    return 0;
}

void dft_log_lines_fini(struct dft_log_lines *lines)
{
    if (lines->in)
        fclose(lines->in);
    free(lines->buffer);
    *lines = (struct dft_log_lines){0};
}

int dft_log_lines_next(struct dft_log_lines *lines, struct dft_text *line)
{
    size_t n = 0;
    int c;

    flockfile(lines->in);
    while ((c = getc_unlocked(lines->in)) != EOF && c != '\n')
        if (n++ < DFT_LINE_MAX)
            lines->buffer[n - 1] = (char)c;
    funlockfile(lines->in);
    if (ferror(lines->in))
        return errno ? -errno : -EIO;
    if (c == EOF && !n)
        return 0;
    lines->number++;
    lines->is_long = n > DFT_LINE_MAX;
    n = lines->is_long ? DFT_LINE_MAX : n;
    if (n && lines->buffer[n - 1] == '\r')
        n--;
    lines->buffer[n] = '\0';
    *line = (struct dft_text){lines->buffer, (uint32_t)n};
    return 1;
}
