/* SPDX-License-Identifier: MIT */
/* The rollup's file: what it is of, where it lies, reading and writing. */
#include "query/rollup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pread_all.h"
#include "dftracer/imported_index.h"
#include "dftracer/pfw.h"
#include "format/hash.h"
#include "source/source_object.h"

#define VERSION    UINT64_C(1) /* of what rollup.c writes */
#define EVENTS_MIN 65536u      /* with fewer events a rollup is not worth a file */

/* Are the blocks of this file in an index that others will find, too? */
static int is_indexed(const struct dft_source_file *file)
{
    return file->kind == DFT_FILE_IMPORTED && file->blocks_path && !file->local &&
           strncmp(file->blocks_path, "/proc/self/", 11) != 0;
}

int dft_rollup_key(const struct dft_source *source, struct dft_index_key *key)
{
    uint64_t identity = VERSION, events = 0, count = 0;

    if (source->no_index || source->clocks)
        return 0;
    for (size_t i = 0; i < source->nblocks; i++) {
        const struct dft_block *block = &source->blocks[i];
        uint64_t words[9] = {identity,
                             source->processes[block->process].key,
                             (uint64_t)block->stream << 32 | block->part,
                             block->first,
                             block->last,
                             (uint64_t)block->stored << 32 | block->payload_crc,
                             (uint64_t)block->raw << 32 | block->count,
                             block->covered,
                             (uint64_t)block->tid << 8 | block->state};

        if (!(block->use & DFT_IN_EVENTS) || !block->count)
            continue;
        if (block->type != DFT_BLOCK_EVENTS || !is_indexed(&source->files[block->file]))
            return 0;
        identity = dft_name_id(words, sizeof words);
        events += block->count;
        count++;
    }
    *key = (struct dft_index_key){.bytes = count, .mtime_ns = events, .inode = VERSION, .identity = identity};
    return events >= EVENTS_MIN;
}

/* The directory that all traces lie in, or below; from malloc, without links, or NULL. */
static char *common_directory(const struct dft_source *source)
{
    const char *first = NULL;
    size_t length = 0;
    char *common, *whole;

    for (uint32_t f = 0; f < source->nfiles; f++) {
        const char *path = source->files[f].path, *slash = strrchr(path, '/');
        size_t n = slash ? (size_t)(slash + 1 - path) : 0, same = 0;

        if (!first) {
            first = path;
            length = n;
        }
        for (size_t i = 0; i < length && i < n && path[i] == first[i]; i++)
            if (path[i] == '/')
                same = i + 1;
        length = same;
    }
    if (!first)
        return NULL;
    common = length ? strndup(first, length) : strdup(".");
    whole = common ? realpath(common, NULL) : NULL;
    free(common);
    return whole;
}

/* ".together-<directory>.dft" beside the index of the first trace, for the directory that all
 * traces lie in or below. */
static char *path_of(const struct dft_source *source)
{
    char *directory = common_directory(source), *path = NULL;

    for (uint32_t f = 0; directory && !path && f < source->nfiles; f++) {
        const char *index = source->files[f].blocks_path;

        if (!is_indexed(&source->files[f]))
            continue;
        if (asprintf(&path, "%.*s.together-%016" PRIx64 ".dft", (int)(strrchr(index, '/') + 1 - index), index,
                     dft_name_id(directory, strlen(directory))) < 0)
            path = NULL;
        break;
    }
    free(directory);
    return path;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Is every block whole? */
static int is_whole(const struct dft_rollup *rollup, struct dft_decoder *decoder)
{
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    struct dft_buckets buckets;
    size_t offset = 0, found;
    const char *reason;

    while (dft_block_next(rollup->bytes, rollup->length, &offset, &header, &found, &skipped))
        if (header.type != DFT_BLOCK_BUCKETS ||
            dft_decode_buckets(decoder, &header, rollup->bytes + found + sizeof header, &buckets, &reason))
            return 0;
    return !skipped.damaged && !skipped.bytes && !skipped.holes;
}

/* All behind ORIGIN. */
static int read_blocks(int fd, struct dft_decoder *decoder, struct dft_rollup *rollup)
{
    struct stat st;

    if (fstat(fd, &st) || st.st_size < (off_t)DFT_ORIGIN_ROOM ||
        (size_t)st.st_size - DFT_ORIGIN_ROOM > DFT_ROLLUP_BYTES)
        return 0;
    rollup->length = (size_t)st.st_size - DFT_ORIGIN_ROOM;
    rollup->bytes = malloc(rollup->length + 1);
    if (!rollup->bytes)
        return -ENOMEM;
    return !dft_pread_all(fd, rollup->bytes, rollup->length, DFT_ORIGIN_ROOM) && is_whole(rollup, decoder);
}

int dft_rollup_read(const struct dft_source *source, const struct dft_index_key *key, struct dft_rollup *rollup)
{
    struct dft_decoder *decoder = dft_decoder_create();
    struct dft_pfw_counts counts = {0};
    char *path = path_of(source);
    int fd = decoder && path ? dft_index_open(path, key, decoder, &counts) : -1;
    int rc = decoder ? 0 : -ENOMEM;

    if (fd >= 0) {
        rc = counts.not_kept ? 1 : read_blocks(fd, decoder, rollup);
        close(fd);
    }
    if (rc != 1) {
        free(rollup->bytes);
        rollup->bytes = NULL;
        rollup->length = 0;
    }
    dft_decoder_destroy(decoder);
    free(path);
    return rc;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int write_blocks(int fd, const struct dft_rollup *rollup)
{
    size_t done = 0;

    while (done < rollup->length) {
        ssize_t n = pwrite(fd, rollup->bytes + done, rollup->length - done, (off_t)(DFT_ORIGIN_ROOM + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        done += (size_t)n;
    }
    return ftruncate(fd, (off_t)(DFT_ORIGIN_ROOM + rollup->length)) ? -errno : 0;
}

/* What all may do who may read all traces. */
static mode_t common_mode(const struct dft_source *source)
{
    mode_t mode = 0666;
    struct stat st;

    for (uint32_t f = 0; f < source->nfiles; f++)
        mode &= stat(source->files[f].path, &st) ? 0600 : st.st_mode;
    return mode;
}

void dft_rollup_write(const struct dft_source *source, const struct dft_index_key *key, const struct dft_rollup *rollup,
                      struct dft_encoder *encoder)
{
    const struct dft_pfw_counts counts = {.not_kept = !rollup->bytes};
    struct dft_index_file file;
    char *path = path_of(source);

    if (path && !dft_index_begin(&file, path, common_mode(source))) {
        if (!write_blocks(file.fd, rollup))
            dft_index_end(&file, DFT_ORIGIN_ROOM + rollup->length, key, &counts, encoder);
        else
            dft_index_abort(&file);
    }
    free(path);
}
