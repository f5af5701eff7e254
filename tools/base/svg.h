/* SPDX-License-Identifier: MIT */
/* A picture as SVG: a frame with a title, scales, axes, bars and a legend. Coordinates are pixels,
 * y goes downwards. The same data give the same bytes. */
#ifndef DFT_SVG_H
#define DFT_SVG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct dft_svg {
    FILE *out; /* keeps the first error */
    unsigned width, height;
    double left, right, top, bottom; /* edges of what the axes enclose */
};

/* What numbers are of, for their texts and for round steps. */
enum dft_svg_unit { DFT_SVG_NS, DFT_SVG_BYTES_S, DFT_SVG_COUNT, DFT_SVG_PERCENT };

/* Numbers [0, most] lie from pixel `from` to pixel `to`. `most` is not 0. */
struct dft_scale {
    uint64_t most;
    double from, to;
    enum dft_svg_unit unit;
    int is_rows; /* numbers [0, most) are names of rows, and stand in the middle of them */
};

/* Parses --width or --height of a command; NULL: the usual one. Returns 0, or -EINVAL after an
 * error. */
int dft_svg_pixels(const char *command, const char *option, const char *text, unsigned usual, unsigned *pixels);
/* Writes the head: sizes, styles, the title. `title` is bytes of any kind. */
void dft_svg_begin(struct dft_svg *svg, FILE *out, unsigned width, unsigned height, const char *title);
void dft_svg_end(struct dft_svg *svg);
/* Writes bytes as text of XML 1.0, also for attributes. Control characters and what is not UTF-8
 * become escapes that people read. */
void dft_svg_escape(FILE *out, const char *bytes, size_t length);
/* A text; `class` is of the styles, `anchor` is start, middle or end. */
void dft_svg_text(struct dft_svg *svg, double x, double y, const char *class, const char *anchor, const char *text);
/* The sentence under the title, and the one at the foot. */
void dft_svg_sentence(struct dft_svg *svg, const char *text);
void dft_svg_foot(struct dft_svg *svg, const char *text);

double dft_scale_at(const struct dft_scale *scale, double value);
/* The least number of 1, 2, 5, 10 ... (of bytes: of the powers of two) with which `most` has at
 * most `steps` steps. */
uint64_t dft_scale_step(uint64_t most, unsigned steps, enum dft_svg_unit unit);
/* An axis with its line, round numbers, and a label. The y axis has lines across, and its label above it: numbers
 * beside it may be wide. */
void dft_svg_x_axis(struct dft_svg *svg, const struct dft_scale *scale, const char *label);
void dft_svg_y_axis(struct dft_svg *svg, const struct dft_scale *scale, const char *label);
/* "1.20 GiB/s". `text`: DFT_TEXT_ROOM + 8 bytes. */
const char *dft_svg_number(char *text, enum dft_svg_unit unit, uint64_t value);

/* An element that the caller ends with dft_svg_bar_end: between them stands what a pointer over it
 * shows, written with dft_svg_escape or printf. Attributes hold the exact numbers: " data-read=..".
 */
void dft_svg_bar(struct dft_svg *svg, const char *class, double x, double y, double width, double height,
                 const char *attributes);
void dft_svg_bar_end(struct dft_svg *svg);

#define DFT_SVG_LEGEND 67 /* the line of the legend: below the sentence, and beside the name of the y axis */

/* Squares with words, from the right edge to the left, above the axes. */
struct dft_svg_legend {
    const char *class, *label;
};
void dft_svg_legends(struct dft_svg *svg, const struct dft_svg_legend *legends, unsigned count);

#endif
