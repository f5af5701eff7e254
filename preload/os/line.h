/* SPDX-License-Identifier: MIT */
/* A line of text for descriptor 2, composed without the C library. Text that does not fit is
 * cut. */
#ifndef DFT_LINE_H
#define DFT_LINE_H

#include <stddef.h>
#include <stdint.h>

struct dft_message_line {
    size_t used;
    char text[2048];
};

void dft_line_text(struct dft_message_line *line, const char *text);
void dft_line_number(struct dft_message_line *line, uint64_t number, unsigned base);

/* Writes the digits of a number, and a NUL, to the end of the buffer. Returns where they begin. */
#define DFT_DIGITS_ROOM 24u
char *dft_digits(char text[DFT_DIGITS_ROOM], uint64_t number, unsigned base);

/* "line 3, column 7: ". Nothing where line is 0. */
void dft_line_place(struct dft_message_line *line, uint32_t number, uint32_t column);

/* The meaning of an error number. `text` holds the text of unknown numbers. Unlike strerror, this
 * function may be called at any time. */
#define DFT_ERROR_ROOM 32
const char *dft_line_error(int number, char text[DFT_ERROR_ROOM]);

/* Writes the line and a newline in one call, and empties the line. */
void dft_line_write(struct dft_message_line *line);

#endif
