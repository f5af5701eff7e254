/* SPDX-License-Identifier: MIT */
/* Blocks of converted traces: blocks scanned where they lie in a file, and blocks of rows kept in
 * memory.
 *
 * Each of many traces has an index of some ten kilobytes. A summary asks several questions.
 * Opening, reading and closing all indexes again for each question takes as long as counting the
 * rows. */
#include "source/source_range.h"

#include "source/source_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mpi/comm.h"
#include "base/pread_all.h"

#define PAGE        UINT64_C(65536)
/* read at once, because mapping, touching and unmapping such files takes longer */
#define SMALL_BYTES ((size_t)256 << 10)
/* blocks of a file, which are searched one after the other */
#define ROWS_BLOCKS 16u
#define ROWS_BYTES  (UINT64_C(24) << 20) /* bytes of all files */

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

/* `bytes` are the file's bytes from `begin` on. Offsets of blocks count from there. Without memory
 * nothing is kept. */
static void keep_rows(struct dft_source *source, uint32_t number, const char *bytes, const struct dft_scanned *scanned,
                      uint64_t begin)
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

        if (!is_kept(block))
            continue;
        memcpy(at, bytes + block->offset, bytes_of(block));
        rows->blocks[rows->count].offset = begin + block->offset;
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

static int scan(struct dft_source *source, uint32_t number, const char *bytes, uint64_t begin, uint64_t end,
                struct dft_decoder *decoder, struct dft_scanned *scanned)
{
    int rc = dft_scan_bytes(source, number, bytes, end - begin, decoder, scanned);

    if (!rc)
        keep_rows(source, number, bytes, scanned, begin);
    for (size_t i = 0; i < scanned->count; i++)
        scanned->blocks[i].offset += begin;
    return rc;
}

int dft_scan_range(struct dft_source *source, uint32_t number, int fd, uint64_t begin, uint64_t end,
                   struct dft_decoder *decoder, struct dft_scanned *scanned)
{
    uint64_t from = begin / PAGE * PAGE;
    char *bytes;
    int rc;

    if (end <= begin)
        return 0;
    if (end - begin <= SMALL_BYTES) {
        bytes = malloc(end - begin);
        rc = bytes ? dft_pread_all(fd, bytes, end - begin, begin) : -ENOMEM;
        if (!rc)
            rc = scan(source, number, bytes, begin, end, decoder, scanned);
        free(bytes);
        return rc;
    }
    bytes = mmap(NULL, end - from, PROT_READ, MAP_PRIVATE, fd, (off_t)from);
    if (bytes == MAP_FAILED)
        return -errno;
    rc = scan(source, number, bytes + (begin - from), begin, end, decoder, scanned);
    munmap(bytes, end - from);
    return rc;
}
