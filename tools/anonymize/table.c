/* SPDX-License-Identifier: MIT */
/* Writes the table of hashes, reads it again, and translates texts by it. */
#include "anonymize/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/write_text.h"
#include "format/hash.h"

int dft_table_write(const struct dft_hashes *words, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), error = fd < 0 ? -errno : 0;
    FILE *out = error ? NULL : fdopen(fd, "w");

    if (!error && !out)
        error = -ENOMEM;
    if (!error) {
        error = dft_hashes_write(words, out);
        if (fclose(out) && !error)
            error = errno ? -errno : -EIO;
        if (error)
            unlink(path);
    }
    if (error == -EEXIST)
        fprintf(stderr, "dftmerge: %s is there already, and is not replaced: name a new file for the table\n", path);
    else if (error)
        fprintf(stderr, "dftmerge: %s: %s; no table was written\n", path, strerror(-error));
    return error;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct table {
    char *bytes;
    size_t length;
    struct dft_map places; /* hash of a token -> where its text stands, + 1 */
};

/* Lengths of tokens, the longest first. */
static const unsigned lengths[] = {28, 16, 15, 14, 10};

static int is_length(size_t length)
{
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (lengths[i] == length)
            return 1;
    return 0;
}

static int read_bytes(struct table *table, const char *path)
{
    FILE *in = fopen(path, "re");
    size_t capacity = 0, n = 1;
    int error = in ? 0 : -errno;

    while (!error && n) {
        error = DFT_ARRAY_RESERVE(table->bytes, capacity, table->length + 65536);
        n = error ? 0 : fread(table->bytes + table->length, 1, capacity - table->length - 1, in);
        table->length += n;
    }
    if (!error && ferror(in))
        error = -EIO;
    if (in)
        fclose(in);
    if (!error)
        table->bytes[table->length] = 0;
    return error;
}

static int read_table(struct table *table, const char *path)
{
    int error = read_bytes(table, path);

    for (char *at = table->bytes; !error && at < table->bytes + table->length;) {
        size_t line = strcspn(at, "\n"), token = strcspn(at, "\t\n");
        uint64_t *place;

        if (at[token] != '\t' || !is_length(token))
            return -EINVAL;
        place = dft_map_put(&table->places, dft_name_id(at, token));
        if (!place)
            return -ENOMEM;
        *place = (uint64_t)(at + token + 1 - table->bytes) + 1;
        if (at[line])
            at[line++] = 0;
        at += line;
    }
    return error;
}

/* --- translating ------------------------------------------------------------------------------ */

/* What the token of `length` bytes stands for; NULL: it is none. */
static const char *find(const struct table *table, const char *at, size_t length)
{
    const uint64_t *place = dft_map_find(&table->places, dft_name_id(at, length));
    const char *text = place ? table->bytes + *place - 1 : NULL;

    return text && !memcmp(text - 1 - length, at, length) ? text : NULL;
}

/* Two blanks or more part the columns of a table. They make good for `longer` columns by which the
 * line has grown. Returns how many blanks of the line these are. */
static size_t put_gap(const char *blanks, size_t length, long *longer)
{
    size_t count = 0;
    long put;

    while (count < length && blanks[count] == ' ')
        count++;
    put = count < 2 ? (long)count : (long)count - *longer > 2 ? (long)count - *longer : 2;
    *longer -= (long)count - put;
    printf("%*s", (int)put, "");
    return count;
}

static void translate_line(const struct table *table, const char *line, size_t length)
{
    long longer = 0; /* columns by which the line has grown */

    for (size_t at = 0; at < length;) {
        const char *text = NULL;
        size_t bytes = 1;

        for (size_t i = 0; !text && i < sizeof lengths / sizeof *lengths; i++)
            if (length - at >= lengths[i] && (text = find(table, line + at, lengths[i])))
                bytes = lengths[i];
        if (text) {
            fputs(text, stdout);
            longer += (long)dft_text_columns(text) - (long)bytes;
        } else if (line[at] == ' ') {
            bytes = put_gap(line + at, length - at, &longer);
        } else {
            putchar((unsigned char)line[at]);
        }
        at += bytes;
    }
}

int dft_table_translate(const char *path)
{
    struct table table = {0};
    size_t capacity = 0;
    ssize_t length;
    char *line = NULL;
    int error = read_table(&table, path);

    while (!error && (length = getline(&line, &capacity, stdin)) > 0)
        translate_line(&table, line, (size_t)length);
    if (error == -EINVAL)
        fprintf(stderr, "dftmerge: %s: this is no table of `dftmerge anonymize --table`\n", path);
    else if (error)
        fprintf(stderr, "dftmerge: %s: %s\n", path, strerror(-error));
    free(line);
    free(table.bytes);
    dft_map_fini(&table.places);
    return error;
}
