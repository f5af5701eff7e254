/* SPDX-License-Identifier: MIT */
/* What --file and --dir mean as patterns of absolute paths: `.` and `..` at the front count from
 * the working directories of the processes, as their traces name them. */
#include "views/filter_paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "object/source_node.h"

#define PLACES_MAX 64u /* different directories; more are not looked at */

static int add(struct dft_filter_paths *paths, const char *front, const char *text, const char *end)
{
    const char **bigger = reallocarray(paths->list, paths->count + 1, sizeof *bigger);
    char *pattern;

    if (!bigger)
        return -ENOMEM;
    paths->list = bigger;
    if (asprintf(&pattern, "%s%s%s", front, text, end) < 0)
        return -ENOMEM;
    bigger[paths->count++] = pattern;
    return 0;
}

/* Begins with "." or ".." as a part of a path? Returns the length of that part. */
static size_t dots(const char *text)
{
    size_t n = strspn(text, ".");

    return n >= 1 && n <= 2 && (text[n] == '/' || !text[n]) ? n : 0;
}

/* From one directory. What has a meaning in a pattern is escaped in its name. takes: it takes paths away. */
static int add_from(struct dft_filter_paths *paths, struct dft_text place, int takes, const char *text, const char *end)
{
    char *front = malloc(2 * (size_t)place.length + 3);
    size_t length = place.length, used, n;
    int rc;

    if (!front)
        return -ENOMEM;
    for (; (n = dots(text)); text += n + strspn(text + n, "/"))
        for (; n == 2 && length && place.bytes[--length] != '/';)
            ;
    while (length && place.bytes[length - 1] == '/')
        length--;
    *front = '!';
    used = dft_glob_escape(front + takes, place.bytes, length);
    strcpy(front + takes + used, *text ? "/" : "");
    rc = add(paths, front, text, end);
    free(front);
    return rc;
}

/* The working directories of processes, each once. */
static size_t find_places(const struct dft_source *source, struct dft_text places[PLACES_MAX])
{
    uint32_t nprocesses;
    const struct dft_source_process *processes = dft_source_processes(source, &nprocesses);
    size_t count = 0, at;

    for (uint32_t i = 0; i < nprocesses && count < PLACES_MAX; i++) {
        struct dft_text cwd = processes[i].process.cwd;

        for (at = 0; at < count; at++)
            if (places[at].length == cwd.length && !memcmp(places[at].bytes, cwd.bytes, cwd.length))
                break;
        if (at == count && cwd.length && !dft_process_is_node(&processes[i]))
            places[count++] = cwd;
    }
    return count;
}

int dft_filter_paths_make(struct dft_filter_paths *paths, const struct dft_source *source, const char *const *patterns,
                          size_t count, const char *end)
{
    struct dft_text places[PLACES_MAX];
    size_t nplaces = find_places(source, places);
    int rc = 0;

    dft_filter_paths_fini(paths);
    for (size_t i = 0; i < count && !rc; i++) {
        int takes = *patterns[i] == '!';
        char *text = strdup(patterns[i] + takes);
        size_t length = text ? strlen(text) : 0;

        while (*end && length && text[length - 1] == '/')
            text[--length] = 0;
        if (!text)
            return -ENOMEM;
        for (size_t j = 0; dots(text) && j < nplaces && !rc; j++)
            rc = add_from(paths, places[j], takes, text, end);
        if (!dots(text))
            rc = add(paths, takes ? "!" : "", text, end);
        if (!rc && *text && *text != '/' && *text != '*' && !dots(text))
            rc = add(paths, takes ? "!*/" : "*/", text, end);
        free(text);
    }
    return rc;
}

void dft_filter_paths_fini(struct dft_filter_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free((char *)(uintptr_t)paths->list[i]);
    free(paths->list);
    *paths = (struct dft_filter_paths){0};
}
