/* `dftmerge-mpi merge -o OUT`: all ranks write into one file, which is byte for byte what one process writes.
 *
 * All ranks know all headers, and so how long each block is and where it goes; only how many bytes are kept of a COVERED
 * block (texts of names) must be looked at first, by whoever reads it. A block that then cannot be read again leaves a
 * hole: all is written once more without it. The file gets its length before the others open it: a network file system
 * may otherwise take what lies between two pieces of one rank for zeros, and write them over another rank's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/comm.h"
#include "merge/merge.h"
#include "source/source_share.h"
#include "source/source_notes.h"
#include "source/source_read.h"

#define BUFFER_BYTES ((size_t)1 << 20)

struct together {
    struct dft_archive *archive;
    const struct dft_block *blocks;
    size_t count;
    const struct dft_block **mine;
    size_t nmine;
    uint64_t *lengths; /* of each block, as it comes to stand in the file; 0: it does not come along */
    uint8_t *lost;     /* of mine: could not be read again */
    uint64_t bytes;    /* of all */
    struct dft_reader *reader;
    struct dft_encoder *encoder;
    int fd;       /* the file; -1: not open */
    char *buffer; /* what goes to `at`, once it is full or what follows goes elsewhere */
    size_t used;
    uint64_t at;
};

static uint64_t padded(uint64_t length)
{
    return (length + 7) & ~UINT64_C(7);
}

/* --- what goes where ------------------------------------------------------------------------------------------------ */

static int prepare(struct together *together)
{
    struct dft_source *source = together->archive->source;
    size_t n = 0;

    together->blocks = dft_source_blocks(source, &together->count);
    together->mine = malloc((together->count + 1) * sizeof(const struct dft_block *));
    together->lengths = malloc((together->count + 1) * sizeof *together->lengths);
    together->lost = calloc(together->count + 1, 1);
    together->buffer = malloc(BUFFER_BYTES);
    together->reader = dft_reader_create(source);
    together->encoder = dft_merge_encoder();
    if (!together->mine || !together->lengths || !together->lost || !together->buffer || !together->reader ||
        !together->encoder)
        return -ENOMEM;
    for (size_t i = 0; i < together->count; i++)
        if (dft_archive_wants(&together->blocks[i]) || together->blocks[i].state == DFT_BLOCK_COVERED)
            together->mine[n++] = &together->blocks[i];
    together->nmine = dft_share_blocks(source, together->mine, n);
    return 0;
}

/* Each rank those of its blocks; the sum is all of them. */
static int measure(struct together *together)
{
    int rc = 0;

    memset(together->lengths, 0, together->count * sizeof *together->lengths);
    for (size_t k = 0; k < together->nmine && !rc; k++) {
        const struct dft_block *block = together->mine[k];
        size_t i = (size_t)(block - together->blocks);
        const void *text;
        long length = (long)sizeof(struct dft_block_header) + (long)block->stored;

        if (together->lost[i])
            continue;
        if (!dft_archive_wants(block))
            length = dft_merge_names_of(together->reader, together->encoder, block, &text);
        together->lengths[i] = length < 0 ? 0 : padded((uint64_t)length);
        rc = length < 0 ? (int)length : 0;
    }
    rc = dft_comm_agree(rc);
    if (rc)
        return rc;
    dft_comm_sum(together->lengths, together->count);
    together->bytes = 0;
    for (size_t i = 0; i < together->count; i++)
        together->bytes += together->lengths[i];
    return 0;
}

/* --- writing -------------------------------------------------------------------------------------------------------- */

static int flush(struct together *together)
{
    int rc = dft_outfile_put(together->fd, together->buffer, together->used, together->at);

    together->at += together->used;
    together->used = 0;
    return rc;
}

static int put(struct together *together, uint64_t to, const void *bytes, size_t length)
{
    int rc = 0;

    if (to != together->at + together->used) {
        rc = flush(together);
        together->at = to;
    }
    while (length && !rc) {
        size_t n = BUFFER_BYTES - together->used < length ? BUFFER_BYTES - together->used : length;

        memcpy(together->buffer + together->used, bytes, n);
        together->used += n;
        bytes = (const char *)bytes + n;
        length -= n;
        if (together->used == BUFFER_BYTES)
            rc = flush(together);
    }
    return rc;
}

