/* SPDX-License-Identifier: MIT */
/* A file that is made whole or not at all. The file has a temporary name beside its own, and is
 * renamed at the end. It may be gzip, in members that can be decompressed independently of each
 * other. */
#ifndef DFT_OUTFILE_H
#define DFT_OUTFILE_H

#include <stdint.h>
#include <stdio.h>

#include "base/whole_file.h"

struct dft_gzip;

struct dft_outfile {
    FILE *stream; /* where to write; buffered, and keeps errors until commit */
    struct dft_whole_file whole;
    struct dft_gzip *gzip;
    FILE *below; /* stream of the file itself, or standard output */
    int error;   /* first error of the stream; 0: none */
};

/* Is OUT of a command a directory? It is when it ends in '/' or is a directory; all else is a file.
 * All commands use this rule. */
int dft_outfile_is_directory(const char *path);
/* Makes a directory that does not exist yet, but not the directories above. Returns 0 or -errno. */
int dft_outfile_make_directory(const char *path);
/* The path of a file in a directory, from malloc. NULL: no memory. */
char *dft_outfile_inside(const char *directory, const char *name);
/* Says on standard error why nothing was written to `path`, and names a missing directory. */
void dft_outfile_say(const char *path, int error);

/* Opens *file for `path`, which the user named; the caller must not move *file afterwards. "-" is standard output. A
 * path that ends in .gz gives gzip. The temporary name has another ending than the path, so that a
 * search for traces does not find the file. Returns 0 or -errno. */
int dft_outfile_open(struct dft_outfile *file, const char *path);
/* The same for a name that the user did not give: it lies in a directory, which somebody else may write to. A link or a
 * pipe of that name is replaced, and not followed. */
int dft_outfile_open_inside(struct dft_outfile *file, const char *path);

/* Ends the file and gives the file its name. durable: only after its bytes are on the disk. Returns
 * 0, or -errno of the first error since open, and then leaves nothing. */
int dft_outfile_commit(struct dft_outfile *file, int durable);

/* Commits when `rc` is 0, else forgets the file. Returns the first error. When `rc` is -EIO, that
 * is the error of the stream. */
int dft_outfile_close(struct dft_outfile *file, int rc, int durable);

/* Forgets the file and leaves nothing. Harmless after commit, and on zeroed memory. */
void dft_outfile_abort(struct dft_outfile *file);

#endif
