/* SPDX-License-Identifier: MIT */
/* Index files: where they are, whether they fit, how they come to be. */
#include "dftracer/imported_index.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "format/block.h"
#include "format/hash.h"
#include "base/open_regular.h"

void dft_index_key_of(struct dft_index_key *key, const struct stat *st, uint64_t converter)
{
    uint64_t words[5] = {(uint64_t)st->st_dev, (uint64_t)st->st_ino, (uint64_t)st->st_size,
                         (uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec};

    key->bytes = (uint64_t)st->st_size;
    key->mtime_ns = (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
    key->changed_ns = (uint64_t)st->st_ctim.tv_sec * 1000000000u + (uint64_t)st->st_ctim.tv_nsec;
    key->inode = (uint64_t)st->st_ino;
    key->converter = converter;
    key->identity = dft_name_id(words, sizeof words);
}

/* --- places ----------------------------------------------------------------------------------- */

static char *beside(const char *trace)
{
    const char *slash = strrchr(trace, '/');
    int n = slash ? (int)(slash + 1 - trace) : 0;
    char *path;

    return asprintf(&path, "%.*s" DFT_INDEX_DIRECTORY "/%s.dft", n, trace, trace + n) < 0 ? NULL : path;
}

/* The cache is of all directories: the whole path is in the name. */
static char *in_cache(const char *trace)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *slash;
    char *whole = realpath(trace, NULL), *path = NULL;
    int in_home = !cache || *cache != '/';

    if (!whole || (in_home && (!home || *home != '/'))) {
        free(whole);
        return NULL;
    }
    slash = strrchr(whole, '/');
    if (asprintf(&path, "%s%s/dftrace/%016" PRIx64 "-%.64s.dft", in_home ? home : cache, in_home ? "/.cache" : "",
                 dft_name_id(whole, strlen(whole)), slash + 1) < 0)
        path = NULL;
    free(whole);
    return path;
}

char *dft_index_path(const char *trace, int where)
{
    return where ? in_cache(trace) : beside(trace);
}

/* --- what was found, as text ------------------------------------------------------------------ */

static uint32_t write_counts(char *text, size_t bytes, const struct dft_pfw_counts *counts)
{
    int n = 0;

#define DFT_PFW_COUNT(name)                                                                                            \
    if (counts->name)                                                                                                  \
        n += snprintf(text + n, bytes - (size_t)n, #name "=%" PRIu64 "\n", counts->name);
    DFT_PFW_COUNTS
#undef DFT_PFW_COUNT
    return (uint32_t)n;
}

static void read_counts(const struct dft_origin *origin, struct dft_pfw_counts *counts)
{
    const char *at = origin->found.bytes, *end = at + origin->found.length;

    memset(counts, 0, sizeof *counts);
    while (at < end) {
        const char *equals = memchr(at, '=', (size_t)(end - at));
        const char *line = equals ? memchr(equals, '\n', (size_t)(end - equals)) : NULL;
        size_t n = equals ? (size_t)(equals - at) : 0;

        if (!line)
            break;
#define DFT_PFW_COUNT(name)                                                                                            \
    if (n == sizeof #name - 1 && !memcmp(at, #name, n))                                                                \
        counts->name = strtoull(equals + 1, NULL, 10);
        DFT_PFW_COUNTS
#undef DFT_PFW_COUNT
        at = line + 1;
    }
    counts->reason = dft_pfw_reason(origin->reason.bytes, origin->reason.length);
}

/* --- reading ---------------------------------------------------------------------------------- */

int dft_index_open(const char *path, const struct dft_index_key *key, struct dft_decoder *decoder,
                   struct dft_pfw_counts *counts)
{
    char text[DFT_ORIGIN_ROOM];
    struct dft_block_header header;
    struct dft_skipped skipped = {0};
    struct dft_origin origin;
    const char *reason;
    struct stat st;
    size_t offset = 0, found;
    int fd = dft_open_regular(path, O_RDONLY, &st);
    ssize_t n;

    if (fd < 0)
        return -1;
    n = pread(fd, text, sizeof text, 0);
    if (n < (ssize_t)sizeof header || !dft_block_next(text, (size_t)n, &offset, &header, &found, &skipped) || found ||
        header.type != DFT_BLOCK_ORIGIN ||
        dft_decode_origin(decoder, &header, text + sizeof header, &origin, &reason) ||
        origin.converter != key->converter || origin.bytes != key->bytes || origin.mtime_ns != key->mtime_ns ||
        origin.changed_ns != key->changed_ns || origin.inode != key->inode || origin.identity != key->identity ||
        origin.length != (uint64_t)st.st_size) {
        close(fd);
        return -1;
    }
    read_counts(&origin, counts);
    return fd;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* All directories above a file. */
static int make_directories(const char *path, mode_t mode)
{
    char *copy = strdup(path);
    int rc = copy ? 0 : -ENOMEM;

    for (char *at = copy ? strchr(copy + 1, '/') : NULL; at && !rc; at = strchr(at + 1, '/')) {
        *at = 0;
        if (mkdir(copy, mode) && errno != EEXIST)
            rc = access(copy, F_OK) ? -errno : 0; /* there already, on a file system that takes no new ones */
        *at = '/';
    }
    free(copy);
    return rc;
}

/* Gives a file without a name one. */
static int emit_name(const struct dft_index_file *file)
{
    char link[64];
    struct stat st;

    if (fstat(file->fd, &st))
        return -errno;
    if (st.st_nlink)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
    return linkat(AT_FDCWD, link, file->directory, file->temporary, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* Opens the directory itself: somebody may have put a link there. */
static int open_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

    if (fd < 0)
        fd = directory ? -errno : -ENOMEM;
    free(directory);
    return fd;
}

int dft_index_begin(struct dft_index_file *file, const char *path, mode_t mode)
{
    const char *slash = strrchr(path, '/');
    struct timespec now;
    int rc = make_directories(path, 0777);

    *file = (struct dft_index_file){.fd = -1, .directory = rc ? rc : open_directory(path)};
    if (file->directory < 0)
        return file->directory;
    clock_gettime(CLOCK_MONOTONIC, &now);
    file->name = strdup(slash ? slash + 1 : path);
    if (asprintf(&file->temporary, "%s.%ld.%lx.part", slash ? slash + 1 : path, (long)getpid(),
                 (unsigned long)now.tv_nsec ^ (unsigned long)(uintptr_t)file) < 0)
        file->temporary = NULL;
    mode = (mode & 0666) | 0600;
    if (file->name && file->temporary) /* without a name, where there are such: who is killed half-way leaves nothing */
        file->fd = openat(file->directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (file->name && file->temporary && file->fd < 0)
        file->fd = openat(file->directory, file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    rc = !file->name || !file->temporary                                  ? -ENOMEM
         : file->fd < 0 || lseek(file->fd, DFT_ORIGIN_ROOM, SEEK_SET) < 0 ? -errno
                                                                          : 0;
    if (rc)
        dft_index_abort(file);
    return rc;
}

void dft_index_abort(struct dft_index_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->directory >= 0 && file->temporary)
        unlinkat(file->directory, file->temporary, 0);
    if (file->directory >= 0)
        close(file->directory);
    free(file->name);
    free(file->temporary);
    *file = (struct dft_index_file){.fd = -1, .directory = -1};
}

int dft_index_end(struct dft_index_file *file, uint64_t length, const struct dft_index_key *key,
                  const struct dft_pfw_counts *counts, struct dft_encoder *encoder)
{
    char found[2048];
    struct dft_origin origin = {.converter = key->converter,
                                .bytes = key->bytes,
                                .mtime_ns = key->mtime_ns,
                                .changed_ns = key->changed_ns,
                                .inode = key->inode,
                                .identity = key->identity,
                                .length = length,
                                .found = {found, write_counts(found, sizeof found, counts)},
                                .reason = dft_text_from(counts->reason)};
    const void *block;
    long bytes = dft_encode_origin(encoder, &origin, &block);
    int rc;

    if (bytes < 0 || bytes > (long)DFT_ORIGIN_ROOM)
        rc = -E2BIG;
    else if (pwrite(file->fd, block, (size_t)bytes, 0) != bytes)
        rc = errno ? -errno : -EIO;
    else
        rc = emit_name(file);
    if (close(file->fd) && !rc)
        rc = -errno;
    file->fd = -1;
    if (!rc && renameat(file->directory, file->temporary, file->directory, file->name))
        rc = -errno;
    dft_index_abort(file); /* after a rename, no temporary name is left */
    return rc;
}
