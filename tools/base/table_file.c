/* SPDX-License-Identifier: MIT */
/* Reads the lines of a user's table, and says what is wrong with one. */
#include "base/table_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
