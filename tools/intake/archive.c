/* SPDX-License-Identifier: MIT */
/* Writes blocks into archives; see archive.h. */
#include "intake/archive.h"
#include "intake/source_read.h"
#include "base/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "format/decode.h"
#include "format/encode.h"
#include "format/hash.h"

#define REFERRED 1u
#define DEFINED  2u

/* Bounds of one NAMES block: number of names, and bytes of text. */
#define NAMES_MAX 4096u
#define TEXT_MAX  ((size_t)1 << 20)

int dft_archive_open(struct dft_archive *archive, struct dft_source *source, const char *path, int is_named)
{
    *archive = (struct dft_archive){.source = source};
    return is_named ? dft_outfile_open(&archive->out, path) : dft_outfile_open_inside(&archive->out, path);
}

static int put(struct dft_archive *archive, const void *bytes, size_t length)
{
    errno = 0;
    if (fwrite(bytes, 1, length, archive->out.stream) != length)
        return errno ? -errno : -EIO;
    archive->bytes += length;
    return 0;
}

/* A block begins at a multiple of 8. A block found elsewhere in a damaged file gets an aligned
 * place again. */
int dft_archive_put(void *context, const void *block, size_t length)
{
    static const char zeros[8];
    struct dft_archive *archive = context;
    int error = put(archive, block, length);

    archive->blocks++;
    return error ? error : put(archive, zeros, -length & 7);
}

int dft_archive_copy(struct dft_archive *archive, struct dft_reader *reader, const struct dft_block *block)
{
    struct dft_block_header header;
    const void *payload;
    int error = dft_reader_block(reader, block, &header, &payload);

    if (error)
        return error == -ENOMEM ? error : 0; /* the block was noted; the rest is used */
    if (block->type == DFT_BLOCK_EVENTS)
        archive->events += block->count;
    return dft_archive_put(archive, (const char *)payload - sizeof header, sizeof header + header.stored);
}

/* --- names ------------------------------------------------------------------------------------ */

static int note_name(struct dft_archive *archive, uint64_t id, uint64_t what)
{
    uint64_t *value = id ? dft_map_put(&archive->names, id) : NULL;

    if (value && *value < what)
        *value = what;
    return !id || value ? 0 : -ENOMEM;
}

int dft_archive_refers(struct dft_archive *archive, uint64_t id)
{
    return note_name(archive, id, REFERRED);
}

int dft_archive_refers_all(struct dft_archive *archive, struct dft_decoder *decoder,
                           const struct dft_block_header *header, const void *payload)
{
    const struct dft_name *names;
    const char *reason;
    uint32_t count = 0;
    int rc = dft_decode_names(decoder, header, payload, &names, &count, &reason);

    if (rc)
        /* the reader of the block itself notes what is wrong with the block */
        return rc == -ENOMEM ? rc : 0;
    for (uint32_t i = 0; !rc && i < count; i++)
        rc = note_name(archive, names[i].id, names[i].text.bytes ? DEFINED : REFERRED);
    return rc;
}

static int by_id(const void *left, const void *right)
{
    const struct dft_name *a = left, *b = right;

    return a->id < b->id ? -1 : a->id > b->id;
}

static int by_text(const void *left, const void *right)
{
    const struct dft_name *a = left, *b = right;
    uint32_t n = a->text.length < b->text.length ? a->text.length : b->text.length;
    int order = n ? memcmp(a->text.bytes, b->text.bytes, n) : 0;

    return order                              ? order
           : a->text.length != b->text.length ? (a->text.length < b->text.length ? -1 : 1)
                                              : by_id(left, right);
}

/* Finds names that blocks refer to, whose text the archive lacks and the source has. */
static struct dft_name *missing_names(struct dft_archive *archive, uint32_t *count)
{
    struct dft_name *names = calloc(archive->names.count + 1, sizeof *names);
    uint32_t n = 0;

    for (size_t i = 0; names && i < archive->names.capacity; i++) {
        struct dft_map_slot *slot = &archive->names.slots[i];
        struct dft_text text;

        if (!slot->key || slot->value != REFERRED)
            continue;
        text = dft_names_text(dft_source_names_table(archive->source), slot->key);
        slot->value = DEFINED;
        if (text.bytes)
            names[n++] = (struct dft_name){
                .id = slot->key, .text = text, .cut = dft_name_id(text.bytes, text.length) != slot->key};
    }
    *count = n;
    return names;
}

/* Neighbours in the order of texts share their beginnings. */
int dft_archive_put_names(struct dft_archive *archive, struct dft_encoder *encoder, struct dft_name *names,
                          uint32_t count)
{
    uint32_t from = 0;
    int rc = 0;

    if (count)
        qsort(names, count, sizeof *names, by_text);
    while (!rc && from < count) {
        size_t bytes = names[from].text.length;
        const void *block;
        uint32_t to;
        long length;

        for (to = from + 1; to < count && to - from < NAMES_MAX && bytes + names[to].text.length <= TEXT_MAX; to++)
            bytes += names[to].text.length;
        length = dft_encode_names(encoder, 0, names + from, to - from, &block);
        rc = length < 0 ? (int)length : dft_archive_put(archive, block, (size_t)length);
        from = to;
    }
    return rc;
}

int dft_archive_names(struct dft_archive *archive, struct dft_encoder *encoder)
{
    uint32_t count;
    struct dft_name *names = missing_names(archive, &count);
    int rc = names ? dft_archive_put_names(archive, encoder, names, count) : -ENOMEM;

    free(names);
    return rc;
}

/* --- the end ---------------------------------------------------------------------------------- */

int dft_archive_commit(struct dft_archive *archive, int durable)
{
    return dft_outfile_commit(&archive->out, durable);
}

void dft_archive_fini(struct dft_archive *archive)
{
    dft_outfile_abort(&archive->out);
    dft_map_fini(&archive->names);
}

int dft_archive_wants(const struct dft_block *block)
{
    return block->state != DFT_BLOCK_IDENTICAL && block->state != DFT_BLOCK_COVERED && block->type != DFT_BLOCK_INDEX &&
           block->type != DFT_BLOCK_ORIGIN;
}
