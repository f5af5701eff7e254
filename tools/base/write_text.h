/* SPDX-License-Identifier: MIT */
/* Text for people: names with escaped control characters, quantities with units, tables that fit
 * the terminal; and CSV. */
#ifndef DFT_WRITE_TEXT_H
#define DFT_WRITE_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "format/text.h"

/* Writes bytes in a form that disturbs no terminal. Control characters (also U+0080-U+009F), marks
 * that turn the direction of a text, and bytes that are not UTF-8 become \n, \t or \xNN. */
void dft_text_escape(FILE *out, const char *bytes, size_t length);
/* Writes the same into a string, which the caller frees. NULL: no memory. */
char *dft_text_escaped(const char *bytes, size_t length);
/* Does so with text in lines: ends of lines and tabs stay. */
void dft_text_escape_lines(FILE *out, const char *bytes, size_t length);

/* Number of columns of the text on a terminal, for valid UTF-8. Wide characters count as one
 * column. */
size_t dft_text_columns(const char *text);

/* Each function writes into `text` (DFT_TEXT_ROOM bytes) and returns `text`. Numbers have three or
 * four significant digits: "1.50 ms", "3.2 GiB", "12,345", "99.1 %"; long times are "18 m 51 s" or "2 h 05 m". */
#define DFT_TEXT_ROOM 32
const char *dft_text_ns(char *text, uint64_t ns);
const char *dft_text_bytes(char *text, uint64_t bytes);
const char *dft_text_count(char *text, uint64_t count);
const char *dft_text_share(char *text, uint64_t part, uint64_t whole);
/* How many times as much: "0.05x", "1.8x", "92x", "1,234x"; "-" of nothing, or of what no number tells (a part of
 * nothing). report/src/format.js writes the same, held by tests/tools/unit/written.tsv. */
const char *dft_text_ratio(char *text, double times);
/* What became of a number: "+23 %", "-82 %", from twice on "2.0x"; "new", "gone", or "-" where it stayed. */
const char *dft_text_change(char *text, uint64_t before, uint64_t after);

/* Writes one field of CSV (RFC 4180), quoted where needed. What dft_text_escape escapes becomes \xNN,
 * but for \n and \t. A backslash before xNN becomes \x5c, so that all bytes can be had back. */
void dft_csv_text(FILE *out, const char *bytes, size_t length);

/* Is standard output the user's terminal? A launcher may give each of many ranks a terminal of its
 * own. Such a launcher passes on what ranks write to these terminals. dft_terminal_deny then makes
 * the answer no. Call dft_terminal_deny before other threads exist. */
int dft_terminal_is(void);
void dft_terminal_deny(void);
/* dft_terminal_colour: may the output have colour (NO_COLOR unset)? dft_terminal_width: the width
 * of the terminal, at least 20; else COLUMNS, taken as 40 to 1000; else 100. dft_terminal_fits: shall no line be
 * wider, for a terminal or for COLUMNS, so that names are cut? */
int dft_terminal_colour(void);
unsigned dft_terminal_width(void);
int dft_terminal_fits(void);
/* The number of lines of the terminal, else LINES, else 40. */
unsigned dft_terminal_height(void);

/* A table: cells are collected, then printed with aligned columns. */
#define DFT_TABLE_COLUMNS 32
#define DFT_GRID_SPARE    UINT8_MAX
#define DFT_GRID_NICE     16u /* from here on columns are left out before a text is cut to less than 40 columns */
#define DFT_GRID_PATH     2u
#define DFT_GRID_WHOLE    3u /* of the last column: is never cut, and no other leaves for it */
struct dft_grid_column {
    const char *title;
    uint8_t left;   /* aligned left (texts), else right */
    uint8_t shrink; /* cut in the middle when the table is too wide; DFT_GRID_PATH: at whole components */
    /* 0: always shown; else left out when the table is too wide, the largest number first.
     * DFT_GRID_SPARE: shown only where nothing is cut */
    uint8_t drop;
};
struct dft_grid;
/* NULL: no memory */
struct dft_grid *dft_grid_create(const struct dft_grid_column *columns, unsigned count);
/* Adds a copy of a cell, which must be escaped already. Rows fill up by themselves. Returns 0 or
 * -ENOMEM. */
int dft_grid_cell(struct dft_grid *grid, const char *text);
/* On a terminal with colour the last cell is dim. */
void dft_grid_dim(struct dft_grid *grid);
/* Adds a line of its own behind the row that is full now. The line is copied, must be escaped
 * already, and is never cut. Returns 0 or -ENOMEM. */
int dft_grid_line(struct dft_grid *grid, const char *text);
void dft_grid_print(struct dft_grid *grid, FILE *out);
void dft_grid_destroy(struct dft_grid *grid);

#endif
