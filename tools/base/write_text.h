/* SPDX-License-Identifier: MIT */
/* Text for people: names with control characters escaped, quantities with units, tables that fit the terminal; and CSV.
 * */
#ifndef DFT_WRITE_TEXT_H
#define DFT_WRITE_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "format/event.h"

/* Writes bytes so that no terminal is disturbed: control characters (also those of U+0080-U+009F) and bytes that are
 * not UTF-8 as \n, \t or \xNN. */
void dft_text_escape(FILE *out, const char *bytes, size_t length);
/* The same into a string of its own (free it); NULL: no memory. */
char *dft_text_escaped(const char *bytes, size_t length);

/* Columns that it takes on a terminal, for valid UTF-8 (wide characters count one). */
size_t dft_text_columns(const char *text);

/* Each into `room` (24 bytes at least); returns room. Three or four significant digits: "1.50 ms", "3.2 GiB", "12,345",
 * "99.1 %". */
#define DFT_TEXT_ROOM 32
const char *dft_text_ns(char *room, uint64_t ns);
const char *dft_text_bytes(char *room, uint64_t bytes);
const char *dft_text_count(char *room, uint64_t count);
const char *dft_text_share(char *room, uint64_t part, uint64_t whole);

/* One field of CSV (RFC 4180): quoted where needed. Bytes go through as they are. */
void dft_csv_text(FILE *out, const char *bytes, size_t length);

/* Is standard output the user's terminal? A launcher of many ranks may give each rank a terminal of its own and pass on what
 * is written there: dft_terminal_deny says so, before other threads are there. */
int dft_terminal_is(void);
void dft_terminal_deny(void);
/* May it have colour (NO_COLOR unset)? Its width, else that of COLUMNS, else 100. */
int dft_terminal_colour(void);
unsigned dft_terminal_width(void);

/* A table: cells are collected, then printed with aligned columns. */
#define DFT_TABLE_COLUMNS 20
struct dft_grid_column {
    const char *title;
    uint8_t left;   /* aligned left (texts), else right */
    uint8_t shrink; /* cut in the middle when the table is too wide (paths) */
    uint8_t drop;   /* 0: always shown; else left out when the table is too wide, the largest first */
};
struct dft_grid;
struct dft_grid *dft_grid_create(const struct dft_grid_column *columns, unsigned count); /* NULL: no memory */
/* Adds a cell (copied, already escaped); rows fill up by themselves. Returns 0 or -ENOMEM. */
int dft_grid_cell(struct dft_grid *grid, const char *text);
/* A line of its own behind the row that is full now (copied, already escaped; never cut). Returns 0 or -ENOMEM. */
int dft_grid_line(struct dft_grid *grid, const char *text);
void dft_grid_print(struct dft_grid *grid, FILE *out);
void dft_grid_destroy(struct dft_grid *grid);

#endif
