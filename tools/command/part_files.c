/* SPDX-License-Identifier: MIT */
/* A directory of parts: the names of its files, and the files that may lie there already. */
#include "command/part_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/outfile.h"

/* --- names ------------------------------------------------------------------------------------ */

static char *cleaned(struct dft_text text, const char *otherwise)
{
    const char *slash = text.length ? memrchr(text.bytes, '/', text.length) : NULL;
    size_t from = slash ? (size_t)(slash - text.bytes) + 1 : 0;
    char *name = text.length > from ? strndup(text.bytes + from, text.length - from) : strdup(otherwise);

    for (char *at = name; at && *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("-_.", *at))
            *at = '_';
    return name;
}

char *dft_part_name(const struct dft_source_process *source, const char *ending)
{
    const struct dft_process *process = &source->process;
    char *program = cleaned(process->exe, "process"), *host = cleaned(process->host, "host"), *name = NULL,
         rank[32] = "";

    if (process->rank >= 0)
        snprintf(rank, sizeof rank, "rank-%05d-", process->rank);
    if (!program || !host ||
        asprintf(&name, "%s%.64s-%.64s-%u-%016" PRIx64 "%s", rank, program, host, process->pid, source->key, ending) <
            0)
        name = NULL;
    free(program);
    free(host);
    return name;
}

/* --- the directory ---------------------------------------------------------------------------- */

static int ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);

    return length >= tail && !strcmp(name + length - tail, ending);
}

static int is_trace_name(const char *name)
{
    return ends_in(name, ".dft") || ends_in(name, ".dft.live") || ends_in(name, ".pfw") || ends_in(name, ".pfw.gz");
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

int dft_is_input(struct dft_source *source, const char *path)
{
    uint32_t nfiles;
    const struct dft_source_file *files = dft_source_files(source, &nfiles);
    struct stat here, there;

    if (stat(path, &here))
        return 0;
    for (uint32_t i = 0; i < nfiles; i++)
        if (!stat(files[i].path, &there) && there.st_dev == here.st_dev && there.st_ino == here.st_ino)
            return 1;
    return 0;
}

/* Is the file no part of ours, but would readers take it for a part? Or is it an input that a part
 * would replace? */
static int is_in_the_way(struct dft_source *source, const char *directory, const char *name, const char *ending,
                         char *const *sorted, size_t count)
{
    char *path;
    int found;

    if (!ends_in(name, ending) && !(is_trace_name(ending) && is_trace_name(name)))
        return 0;
    if (!count || !bsearch(&name, sorted, count, sizeof *sorted, by_name))
        return 1;
    path = dft_outfile_inside(directory, name);
    found = !path || dft_is_input(source, path);
    free(path);
    return found;
}

int dft_part_directory(struct dft_source *source, const char *path, const char *ending, char *const *names,
                       size_t count)
{
    char **sorted = malloc((count + 1) * sizeof *sorted);
    struct dirent *entry;
    int error = 0;
    DIR *dir;

    if (!sorted)
        return -ENOMEM;
    memcpy(sorted, names, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_name);
    error = dft_outfile_make_directory(path);
    dir = error ? NULL : opendir(path);
    if (!error && !dir)
        error = -errno;
    if (error)
        dft_outfile_say(path, error);
    while (dir && !error && (entry = readdir(dir))) {
        if (!is_in_the_way(source, path, entry->d_name, ending, sorted, count))
            continue;
        error = -EEXIST;
        fprintf(stderr,
                "dftmerge: %s/%s is there already, and what is written would be counted together with it; nothing was "
                "written: name an empty directory\n",
                path, entry->d_name);
    }
    if (dir)
        closedir(dir);
    free(sorted);
    return error;
}
