/* SPDX-License-Identifier: MIT */
/* Reads the lines of a user's table, and says what is wrong with one. */
#include "base/table_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest_word.h"
#include "base/write_text.h"

#define LINE_BYTES 512u
#define WORD_BYTES 60u /* that an error shows */

char *dft_trimmed(char *text)
{
    size_t n;

    while (isspace((unsigned char)*text))
        text++;
    for (n = strlen(text); n && isspace((unsigned char)text[n - 1]);)
        n--;
    text[n] = 0;
    return text;
}

int dft_table_file_fail(const struct dft_table_file *file, const char *word, const char *why, const char *nearest)
{
    size_t length = strnlen(word, WORD_BYTES);
    char *shown = dft_text_escaped(word, length);

    snprintf(file->error, file->size, "%s, line %u: %s%s%s%s%s%s", file->path, file->line, shown ? shown : "",
             length == WORD_BYTES ? "..." : "", why, nearest ? " Did you mean " : "", nearest ? nearest : "",
             nearest ? "?" : "");
    free(shown);
    return -EINVAL;
}

/* Reads one line, without its end. Returns 1, 0: there is none, or -EINVAL. */
static int next_line(struct dft_table_file *file, FILE *in, char line[LINE_BYTES])
{
    size_t n = 0;
    int c;

    file->line++;
    while ((c = getc(in)) != EOF && c != '\n') {
        if (!c)
            return dft_table_file_fail(file, "", "this is no text file.", NULL);
        if (n == LINE_BYTES - 1)
            return dft_table_file_fail(file, "", "the line is too long.", NULL);
        line[n++] = (char)c;
    }
    line[n] = 0;
    return c != EOF || n;
}

int dft_table_file_read(struct dft_table_file *file, int (*row)(void *context, char *line), void *context)
{
    char line[LINE_BYTES];
    FILE *in = fopen(file->path, "re");
    int rc = in ? 0 : -errno, more = in != NULL;

    while (!rc && more && (more = next_line(file, in, line)) != 0)
        rc = more < 0 ? more : row(context, line);
    if (!rc && ferror(in))
        rc = errno ? -errno : -EIO;
    if (rc && rc != -EINVAL)
        snprintf(file->error, file->size, "%s: %s", file->path, strerror(-rc));
    if (in)
        fclose(in);
    return rc;
}

int dft_table_text_read(struct dft_table_file *file, char *text, const char *ends,
                        int (*row)(void *context, char *line), void *context)
{
    int rc = 0;

    for (char *end; !rc && text; text = end) {
        end = text + strcspn(text, ends);
        if (*end)
            *end++ = 0;
        else
            end = NULL;
        file->line++;
        rc = row(context, text);
    }
    return rc;
}

/* --- KEY=VALUE -------------------------------------------------------------------------------- */

/* The length of the key before a '=', or of another word. */
static size_t key_length(const char *at)
{
    return strcspn(at, "= \t");
}

static unsigned find_key(const char *word, size_t length, const char *const *keys, unsigned nkeys)
{
    unsigned key = 0;

    while (key < nkeys && (strlen(keys[key]) != length || memcmp(keys[key], word, length) != 0))
        key++;
    return key;
}

/* Does a comment, a key or the end follow? */
static int ends_value(const char *at, const char *const *keys, unsigned nkeys)
{
    size_t length;

    if (*at && !strchr(" \t", *at))
        return 0;
    at += strspn(at, " \t");
    length = key_length(at);
    return !*at || *at == '#' || (at[length] == '=' && find_key(at, length, keys, nkeys) < nkeys);
}

/* The closing quote; NULL: there is none. */
static char *end_of_quoted(char *at, const char *const *keys, unsigned nkeys)
{
    char *first = NULL;

    for (at = strchr(at, '"'); at; at = strchr(at + 1, '"')) {
        if (ends_value(at + 1, keys, nkeys))
            return at;
        if (!first && strchr(" \t", at[1]))
            first = at;
    }
    return first;
}

int dft_table_file_value(const struct dft_table_file *file, char **at, const char *const *keys, unsigned nkeys,
                         unsigned *key, char **value)
{
    char *word = *at + strspn(*at, " \t\r"), *equals = word + key_length(word), *end;
    int has_value = *equals == '=';

    if (!*word || *word == '#')
        return 0;
    *equals = 0;
    if (!has_value)
        return dft_table_file_fail(file, word, ": a condition is KEY=VALUE.", NULL);
    *key = find_key(word, strlen(word), keys, nkeys);
    if (*key == nkeys)
        return dft_table_file_fail(file, word, ": there is no such key.",
                                   dft_nearest_word(word, strlen(word), keys, nkeys));
    *value = equals + 1;
    if (**value == '"')
        end = end_of_quoted(++*value, keys, nkeys);
    else
        end = *value + strcspn(*value, " \t\r");
    if (!end)
        return dft_table_file_fail(file, *value - 1, ": a quote is missing, or a blank after it.", NULL);
    *at = end + (*end != 0);
    *end = 0;
    return **value ? 1 : dft_table_file_fail(file, keys[*key], "= has no value.", NULL);
}