/* Returns 0, -errno, or 1: it could not be read, or is not what it was. */
static int write_block(struct together *together, const struct dft_block *block, uint64_t to, uint64_t room)
{
    static const char zeros[8];
    struct dft_block_header header;
    const void *payload, *bytes;
    long length;
    int rc;

    if (dft_archive_wants(block)) {
        rc = dft_reader_block(together->reader, block, &header, &payload);
        if (rc)
            return rc == -ENOMEM ? rc : 1;
        bytes = (const char *)payload - sizeof header;
        length = (long)sizeof header + (long)header.stored;
    } else {
        length = dft_merge_names_of(together->reader, together->encoder, block, &bytes);
        if (length < 0)
            return (int)length;
    }
    if (padded((uint64_t)length) != room)
        return 1;
    rc = put(together, to, bytes, (size_t)length);
    return rc ? rc : put(together, to + (uint64_t)length, zeros, (size_t)(room - (uint64_t)length));
}

/* Returns 0, -errno, or 1: a block is lost. */
static int write_mine(struct together *together)
{
    uint64_t to = 0, progress = 0;
    int rc = 0, lost = 0;

    together->used = 0;
    for (size_t i = 0, k = 0; i < together->count && k < together->nmine && rc >= 0; i++) {
        if (together->mine[k] == &together->blocks[i]) {
            dft_source_progress(together->archive->source, "blocks copied", ++progress, together->nmine);
            rc = together->lengths[i] ? write_block(together, together->mine[k], to, together->lengths[i]) : 0;
            if (rc > 0)
                lost = together->lost[i] = 1;
            k++;
        }
        to += together->lengths[i];
    }
    if (rc >= 0)
        rc = flush(together);
    return rc ? rc : lost;
}

/* --- the file ------------------------------------------------------------------------------------------------------- */

static int resize(struct together *together, const char *path)
{
    int rc = 0;

    if (dft_comm_rank())
        return 0;
    if (!together->archive->out.stream)
        rc = dft_outfile_open(&together->archive->out, path);
    if (!rc)
        together->fd = fileno(together->archive->out.stream);
    return !rc && ftruncate(together->fd, (off_t)together->bytes) < 0 ? -errno : rc;
}

/* The file that rank 0 has made, for the others. */
static int open_temporary(struct together *together)
{
    int rc = dft_outfile_join(&together->archive->out, &together->fd);

    if (rc)
        fputs("dftmerge: not every rank can open what is to become OUT: it must be where all ranks see it\n", stderr);
    return rc;
}

static int write_all(struct together *together, const char *path)
{
    int rc, opened = 0;

    do {
        rc = measure(together);
        if (!rc)
            rc = dft_comm_agree(resize(together, path));
        if (!rc && !opened)
            rc = open_temporary(together);
        opened = 1;
        if (!rc)
            rc = dft_comm_agree(write_mine(together));
    } while (rc > 0);
    rc = dft_comm_agree(dft_outfile_leave(&together->fd, rc, 1)); /* all must be there before it gets its name */
    if (!rc && !dft_comm_rank() && fseeko(together->archive->out.stream, (off_t)together->bytes, SEEK_SET) < 0)
        rc = -errno;
    return rc;
}

int dft_merge_together(struct dft_archive *archive, const char *path)
{
    struct together together = {.archive = archive, .fd = -1};
    int rc = dft_comm_agree(prepare(&together)), noted;

    if (!rc)
        rc = write_all(&together, path);
    archive->bytes = together.bytes;
    for (size_t i = 0; i < together.count && !rc; i++)
        archive->blocks += together.lengths[i] != 0;
    free(together.mine);
    free(together.lengths);
    free(together.lost);
    free(together.buffer);
    dft_reader_destroy(together.reader);
    dft_merge_encoder_free(together.encoder);
    noted = dft_share_notes(archive->source);
    return rc ? rc : noted;
}
