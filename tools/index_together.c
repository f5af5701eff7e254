/* The file beside the indexes that is of all traces together: what it is of, where it is, reading and writing. */
#include "index_together.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source_inside.h"

#define VERSION UINT64_C(1) /* of what query_together.c writes */

struct dft_together *dft_source_together(struct dft_source *source)
{
    return &source->together;
}

/* --- what it is of -------------------------------------------------------------------------------------------------- */

/* Are the blocks of this file in an index that others will find, too? */
static int is_indexed(const struct dft_source_file *file)
{
    return file->kind == DFT_FILE_FOREIGN && file->blocks_path && !file->local &&
           strncmp(file->blocks_path, "/proc/self/", 11) != 0;
}

int dft_together_key(const struct dft_source *source, struct dft_index_key *key)
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
    return events >= DFT_TOGETHER_EVENTS;
}

/* --- where it is ---------------------------------------------------------------------------------------------------- */

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

/* With the index of the first trace; each directory that is asked about has its own. From malloc, or NULL. */
static char *path_of(const struct dft_source *source)
{
    char *directory = common_directory(source), *path = NULL;
    const char *slash;

    for (uint32_t f = 0; directory && !path && f < source->nfiles; f++) {
        if (!is_indexed(&source->files[f]))
            continue;
        slash = strrchr(source->files[f].blocks_path, '/');
        if (asprintf(&path, "%.*s.together-%016" PRIx64 ".dft", (int)(slash + 1 - source->files[f].blocks_path),
                     source->files[f].blocks_path, dft_name_id(directory, strlen(directory))) < 0)
            path = NULL;
        break;
    }
    free(directory);
    return path;
}

/* --- reading and writing -------------------------------------------------------------------------------------------- */

/* All behind the room for ORIGIN. Returns 1, 0: it cannot be read, or -ENOMEM. */
static int read_blocks(int fd, struct dft_together *together)
{
    size_t done = 0;
    struct stat st;

    if (fstat(fd, &st) || st.st_size < (off_t)DFT_ORIGIN_ROOM ||
        (size_t)st.st_size > DFT_TOGETHER_BYTES + DFT_ORIGIN_ROOM)
        return 0;
    together->length = (size_t)st.st_size - DFT_ORIGIN_ROOM;
    together->bytes = malloc(together->length + 1);
    while (together->bytes && done < together->length) {
        ssize_t n = pread(fd, together->bytes + done, together->length - done, (off_t)(DFT_ORIGIN_ROOM + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return !together->bytes ? -ENOMEM : done == together->length;
}

/* Is every block whole? */
static int is_whole(const struct dft_together *together, struct dft_decoder *decoder)
{
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    struct dft_buckets buckets;
    size_t offset = 0, found;
    const char *why;

    while (dft_block_next(together->bytes, together->length, &offset, &header, &found, &skipped))
        if (header.type != DFT_BLOCK_BUCKETS ||
            dft_decode_buckets(decoder, &header, together->bytes + found + sizeof header, &buckets, &why))
            return 0;
    return !skipped.damaged && !skipped.bytes && !skipped.holes;
}

int dft_together_read(const struct dft_source *source, const struct dft_index_key *key, struct dft_together *together)
{
    struct dft_decoder *decoder = dft_decoder_create();
    char *path = path_of(source);
    struct dft_pfw_counts counts;
    int fd = decoder && path ? dft_index_open(path, key, decoder, &counts) : -1;
    int rc = decoder ? 0 : -ENOMEM;

    if (fd >= 0) {
        rc = counts.not_kept ? 1 : read_blocks(fd, together);
        close(fd);
    }
    if (rc == 1 && together->bytes && !is_whole(together, decoder))
        rc = 0;
    if (rc != 1) {
        free(together->bytes);
        together->bytes = NULL;
        together->length = 0;
    }
    dft_decoder_destroy(decoder);
    free(path);
    return rc;
}

static int write_bytes(int fd, const char *bytes, size_t length)
{
    size_t done = 0;

    while (done < length) {
        ssize_t n = pwrite(fd, bytes + done, length - done, (off_t)(DFT_ORIGIN_ROOM + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        done += (size_t)n;
    }
    return ftruncate(fd, (off_t)(DFT_ORIGIN_ROOM + length)) ? -errno : 0;
}

void dft_together_write(const struct dft_source *source, const struct dft_index_key *key,
                        const struct dft_together *together, struct dft_encoder *encoder)
{
    struct dft_pfw_counts counts = {.not_kept = !together->bytes};
    char *path = path_of(source), *temporary = NULL;
    size_t length = together->bytes ? together->length : 0;
    int fd = path ? dft_index_begin(path, &temporary) : -1;

    if (fd >= 0 && !write_bytes(fd, together->bytes, length)) {
        dft_index_end(fd, DFT_ORIGIN_ROOM + length, temporary, path, key, &counts, encoder);
    } else if (fd >= 0) {
        close(fd);
        unlink(temporary);
    }
    free(temporary);
    free(path);
}
