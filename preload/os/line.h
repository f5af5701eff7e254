/* SPDX-License-Identifier: MIT */
/* A line of text for descriptor 2, put together without the C library. What does not fit is cut. */
#ifndef DFT_LINE_H
#define DFT_LINE_H

#include <stddef.h>
#include <stdint.h>

struct dft_line {
    size_t used;
    char text[2048];
};

void dft_line_text(struct dft_line *line, const char *text);
void dft_line_number(struct dft_line *line, uint64_t number, unsigned base);

/* What an error number means; `room` is for the numbers that have no text here. Unlike strerror, any time. */
#define DFT_ERROR_ROOM 32
const char *dft_line_error(int number, char room[DFT_ERROR_ROOM]);

/* With its newline, in one call; the line is empty then. */
void dft_line_write(struct dft_line *line);

#endif
