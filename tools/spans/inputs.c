/* SPDX-License-Identifier: MIT */
/* Finds the inputs of an import. */
#include "spans/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/array.h"
#include "base/open_regular.h"
#include "dftracer/imported_index.h"
#include "format/format.h"
#include "format/live_format.h"

#define DEPTH_MAX 64
#define LOOK      4096u

static int find_in(struct dft_span_inputs *inputs, const char *path, const struct stat *own, int depth);

static int add(struct dft_span_inputs *inputs, const char *path, int is_named)
{
    struct dft_span_input input = {strdup(path), is_named};

    if (input.path && !DFT_ARRAY_PUSH(inputs->list, inputs->capacity, inputs->count, input))
        return 0;
    free(input.path);
    return -ENOMEM;
}

static int find_entry(struct dft_span_inputs *inputs, const char *folder, const char *name, const struct stat *own,
                      int depth)
{
    size_t n = strlen(folder);
    struct stat st;
    char *path;
    int rc = 0;

    if (!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, DFT_INDEX_DIRECTORY))
        return 0;
    if (asprintf(&path, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name) < 0)
        return -ENOMEM;
    if (!lstat(path, &st) && S_ISDIR(st.st_mode)) /* links to folders may form circles */
        rc = find_in(inputs, path, own, depth + 1);
    else if (!stat(path, &st) && S_ISREG(st.st_mode) && (st.st_dev != own->st_dev || st.st_ino != own->st_ino))
        rc = add(inputs, path, 0);
    free(path);
    return rc;
}

static int find_in(struct dft_span_inputs *inputs, const char *path, const struct stat *own, int depth)
{
    struct dirent **entries;
    int count = depth > DEPTH_MAX ? -1 : scandir(path, &entries, NULL, alphasort), rc = 0;

    if (count < 0) {
        fprintf(stderr, "dftmerge spans import: %s: cannot be searched: %s\n", path,
                depth > DEPTH_MAX ? "more than 64 folders deep" : strerror(errno));
        inputs->is_bad = 1;
        return 0;
    }
    for (int i = 0; i < count; i++) {
        if (!rc)
            rc = find_entry(inputs, path, entries[i]->d_name, own, depth);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

int dft_span_inputs_find(struct dft_span_inputs *inputs, char *const *paths, int count, const struct stat *own)
{
    struct stat st;
    int rc = 0;

    for (int i = 0; !rc && i < count; i++) {
        int error = stat(paths[i], &st) ? errno : 0;

        if (!error && S_ISDIR(st.st_mode)) {
            rc = find_in(inputs, paths[i], own, 0);
        } else if (!error && S_ISREG(st.st_mode) && (st.st_dev != own->st_dev || st.st_ino != own->st_ino)) {
            rc = add(inputs, paths[i], 1);
        } else {
            fprintf(stderr, "dftmerge spans import: %s: %s\n", paths[i],
                    error                  ? strerror(error)
                    : !S_ISREG(st.st_mode) ? "neither a file nor a folder"
                                           : "this is the database itself");
            inputs->is_bad = 1;
        }
    }
    return rc;
}

void dft_span_inputs_fini(struct dft_span_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        free(inputs->list[i].path);
    free(inputs->list);
    *inputs = (struct dft_span_inputs){0};
}

/* --- what kind a file is of ------------------------------------------------------------------- */

/* The first bytes of what a gzip file holds. Returns their number. */
static size_t inflated(const void *bytes, size_t length, char out[LOOK])
{
    z_stream stream = {
        .next_in = (Bytef *)bytes, .avail_in = (uInt)length, .next_out = (Bytef *)out, .avail_out = LOOK};
    size_t n;

    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return 0;
    inflate(&stream, Z_SYNC_FLUSH);
    n = stream.total_out;
    inflateEnd(&stream);
    return n;
}

/* A record of DFTracer has these members, and stands behind "[" or at the beginning. */
static int is_pfw(const char *bytes, size_t length)
{
    while (length && (*bytes == '[' || *bytes == ' ' || *bytes == '\n' || *bytes == '\r'))
        bytes++, length--;
    return length && *bytes == '{' && memmem(bytes, length, "\"ph\"", 4) && memmem(bytes, length, "\"pid\"", 5);
}

/* A log may have a few bytes of NUL: where a file system lost what was written, or a program went wrong. */
static int is_binary(const char *bytes, size_t length)
{
    size_t nuls = 0;

    for (size_t i = 0; i < length; i++)
        nuls += !bytes[i];
    return nuls * 32 > length;
}

static enum dft_span_input_kind kind_of(const char *bytes, size_t length)
{
    char text[LOOK];
    uint64_t magic = 0;
    size_t blank = 0;

    memcpy(&magic, bytes, length < sizeof magic ? length : sizeof magic);
    if (magic == DFT_BLOCK_MAGIC || magic == DFT_LIVE_MAGIC)
        return DFT_INPUT_TRACE;
    if (length >= 16 && !memcmp(bytes, "SQLite format 3", 16))
        return DFT_INPUT_DATABASE;
    if (length > 2 && (uint8_t)bytes[0] == 0x1f && (uint8_t)bytes[1] == 0x8b)
        return is_pfw(text, inflated(bytes, length, text)) ? DFT_INPUT_TRACE : DFT_INPUT_NONE;
    if (length > 1 && (uint8_t)bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5)
        return DFT_INPUT_PICKLE;
    if (!length || is_binary(bytes, length))
        return DFT_INPUT_NONE;
    if (is_pfw(bytes, length))
        return DFT_INPUT_TRACE;
    while (blank < length && strchr(" \t\r\n", bytes[blank]))
        blank++;
    return blank < length && bytes[blank] == '{' ? DFT_INPUT_JSON : DFT_INPUT_TEXT;
}

enum dft_span_input_kind dft_span_input_look(const char *path)
{
    int fd = dft_open_regular(path, O_RDONLY, NULL);
    char bytes[LOOK];
    ssize_t length;
    int error;

    if (fd < 0)
        return errno = -fd, DFT_INPUT_UNREADABLE;
    length = pread(fd, bytes, sizeof bytes, 0);
    error = errno;
    close(fd);
    errno = error;
    return length < 0 ? DFT_INPUT_UNREADABLE : kind_of(bytes, (size_t)length);
}
