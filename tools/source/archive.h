/* SPDX-License-Identifier: MIT */
/* An archive that is being written: blocks one behind the other in a file that gets its name when it is whole. */
#ifndef DFT_ARCHIVE_H
#define DFT_ARCHIVE_H

#include "format/decode.h"
#include "format/encode.h"
#include "base/outfile.h"
#include "base/map.h"
#include "source/source_object.h"

struct dft_reader;

struct dft_archive {
    struct dft_source *source;
    struct dft_outfile out;
    uint64_t bytes, blocks, events;
    /* Ids of names that its blocks refer to: 1, or 2 when the text is in it. Only where dft_archive_names is used. */
    struct dft_map names;
};

/* Returns 0 or -errno. */
int dft_archive_open(struct dft_archive *archive, struct dft_source *source, const char *path);

/* Puts one block of `length` bytes, with or without its padding; `archive` is a struct dft_archive. Returns 0 or
 * -errno. */
int dft_archive_put(void *archive, const void *block, size_t length);

/* Copies a block as it is. One that cannot be read again is noted and left out. Returns 0 or -errno. */
int dft_archive_copy(struct dft_archive *archive, struct dft_reader *reader, const struct dft_block *block);

/* The names that the block refers to are noted as such (`block`: in memory, verified); and dft_archive_names writes
 * those whose texts are not in the archive. All names of the source must have been fetched. Return 0, -ENOMEM or
 * -errno. */
int dft_archive_refers(struct dft_archive *archive, uint64_t id);
int dft_archive_refers_all(struct dft_archive *archive, struct dft_decoder *decoder,
                           const struct dft_block_header *header, const void *payload);
int dft_archive_names(struct dft_archive *archive, struct dft_encoder *encoder);

/* Gives the file its name; durable: only after its bytes are on the disk. Returns 0 or -errno, and then nothing is left. */
int dft_archive_commit(struct dft_archive *archive, int durable);
/* Frees all; a file without its name is gone. Harmless after commit and on zeroed memory. */
void dft_archive_fini(struct dft_archive *archive);

/* Blocks that belong into an archive: every type, also those of newer versions, but INDEX, whose offsets would be
 * wrong, and ORIGIN, which is of one file; and none that says what another one does. */
int dft_archive_wants(const struct dft_block *block);

#endif
