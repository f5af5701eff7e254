/* SPDX-License-Identifier: MIT */
/* Owns how sentences are put into lines that fit the terminal. */
#include "base/write_wrapped.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest_word.h"
#include "base/write_text.h"

#define LEAST_ROOM 8u /* columns; in less a word is not broken */

static int is_unit(const char *word, size_t length)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "ns", "us", "ms", "s", "min", "h", "%"};

    while (length && strchr(".,;:)", word[length - 1]))
        length--;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == length && !memcmp(units[i], word, length))
            return 1;
    return 0;
}

/* Bytes of the next word, with the blanks before it. A number and its unit are one word. */
static size_t next_word(const char *text)
{
    size_t blanks = strspn(text, " "), end = blanks + strcspn(text + blanks, " ");
    size_t more = text[end] ? strcspn(text + end + 1, " ") : 0;

    return end > blanks && isdigit((unsigned char)text[end - 1]) && is_unit(text + end + 1, more) ? end + 1 + more
                                                                                                  : end;
}

static size_t columns_of(const char *text, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

/* Bytes of a word that `room` columns have room for, up to a '/' where one is among them. */
static size_t fitting(const char *word, size_t length, size_t room)
{
    size_t fits = 0, slash = 0, columns = 0;

    for (size_t i = 0; i < length; i++) {
        if (((unsigned char)word[i] & 0xc0) != 0x80 && columns++ == room)
            break;
        fits = i + 1;
        slash = word[i] == '/' ? fits : slash;
    }
    return fits < length && slash ? slash : fits;
}

void dft_text_wrapped(FILE *out, const char *title, unsigned indent, const char *text)
{
    size_t width = dft_terminal_width(), title_columns = dft_text_columns(title), length_title = strlen(title);
    size_t at = title_columns > indent ? title_columns : indent, blanks = at - title_columns;

    for (; length_title && title[length_title - 1] == ' '; length_title--)
        blanks++; /* which a line does not end in */
    fwrite(title, 1, length_title, out);
    while (*text) {
        size_t length = next_word(text), columns = columns_of(text, length);

        if (at > indent && at + columns > width) {
            fputc('\n', out);
            blanks = at = indent;
            length -= strspn(text, " ");
            columns = columns_of(text += strspn(text, " "), length);
        }
        if (at + columns > width && width > indent + LEAST_ROOM && dft_terminal_fits()) {
            length = fitting(text, length, width - at);
            columns = columns_of(text, length);
        }
        fprintf(out, "%*s", (int)blanks, "");
        blanks = 0;
        fwrite(text, 1, length, out);
        text += length;
        at += columns;
    }
    fputc('\n', out);
}

void dft_print_wrapped(const char *format, ...)
{
    va_list arguments;
    char *text;
    int n;

    va_start(arguments, format);
    n = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (n < 0)
        return;
    dft_text_wrapped(stdout, "", 0, text);
    free(text);
}

FILE *dft_sentence_begin(struct dft_sentence *sentence)
{
    *sentence = (struct dft_sentence){0};
    return open_memstream(&sentence->text, &sentence->length);
}

int dft_sentence_end(struct dft_sentence *sentence, FILE *piece, const char *title, unsigned indent)
{
    int rc = !piece || fclose(piece) || !sentence->text ? -ENOMEM : 0;

    if (!rc)
        dft_text_wrapped(stdout, title, indent, sentence->text);
    free(sentence->text);
    return rc;
}

void dft_say_words(const char *word, const char *title, const char *const *words, size_t count)
{
    const char *nearest = word ? dft_nearest_word(word, strcspn(word, ",:"), words, count) : NULL;
    char *list = NULL, begin[64];
    size_t length;
    FILE *out = open_memstream(&list, &length);

    if (nearest)
        fprintf(stderr, " Did you mean %s?", nearest);
    for (size_t i = 0; out && i < count; i++)
        fprintf(out, "%s%s", i ? ", " : "", words[i]);
    putc('\n', stderr);
    snprintf(begin, sizeof begin, "%s ", title);
    if (out && !fclose(out))
        dft_text_wrapped(stderr, begin, 2, list);
    free(list);
}
