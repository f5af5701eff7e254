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

static uint32_t write_counts(char *capacity, size_t bytes, const struct dft_pfw_counts *counts)
{
    int n = 0;

#define DFT_PFW_COUNT(name)                                                                                            \
    if (counts->name)                                                                                                  \
        n += snprintf(capacity + n, bytes - (size_t)n, #name "=%" PRIu64 "\n", counts->name);
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
    char capacity[DFT_ORIGIN_ROOM];
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
    n = pread(fd, capacity, sizeof capacity, 0);
    if (n < (ssize_t)sizeof header || !dft_block_next(capacity, (size_t)n, &offset, &header, &found, &skipped) ||
        found || header.type != DFT_BLOCK_ORIGIN ||
        dft_decode_origin(decoder, &header, capacity + sizeof header, &origin, &reason) ||
        origin.converter != key->converter || origin.bytes != key->bytes || origin.mtime_ns != key->mtime_ns ||
        origin.inode != key->inode || origin.identity != key->identity || origin.length != (uint64_t)st.st_size) {
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

/* A file without a name, where the file system has such: whoever is killed half-way leaves
 * nothing. */
static int open_nameless(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
    int fd = directory ? open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;

    free(directory);
    return fd;
}

/* Gives a file without a name one. */
static int emit_name(int fd, const char *name)
{
    char link[64];
    struct stat st;

    if (fstat(fd, &st))
        return -errno;
    if (st.st_nlink)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

int dft_index_begin(const char *path, char **temporary)
{
    struct timespec now;
    int fd, rc = make_directories(path, 0777);

    *temporary = NULL;
    if (rc)
        return rc;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (asprintf(temporary, "%s.%ld.%lx.part", path, (long)getpid(),
                 (unsigned long)now.tv_nsec ^ (unsigned long)(uintptr_t)temporary) < 0) {
        *temporary = NULL;
        return -ENOMEM;
    }
    fd = open_nameless(path);
    if (fd < 0)
        fd = open(*temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    rc = fd < 0 ? -errno : lseek(fd, DFT_ORIGIN_ROOM, SEEK_SET) < 0 ? -errno : fd;
    if (rc < 0 && fd >= 0) {
        close(fd);
        unlink(*temporary);
    }
    if (rc < 0) {
        free(*temporary);
        *temporary = NULL;
    }
    return rc;
}

int dft_index_end(int fd, uint64_t length, const char *temporary, const char *path, const struct dft_index_key *key,
                  const struct dft_pfw_counts *counts, struct dft_encoder *encoder)
{
    char found[2048];
    struct dft_origin origin = {.converter = key->converter,
                                .bytes = key->bytes,
                                .mtime_ns = key->mtime_ns,
                                .inode = key->inode,
                                .identity = key->identity,
                                .length = length,
                                .found = {found, write_counts(found, sizeof found, counts)},
                                .reason = {counts->reason, counts->reason ? (uint32_t)strlen(counts->reason) : 0}};
    const void *block;
    long bytes = dft_encode_origin(encoder, &origin, &block);
    int rc = 0;

    if (bytes < 0 || bytes > (long)DFT_ORIGIN_ROOM)
        rc = -E2BIG;
    else if (pwrite(fd, block, (size_t)bytes, 0) != bytes)
        rc = errno ? -errno : -EIO;
    else
        rc = emit_name(fd, temporary);
    if (close(fd) && !rc)
        rc = -errno;
    if (!rc && rename(temporary, path))
        rc = -errno;
    if (rc)
        unlink(temporary);
    return rc;
}
