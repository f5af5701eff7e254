/* SPDX-License-Identifier: MIT */
/* The index of foreign traces: for each a file with what it was converted to, and an ORIGIN block
 * that says what it was made from. It lies in DFT_INDEX_DIRECTORY beside the trace, or, where
 * nothing may be written there, in the user's cache directory. Made under another name and renamed
 * when it is whole: two programs at once are safe, whoever comes last wins, and both have made the
 * same. */
#ifndef DFT_IMPORTED_INDEX_H
#define DFT_IMPORTED_INDEX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "format/decode.h"
#include "format/encode.h"
#include "dftracer/pfw.h"

/* ORIGIN stands at the beginning of an index, in a room of this size. */
#define DFT_ORIGIN_ROOM 4096u

/* What tells one state of a file from another. */
#define DFT_INDEX_DIRECTORY ".dftindex" /* index files beside a trace lie there */

struct dft_index_key {
    uint64_t bytes, mtime_ns, inode;
    uint64_t changed_ns; /* ctime: a trace may be replaced by one of the same size and mtime, in the same inode */
    uint64_t identity;   /* of the path, as far as it tells files apart */
    uint64_t converter;  /* and how it is read: dft_pfw_version */
};

void dft_index_key_of(struct dft_index_key *key, const struct stat *st, uint64_t converter);

/* The place of the index of `trace`: 0 beside it, 1 in the cache. NULL: there is none, or no
 * memory. Owned by the caller. */
char *dft_index_path(const char *trace, int where);

/* The index at `path`, if there is one that was made of this very file: its descriptor, and what
 * was found in the trace; else -1. Another one may take its name at any time: what is open stays
 * what it is. */
int dft_index_open(const char *path, const struct dft_index_key *key, struct dft_decoder *decoder,
                   struct dft_pfw_counts *counts);

/* An index that is being made, in a directory that is held open. */
struct dft_index_file {
    int fd, directory; /* -1: none */
    char *name, *temporary;
};

/* Begins a new index for `path`. file->fd is positioned behind the room for ORIGIN. mode: of what it is made from; the
 * index is no more readable. Returns 0 or -errno. */
int dft_index_begin(struct dft_index_file *file, const char *path, mode_t mode);

/* Writes ORIGIN and gives the file, of `length` bytes, its name. On an error nothing is left of it.
 * Returns 0 or -errno. */
int dft_index_end(struct dft_index_file *file, uint64_t length, const struct dft_index_key *key,
                  const struct dft_pfw_counts *counts, struct dft_encoder *encoder);
/* Leaves nothing of the file. */
void dft_index_abort(struct dft_index_file *file);

#endif
