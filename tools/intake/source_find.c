/* SPDX-License-Identifier: MIT */
/* Finds the inputs of a source: named files, directories with everything below, shell patterns.
 *
 * The list is sorted by path. A file that is reached twice (also by links) is in the list once. So
 * nothing depends on the order of a directory. */

#include "intake/source_find.h"
#include "base/array.h"
#include "object/source_notes.h"
#include "dftracer/imported_index.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH_MAX 64

struct input {
    char *path;
    dev_t device;
    ino_t inode;
};

struct finding {
    struct dft_source *source;
    struct input *inputs;
    size_t count, capacity;
};

static int input_add(struct finding *finding, const char *path, const struct stat *st)
{
    struct input *input;

    if (DFT_ARRAY_RESERVE(finding->inputs, finding->capacity, finding->count + 1))
        return -ENOMEM;
    input = &finding->inputs[finding->count];
    input->path = strdup(path);
    if (!input->path)
        return -ENOMEM;
    input->device = st->st_dev;
    input->inode = st->st_ino;
    finding->count++;
    return 0;
}

static int ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n > m && !strcmp(name + n - m, end);
}

int dft_trace_name(const char *path)
{
    return ends_with(path, ".dft") || ends_with(path, ".dft.live") || dft_pfw_is_name(path);
}

static int find_in_directory(struct finding *finding, const char *path, int depth);

/* Looks at one entry of a directory. Links to directories are not followed, because they may form
 * circles. */
static int find_entry(struct finding *finding, const char *directory, const struct dirent *entry, int depth)
{
    size_t n = strlen(directory);
    struct stat st;
    char *path;
    int rc = 0;

    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || !strcmp(entry->d_name, DFT_INDEX_DIRECTORY))
        return 0;
    if (asprintf(&path, "%s%s%s", directory, n && directory[n - 1] == '/' ? "" : "/", entry->d_name) < 0)
        return -ENOMEM;
    if (entry->d_type == DT_DIR || (entry->d_type == DT_UNKNOWN && !lstat(path, &st) && S_ISDIR(st.st_mode)))
        rc = find_in_directory(finding, path, depth + 1);
    else if (dft_trace_name(path) && !stat(path, &st) && S_ISREG(st.st_mode))
        rc = input_add(finding, path, &st);
    free(path);
    return rc;
}

static int find_in_directory(struct finding *finding, const char *path, int depth)
{
    struct dirent *entry;
    DIR *dir;
    int rc = 0;

    if (depth > DEPTH_MAX) {
        dft_source_note(finding->source, 1, "%s: not searched: more than %d directories deep", path, DEPTH_MAX);
        return 0;
    }
    dir = opendir(path);
    if (!dir) {
        dft_source_note(finding->source, 1, "%s: cannot be searched: %s", path, strerror(errno));
        return 0;
    }
    while (!rc && (entry = readdir(dir)))
        rc = find_entry(finding, path, entry, depth);
    closedir(dir);
    return rc;
}

static int find_path(struct finding *finding, const char *path, int patterns);

static int find_pattern(struct finding *finding, const char *pattern)
{
    glob_t found;
    int rc = glob(pattern, 0, NULL, &found);

    if (rc == GLOB_NOSPACE)
        return -ENOMEM;
    if (rc) {
        dft_source_note(finding->source, 1, "%s: no file fits this pattern", pattern);
        return 0;
    }
    for (size_t i = 0; !rc && i < found.gl_pathc; i++)
        rc = find_path(finding, found.gl_pathv[i], 0);
    globfree(&found);
    return rc;
}

static int find_path(struct finding *finding, const char *path, int patterns)
{
    struct stat st;

    if (stat(path, &st)) {
        int error = errno;

        if (patterns && strpbrk(path, "*?["))
            return find_pattern(finding, path);
        dft_source_note(finding->source, 1, "%s: %s", path, strerror(error));
        return 0;
    }
    if (S_ISDIR(st.st_mode))
        return find_in_directory(finding, path, 0);
    if (!S_ISREG(st.st_mode)) {
        dft_source_note(finding->source, 1, "%s: neither a file nor a directory", path);
        return 0;
    }
    return input_add(finding, path, &st);
}

static int by_inode(const void *left, const void *right)
{
    const struct input *a = left, *b = right;

    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return strcmp(a->path, b->path);
}

static int by_path(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

int dft_find_inputs(struct dft_source *source, char *const *given, int count, char ***paths, size_t *found)
{
    struct finding finding = {.source = source};
    size_t n = 0;
    int rc = 0;

    for (int i = 0; !rc && i < count; i++)
        rc = find_path(&finding, given[i], 1);
    *paths = rc ? NULL : calloc(finding.count + 1, sizeof **paths);
    if (!*paths) {
        for (size_t i = 0; i < finding.count; i++)
            free(finding.inputs[i].path);
        free(finding.inputs);
        return -ENOMEM;
    }
    if (finding.count)
        qsort(finding.inputs, finding.count, sizeof *finding.inputs, by_inode);
    for (size_t i = 0; i < finding.count; i++) {
        const struct input *input = &finding.inputs[i], *before = i ? input - 1 : NULL;

        if (before && before->device == input->device && before->inode == input->inode)
            free(input->path);
        else
            (*paths)[n++] = input->path;
    }
    free(finding.inputs);
    qsort(*paths, n, sizeof **paths, by_path);
    *found = n;
    return 0;
}
