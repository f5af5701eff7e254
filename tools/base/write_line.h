/* SPDX-License-Identifier: MIT */
/* Text that goes to a stream in pieces of some KiB: numbers and texts in the forms of JSON, of CSV
 * and of terminals. One thread.
 *
 * What is written lies in the line until dft_line_flush, or until the line is full. Errors are the
 * stream's. */
#ifndef DFT_WRITE_LINE_H
#define DFT_WRITE_LINE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DFT_LINE_BYTES  4096u
#define DFT_LINE_DIGITS 32u /* room for any number */

struct dft_line {
    FILE *out;
    char *at;       /* end of what is written */
    int is_unicode; /* JSON for readers that take Unicode alone: other bytes become U+FFFD, and not surrogates */
    char bytes[DFT_LINE_BYTES];
};

static inline void dft_line_init(struct dft_line *line, FILE *out)
{
    line->out = out;
    line->is_unicode = 0;
    line->at = line->bytes;
}

void dft_line_flush(struct dft_line *line);

/* Makes room for so many bytes, at most DFT_LINE_BYTES. Returns their place. */
static inline char *dft_line_room(struct dft_line *line, size_t bytes)
{
    if (__builtin_expect((size_t)(line->bytes + DFT_LINE_BYTES - line->at) < bytes, 0))
        dft_line_flush(line);
    return line->at;
}

static inline void dft_line_char(struct dft_line *line, char c)
{
    *dft_line_room(line, 1) = c;
    line->at++;
}

/* A short text, known to the compiler. */
static inline __attribute__((always_inline)) void dft_line_word(struct dft_line *line, const char *text)
{
    size_t length = strlen(text);

    memcpy(dft_line_room(line, length), text, length);
    line->at += length;
}

/* Length of the character of UTF-8 at the start of the bytes, of two bytes or more. 0: there is none.
 * `left`: bytes that are there, 1 at least. */
size_t dft_utf8_length(const char *bytes, size_t left);

/* The digits of a number, up to `end`. Returns their place. */
char *dft_digits(char *end, uint64_t value);

/* Numbers and words where there is room for them; they return their end. A row of these keeps the
 * place in a register, and a line's would go through memory for each. */
char *dft_put_uint(char *at, uint64_t value);
char *dft_put_int(char *at, int64_t value);
char *dft_put_thousandths(char *at, uint64_t value); /* divided by so much, with three decimals */
char *dft_put_billionths(char *at, uint64_t value);  /* the same with nine */
static inline __attribute__((always_inline)) char *dft_put_word(char *at, const char *text)
{
    memcpy(at, text, strlen(text));
    return at + strlen(text);
}

static inline void dft_line_uint(struct dft_line *line, uint64_t value)
{
    line->at = dft_put_uint(dft_line_room(line, DFT_LINE_DIGITS), value);
}

static inline void dft_line_int(struct dft_line *line, int64_t value)
{
    line->at = dft_put_int(dft_line_room(line, DFT_LINE_DIGITS), value);
}

/* printf, of at most 127 bytes. */
void dft_line_format(struct dft_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Bytes as they are, of any length. */
void dft_line_bytes(struct dft_line *line, const char *bytes, size_t length);
/* A string of JSON, with its quotes; see write_json.h. */
void dft_line_quote(struct dft_line *line, const char *bytes, size_t length);
/* A field of CSV; see dft_csv_text. */
void dft_line_csv(struct dft_line *line, const char *bytes, size_t length);
/* A text for a terminal; see dft_text_escape. */
void dft_line_escape(struct dft_line *line, const char *bytes, size_t length);

#endif
