/* SPDX-License-Identifier: MIT */
/* Owns the reading of /proc/self/mountinfo.
 *
 * A line of this file is "ID PARENT DEVICE ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS". The
 * kernel escapes spaces and newlines in it. */
#include "store/mounts.h"

#include <fcntl.h>
#include <string.h>

#include "os/bulk.h"
#include "os/sys.h"
#include "tables/fd_progress.h"

enum { POINT = 4, PIECE = 4096 };

static int lies_below(const char *point, size_t length, const char *directory)
{
    size_t n = strlen(directory);

    return length >= n && !memcmp(point, directory, n) && (length == n || point[n] == '/');
}

/* Files of the kernel are not traced, but for those of /dev/shm. */
static int is_traced(const char *point, size_t length)
{
    if (lies_below(point, length, "/dev"))
        return lies_below(point, length, "/dev/shm");
    return !lies_below(point, length, "/proc") && !lies_below(point, length, "/sys");
}

static void add(struct dft_mounts_reader *reader, char c, char *lines, size_t capacity)
{
    if (reader->used + reader->length < capacity)
        lines[reader->used + reader->length] = c;
    reader->length++;
}

static void end_line(struct dft_mounts_reader *reader, char *lines, size_t capacity)
{
    const char *point = lines + reader->used, *space;

    add(reader, '\n', lines, capacity);
    if (reader->types && reader->used + reader->length <= capacity) {
        space = memchr(point, ' ', reader->length);
        if (space && is_traced(point, (size_t)(space - point)))
            reader->used += reader->length;
    }
    *reader = (struct dft_mounts_reader){.used = reader->used};
}

static void end_field(struct dft_mounts_reader *reader, char *lines, size_t capacity)
{
    if (reader->types == 1) {
        reader->types = 2;
    } else if (reader->separated) {
        reader->types = 1;
        add(reader, ' ', lines, capacity);
    }
    reader->field++;
    reader->in_field = 0;
    reader->separated = 0;
}

void dft_mounts_put(struct dft_mounts_reader *reader, const char *bytes, size_t count, char *lines, size_t capacity)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n') {
            end_line(reader, lines, capacity);
        } else if (bytes[i] == ' ') {
            end_field(reader, lines, capacity);
        } else {
            if (reader->field == POINT || reader->types == 1)
                add(reader, bytes[i], lines, capacity);
            reader->separated = reader->field > POINT && !reader->types && !reader->in_field && bytes[i] == '-';
            reader->in_field++;
        }
    }
}

size_t dft_mounts_read(char *lines, size_t capacity)
{
    static char piece[PIECE] DFT_BULK;
    struct dft_mounts_reader reader = {0};
    long fd = dft_fd_progress_open_proc("mountinfo", O_RDONLY), n;

    if (fd < 0)
        return 0;
    while ((n = dft_sys_read((int)fd, piece, sizeof piece)) > 0)
        dft_mounts_put(&reader, piece, (size_t)n, lines, capacity);
    dft_fd_progress_close_brief(fd);
    return reader.used;
}
