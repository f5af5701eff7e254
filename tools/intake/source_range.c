/* SPDX-License-Identifier: MIT */
/* Scans a range of a file; and blocks of rows of converted traces, kept in memory.
 *
 * The file is read, not mapped: a page of a mapping that is missing, because somebody cut the file, the disk fails or a
 * tmpfs is full, would end the program. Reading a hole of a tmpfs takes none of its room, either. Each of many traces
 * has an index of some ten kilobytes. A summary asks several queries. Opening, reading and closing all indexes again
 * for each query takes as long as counting the rows. */
#include "intake/source_range.h"

#include "object/source_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open_regular.h"
#include "base/pread_all.h"
#include "format/block.h"
#include "mpi/comm.h"
#include "object/source_notes.h"

#define WINDOW_BYTES ((size_t)256 << 10) /* fits into a processor's cache */
#define PAGE_BYTES   ((size_t)4096)
#define BAD_PAGES    64u /* a failing disk takes seconds for each */
/* blocks of a file, which are searched one after the other */
#define ROWS_BLOCKS  16u
#define ROWS_BYTES   (UINT64_C(24) << 20) /* bytes of all files */

struct dft_kept_rows {
    uint32_t count;
    struct {
        uint64_t offset; /* offset of the block in the file */
        const char *bytes;
    } blocks[ROWS_BLOCKS];
};

/* --- rows ------------------------------------------------------------------------------------- */

static int is_kept(const struct dft_block *block)
{
    return block->type == DFT_BLOCK_BUCKETS;
}

static size_t bytes_of(const struct dft_block *block)
{
    return sizeof(struct dft_block_header) + block->stored;
}

/* Without memory nothing is kept. */
void dft_rows_keep(struct dft_source *source, uint32_t number, int fd, const struct dft_scanned *scanned)
{
    struct dft_kept_rows *rows;
    size_t capacity = sizeof *rows, count = 0;
    char *at;

    for (size_t i = 0; i < scanned->count; i++) {
        capacity += is_kept(&scanned->blocks[i]) ? bytes_of(&scanned->blocks[i]) : 0;
        count += (size_t)is_kept(&scanned->blocks[i]);
    }
    dft_rows_forget(source, number);
    if (!count || count > ROWS_BLOCKS || dft_comm_size() > 1)
        return;
    if (atomic_fetch_add(&source->rows_kept, capacity) + capacity > ROWS_BYTES || !(rows = malloc(capacity))) {
        atomic_fetch_sub(&source->rows_kept, capacity);
        return;
    }
    rows->count = 0;
    at = (char *)(rows + 1);
    for (size_t i = 0; i < scanned->count; i++) {
        const struct dft_block *block = &scanned->blocks[i];

        if (!is_kept(block) || dft_pread_all(fd, at, bytes_of(block), block->offset))
            continue;
        rows->blocks[rows->count].offset = block->offset;
        rows->blocks[rows->count++].bytes = at;
        at += bytes_of(block);
    }
    source->files[number].rows = rows;
}

const char *dft_rows_find(const struct dft_source_file *file, const struct dft_block *block)
{
    for (uint32_t i = 0; file->rows && is_kept(block) && i < file->rows->count; i++)
        if (file->rows->blocks[i].offset == block->offset)
            return file->rows->blocks[i].bytes;
    return NULL;
}

void dft_rows_forget(struct dft_source *source, uint32_t number)
{
    free(source->files[number].rows);
    source->files[number].rows = NULL;
}

/* --- scanning --------------------------------------------------------------------------------- */

struct range {
    int fd;
    uint64_t at, end;
    char *bytes;
    size_t length, capacity;
    unsigned bad; /* pages that could not be read */
};

/* Passes over a page that cannot be read. */
static void pass_over(struct dft_source *source, uint32_t number, struct range *range, int error)
{
    const uint64_t left = range->end - range->at, page = PAGE_BYTES - range->at % PAGE_BYTES;

    if (!range->bad++)
        dft_source_note(source, 1, "%s: cannot be read at %llu: %s", source->files[number].path,
                        (unsigned long long)range->at, strerror(error));
    range->at = range->bad == BAD_PAGES ? range->end : range->at + (page < left ? page : left);
}

/* Reads a window at range->at: up to its end, that of the file, or a page that cannot be read. Returns the errno of
 * that page. */
static int fill(struct range *range)
{
    const uint64_t left = range->end - range->at;
    const size_t wanted = left < range->capacity ? (size_t)left : range->capacity;
    ssize_t n;

    range->length = 0;
    while (range->length < wanted) {
        n = pread(range->fd, range->bytes + range->length, wanted - range->length, (off_t)(range->at + range->length));
        if (n < 0 && errno != EINTR)
            return errno;
        if (!n) /* the file has become shorter */
            return range->end = range->at + range->length, 0;
        range->length += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int grow(struct range *range)
{
    size_t capacity = 4 * range->capacity < DFT_WINDOW_MAX ? 4 * range->capacity : DFT_WINDOW_MAX;
    char *bytes = realloc(range->bytes, capacity);

    range->bytes = bytes ? bytes : range->bytes;
    range->capacity = bytes ? capacity : range->capacity;
    return bytes ? 0 : -ENOMEM;
}

static int scan(struct dft_source *source, uint32_t number, struct range *range, struct dft_decoder *decoder,
                struct dft_scanned *scanned)
{
    int rc = 0;

    while (!rc && range->at < range->end) {
        uint64_t data =
            range->end - range->at > range->capacity ? dft_data_from(range->fd, range->at, range->end) : range->at;
        struct dft_stretch stretch;
        size_t used;
        int error;

        source->files[number].skipped.holes += data - range->at;
        range->at = data;
        if (data == range->end)
            break;
        error = fill(range);
        if (error && !range->length) {
            pass_over(source, number, range, error);
            continue;
        }
        /* a page that cannot be read ends the window, and the block that it lies in */
        stretch = (struct dft_stretch){range->bytes, range->length, range->at,
                                       error ? 0 : range->end - range->at - range->length};
        rc = dft_scan_stretch(source, number, &stretch, &used, decoder, scanned);
        range->at += used;
        if (!rc && !used && stretch.rest)
            rc = grow(range);
    }
    return rc;
}

int dft_scan_range(struct dft_source *source, uint32_t number, int fd, uint64_t begin, uint64_t end,
                   struct dft_decoder *decoder, struct dft_scanned *scanned)
{
    struct range range = {.fd = fd, .at = begin, .end = end};
    int rc;

    if (end <= begin)
        return 0;
    range.capacity = end - begin < WINDOW_BYTES ? (size_t)(end - begin) : WINDOW_BYTES;
    range.bytes = malloc(range.capacity);
    rc = range.bytes ? scan(source, number, &range, decoder, scanned) : -ENOMEM;
    free(range.bytes);
    return rc;
}
