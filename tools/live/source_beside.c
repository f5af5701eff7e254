/* SPDX-License-Identifier: MIT */
/* Finds files beside the inputs: live files that were not named, and traces of live files that a
 * listing missed. A listing misses traces that are made meanwhile. */
#include "live/source_beside.h"

#include "base/open_regular.h"
#include "object/source_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/live_format.h"

static int is_file(const char *path, const struct stat *st)
{
    struct stat other;

    return !stat(path, &other) && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

/* There may be as many inputs as processes, so the key is compared first. A live file that could
 * not be read yet has no key. */
static struct dft_source_file *find_input(const struct dft_source *source, const struct stat *st, uint64_t key)
{
    for (uint32_t f = 0; f < source->nfiles; f++) {
        struct dft_source_file *file = &source->files[f];

        if (file->kind == DFT_FILE_LIVE && !file->gone && (!file->key || file->key == key) && is_file(file->path, st))
            return file;
    }
    return NULL;
}

static int add_input(struct dft_source *source, struct dft_scanned **scanned, const char *path,
                     enum dft_source_kind kind, uint64_t key, uint32_t trace)
{
    struct dft_source_file *files = realloc(source->files, (source->nfiles + 1u) * sizeof *files);
    struct dft_scanned *more;

    if (!files)
        return -ENOMEM;
    source->files = files;
    more = realloc(*scanned, (source->nfiles + 1u) * sizeof *more);
    if (!more)
        return -ENOMEM;
    *scanned = more;
    memset(&more[source->nfiles], 0, sizeof *more);
    memset(&files[source->nfiles], 0, sizeof *files);
    files[source->nfiles].path = strdup(path);
    if (!files[source->nfiles].path)
        return -ENOMEM;
    files[source->nfiles].kind = (uint8_t)kind;
    files[source->nfiles].key = key;
    files[source->nfiles].trace = trace;
    source->nfiles++;
    return 0;
}

/* A copy of a trace, or an archive, names the live file of another trace. That live file is not its
 * own. */
static int is_of_trace(const struct dft_live *live, const char *trace)
{
    struct stat st;

    return live->version == DFT_LIVE_VERSION && !stat(trace, &st) && st.st_dev == live->trace_device &&
           st.st_ino == live->trace_inode;
}

/* Adds the live file at `path`, of the process `key` of this trace, if there is one. The file may
 * be an input already. A file that does not lie beside the trace must have been made for this
 * trace. */
static int try_live(struct dft_source *source, struct dft_scanned **scanned, uint32_t trace, const char *path,
                    uint64_t key, int is_beside)
{
    struct dft_source_file *known;
    struct dft_live live;
    struct stat st;
    int fd = dft_open_regular(path, O_RDONLY, &st), fits;

    if (fd < 0)
        return 0;
    fits = pread(fd, &live, sizeof live, 0) == (ssize_t)sizeof live && live.magic == DFT_LIVE_MAGIC &&
           live.key == key && (is_beside || is_of_trace(&live, source->files[trace].path));
    close(fd);
    source->files[trace].has_live |= (uint8_t)fits;
    known = fits ? find_input(source, &st, key) : NULL;
    if (known && !known->trace)
        known->trace = trace + 1;
    return fits && !known ? add_input(source, scanned, path, DFT_FILE_LIVE, key, trace + 1) : 0;
}

static int try_trace(struct dft_source *source, struct dft_scanned **scanned, uint32_t file, uint64_t key)
{
    char *path;
    int rc;

    if (asprintf(&path, "%s.live", source->files[file].path) < 0)
        return -ENOMEM;
    rc = try_live(source, scanned, file, path, key, 1);
    free(path);
    return rc;
}

static int has_process(const struct dft_scanned *scanned)
{
    for (size_t i = 0; i < scanned->nrecords; i++)
        if (scanned->records[i].type == DFT_BLOCK_PROCESS)
            return 1;
    return 0;
}

/* Looks in /dev/shm for the live file of this name. */
static int try_shared(struct dft_source *source, struct dft_scanned **scanned, uint32_t file, const char *name,
                      uint64_t key)
{
    char *path;
    int rc;

    if (asprintf(&path, "/dev/shm/%s", name) < 0)
        return -ENOMEM;
    rc = try_live(source, scanned, file, path, key, 0);
    free(path);
    return rc;
}

/* The file that PROCESS names. In a container /dev/shm of this machine may have had another name. */
static int try_named(struct dft_source *source, struct dft_scanned **scanned, uint32_t file, const char *path,
                     uint64_t key)
{
    const char *slash = strrchr(path, '/');
    int rc = try_live(source, scanned, file, path, key, 0);

    return rc || !slash ? rc : try_shared(source, scanned, file, slash + 1, key);
}

/* A trace without even a PROCESS does not say where its live file is. Its name holds the key. Where
 * there was no room beside the trace, the live file is in /dev/shm. */
static int try_nameless(struct dft_source *source, struct dft_scanned **scanned, uint32_t file)
{
    const char *slash = strrchr(source->files[file].path, '/');
    const char *name = slash ? slash + 1 : source->files[file].path, *dash = strrchr(name, '-');
    char *end, *path;
    uint64_t key = dash ? strtoull(dash + 1, &end, 16) : 0;
    int rc;

    if (!key || strcmp(end, ".dft"))
        return 0;
    rc = try_trace(source, scanned, file, key);
    if (rc)
        return rc;
    if (asprintf(&path, "%s.live", name) < 0)
        return -ENOMEM;
    rc = try_shared(source, scanned, file, path, key);
    free(path);
    return rc;
}

static int find_live(struct dft_source *source, struct dft_scanned **scanned, uint32_t f)
{
    int rc = (*scanned)[f].count ? try_trace(source, scanned, f, (*scanned)[f].keys[0]) : 0;

    if (!rc && !has_process(&(*scanned)[f]))
        rc = try_nameless(source, scanned, f);
    for (size_t i = 0; !rc && i < (*scanned)[f].nrecords; i++) {
        const struct dft_found_record *record = &(*scanned)[f].records[i];

        if (record->type == DFT_BLOCK_PROCESS && record->process->live_path.length)
            rc = try_named(source, scanned, f, record->process->live_path.bytes, record->process->key);
    }
    return rc;
}

static int seek_live(struct dft_source *source, struct dft_scanned **scanned, uint32_t f)
{
    int rc = find_live(source, scanned, f);
    struct dft_source_file *file = &source->files[f];

    if (has_process(&(*scanned)[f]))
        file->sought = DFT_SOUGHT_MAX;
    else
        file->sought = (uint8_t)(file->sought + (file->sought < DFT_SOUGHT_MAX));
    return rc;
}

/* The inputs are sorted, so the trace stands before its live file, mostly just before. */
static int has_trace(const struct dft_source *source, uint32_t live, const char *path, const struct stat *st)
{
    if (live && !strcmp(source->files[live - 1].path, path))
        return 1;
    for (uint32_t f = 0; f < source->nfiles; f++)
        if (source->files[f].kind == DFT_FILE_TRACE && is_file(source->files[f].path, st))
            return 1;
    return 0;
}

static int find_trace(struct dft_source *source, struct dft_scanned **scanned, uint32_t live)
{
    const char *path = source->files[live].path;
    size_t n = strlen(path), m = sizeof ".live" - 1;
    struct stat st;
    char *trace;
    int rc = 0;

    if (n <= m || strcmp(path + n - m, ".live"))
        return 0;
    trace = strndup(path, n - m);
    if (!trace)
        return -ENOMEM;
    if (!stat(trace, &st) && S_ISREG(st.st_mode) && !has_trace(source, live, trace, &st))
        rc = add_input(source, scanned, trace, DFT_FILE_TRACE, 0, 0);
    free(trace);
    return rc;
}

int dft_find_beside(struct dft_source *source, struct dft_scanned **scanned)
{
    uint32_t known = source->nfiles;
    int rc = 0;

    for (uint32_t f = 0; !rc && f < known; f++) {
        const struct dft_source_file *file = &source->files[f];

        if ((*scanned)[f].looked)
            continue;
        if (file->kind == DFT_FILE_LIVE && (file->snapshot || file->gone))
            rc = find_trace(source, scanned, f);
        else if (file->kind == DFT_FILE_TRACE)
            rc = seek_live(source, scanned, f);
        (*scanned)[f].looked = 1;
    }
    return rc;
}
