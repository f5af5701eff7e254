/* SPDX-License-Identifier: MIT */
/* An archive that is being written. Its blocks follow each other in a file, which gets its name
 * when the file is whole. */
#ifndef DFT_ARCHIVE_H
#define DFT_ARCHIVE_H

#include "format/decode.h"
#include "format/encode.h"
#include "base/outfile.h"
#include "base/map.h"
#include "object/object.h"

struct dft_reader;

struct dft_archive {
    struct dft_source *source;
    struct dft_outfile out;
    uint64_t bytes, blocks, events;
    /* Ids of the names that its blocks refer to. The value is 2 when the archive has the text, else
     * 1. Only users of dft_archive_names fill this map. */
    struct dft_map names;
};

/* is_named: the user named this path; else it is not followed if it is a link. Returns 0 or -errno. */
int dft_archive_open(struct dft_archive *archive, struct dft_source *source, const char *path, int is_named);

/* Puts one block of `length` bytes, with or without its padding. `archive` is a struct dft_archive.
 * Returns 0 or -errno. */
int dft_archive_put(void *archive, const void *block, size_t length);

/* Copies a block as it is. A block that cannot be read again is noted and left out. Returns 0 or
 * -errno. */
int dft_archive_copy(struct dft_archive *archive, struct dft_reader *reader, const struct dft_block *block);

/* dft_archive_refers and dft_archive_refers_all note the names that a block refers to (`block`: in
 * memory, verified). dft_archive_names writes the texts of noted names that the archive does not
 * have yet. The caller must have fetched all names of the source. All return 0, -ENOMEM or
 * -errno. */
int dft_archive_refers(struct dft_archive *archive, uint64_t id);
int dft_archive_refers_all(struct dft_archive *archive, struct dft_decoder *decoder,
                           const struct dft_block_header *header, const void *payload);
int dft_archive_names(struct dft_archive *archive, struct dft_encoder *encoder);

/* Writes names with their texts, and sorts them by text. Returns 0 or -errno. */
int dft_archive_put_names(struct dft_archive *archive, struct dft_encoder *encoder, struct dft_name *names,
                          uint32_t count);

/* Gives the file its name. durable: only after its bytes are on the disk. Returns 0 or -errno, and
 * on an error leaves no file. */
int dft_archive_commit(struct dft_archive *archive, int durable);
/* Frees everything and removes a file without its name. Harmless after commit and on zeroed
 * memory. */
void dft_archive_fini(struct dft_archive *archive);

/* Does a block belong into an archive? Blocks of all types do, also types of newer versions, with
 * three exceptions. INDEX does not, for its offsets would be wrong. ORIGIN does not, for it
 * describes one file. A block does not, either, when another block says the same. */
int dft_archive_wants(const struct dft_block *block);

#endif
