/* SPDX-License-Identifier: MIT */
/* Lists of paths: a list is read whole and cut in place. */
#include "base/path_list.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_all(FILE *file, char **text, size_t *length)
{
    size_t capacity = 0, n = 0;

    do {
        char *bigger;

        capacity = capacity ? 2 * capacity : 65536;
        bigger = realloc(*text, capacity + 1);
        if (!bigger)
            return -ENOMEM;
        *text = bigger;
        errno = 0;
        n += fread(*text + n, 1, capacity - n, file);
    } while (n == capacity);
    (*text)[n] = 0;
    *length = n;
    return ferror(file) ? (errno ? -errno : -EIO) : 0;
}

static int cut(struct dft_path_list *list, size_t length, char *const *given, int count)
{
    char end = memchr(list->text, 0, length) ? 0 : '\n';
    size_t lines = 1;

    for (size_t i = 0; i < length; i++)
        lines += list->text[i] == end;
    if (lines > INT_MAX - (size_t)count)
        return -E2BIG;
    list->paths = malloc((lines + (size_t)count) * sizeof *list->paths);
    if (!list->paths)
        return -ENOMEM;
    for (; list->count < count; list->count++)
        list->paths[list->count] = given[list->count];
    for (char *at = list->text, *next; at < list->text + length; at = next) {
        char *stop = memchr(at, end, (size_t)(list->text + length - at));

        next = stop ? stop + 1 : list->text + length;
        if (stop)
            *stop = 0;
        if (*at)
            list->paths[list->count++] = at;
    }
    return 0;
}

int dft_path_list_read(struct dft_path_list *list, const char *file, char *const *given, int count)
{
    FILE *stream = strcmp(file, "-") ? fopen(file, "re") : stdin;
    size_t length = 0;
    int rc;

    memset(list, 0, sizeof *list);
    if (!stream)
        return -errno;
    rc = read_all(stream, &list->text, &length);
    if (!rc)
        rc = cut(list, length, given, count);
    if (stream != stdin)
        fclose(stream);
    if (rc)
        dft_path_list_fini(list);
    return rc;
}

void dft_path_list_fini(struct dft_path_list *list)
{
    free(list->text);
    free(list->paths);
    memset(list, 0, sizeof *list);
}
