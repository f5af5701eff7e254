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

/* With its newline, in one call; the line is empty then. */
void dft_line_write(struct dft_line *line);

#endif
