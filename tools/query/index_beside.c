/* SPDX-License-Identifier: MIT */
/* Files beside the indexes that are of many traces; see index_beside.h. */
#include "query/index_beside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pread_all.h"
#include "source/source_inside.h"
#include "format/hash.h"

/* --- what it is of -------------------------------------------------------------------------------------------------- */

/* Are the blocks of this file in an index that others will find, too? */
static int is_indexed(const struct dft_source_file *file)
{
    return file->kind == DFT_FILE_FOREIGN && file->blocks_path && !file->local &&
           strncmp(file->blocks_path, "/proc/self/", 11) != 0;
}

int dft_beside_key(const struct dft_source *source, uint64_t version, struct dft_index_key *key)
{
    uint64_t identity = version, events = 0, count = 0;

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
    *key = (struct dft_index_key){.bytes = count, .mtime_ns = events, .inode = version, .identity = identity};
    return events >= DFT_BESIDE_EVENTS;
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

char *dft_beside_path(const struct dft_source *source, const char *what)
{
    char *directory = common_directory(source), *path = NULL;

    for (uint32_t f = 0; directory && !path && f < source->nfiles; f++) {
        const char *index = source->files[f].blocks_path;

        if (!is_indexed(&source->files[f]))
            continue;
        if (asprintf(&path, "%.*s.%s-%016" PRIx64 ".dft", (int)(strrchr(index, '/') + 1 - index), index, what,
                     dft_name_id(directory, strlen(directory))) < 0)
            path = NULL;
        break;
    }
    free(directory);
    return path;
}

/* --- reading and writing -------------------------------------------------------------------------------------------- */

/* All behind the room for ORIGIN. Returns 1, 0: it cannot be read, or -ENOMEM. */
static int read_bytes(int fd, size_t most, char **bytes, size_t *length)
{
    struct stat st;

    if (fstat(fd, &st) || st.st_size < (off_t)DFT_ORIGIN_ROOM || (size_t)st.st_size > most + DFT_ORIGIN_ROOM)
        return 0;
    *length = (size_t)st.st_size - DFT_ORIGIN_ROOM;
    *bytes = malloc(*length + 1);
    return !*bytes ? -ENOMEM : dft_pread_all(fd, *bytes, *length, DFT_ORIGIN_ROOM) == 0;
}

int dft_beside_read(const char *path, const struct dft_index_key *key, size_t most, struct dft_pfw_counts *counts,
                    char **bytes, size_t *length)
{
    struct dft_decoder *decoder = dft_decoder_create();
    int fd = decoder ? dft_index_open(path, key, decoder, counts) : -1;
    int rc = decoder ? 0 : -ENOMEM;

    *bytes = NULL;
    if (fd >= 0) {
        rc = read_bytes(fd, most, bytes, length);
        close(fd);
    }
    if (rc != 1) {
        free(*bytes);
        *bytes = NULL;
    }
    dft_decoder_destroy(decoder);
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

void dft_beside_write(const char *path, const struct dft_index_key *key, const struct dft_pfw_counts *counts,
                      const void *bytes, size_t length)
{
    void *memory = mmap(NULL, dft_encoder_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct dft_encoder *encoder = memory == MAP_FAILED ? NULL : dft_encoder_init(memory);
    char *temporary = NULL;
    int fd = encoder ? dft_index_begin(path, &temporary) : -1;

    if (fd >= 0 && !write_bytes(fd, bytes, length)) {
        dft_index_end(fd, DFT_ORIGIN_ROOM + length, temporary, path, key, counts, encoder);
    } else if (fd >= 0) {
        close(fd);
        unlink(temporary);
    }
    if (encoder)
        munmap(memory, dft_encoder_bytes());
    free(temporary);
}
