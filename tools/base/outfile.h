/* SPDX-License-Identifier: MIT */
/* A file that is made whole or not at all: written under a temporary name beside its own, renamed at the end;
 * optionally gzip, in members that can be decompressed independently of each other. */
#ifndef DFT_OUTFILE_H
#define DFT_OUTFILE_H

#include <stdint.h>
#include <stdio.h>

struct dft_gzip;

struct dft_outfile {
    FILE *stream; /* where to write; buffered, errors stay with it until commit */
    char *path;   /* NULL: standard output */
    char *temporary;
    struct dft_gzip *gzip;
    FILE *below; /* the file itself */
    int error;   /* of the stream: the first one; 0: none */
};

/* OUT of a command, the same for all of them: one that ends in '/', or is a directory, is a directory; all else is a file. */
int dft_outfile_is_directory(const char *path);
/* Makes it when it is not there; not those above it. Returns 0 or -errno. */
int dft_outfile_make_directory(const char *path);
/* The path of a file in it, from malloc. NULL: no memory. */
char *dft_outfile_inside(const char *directory, const char *name);
/* Says on standard error why nothing was written to `path`, and names the directory that is
 * missing. */
void dft_outfile_say(const char *path, int error);

/* Opens for `path`, in *file, which is not to be moved then; "-" is standard output, a path that ends in .gz gives gzip. The temporary name does not end as the
 * path does, so that a search for traces does not meet it. Returns 0 or -errno. */
int dft_outfile_open(struct dft_outfile *file, const char *path);

/* Ends the file and gives it its name; durable: only after its bytes are on the disk. Returns 0, or -errno of the
 * first error since it was opened, and then nothing is left. */
int dft_outfile_commit(struct dft_outfile *file, int durable);

/* Commits where `rc` is 0, else forgets the file. Returns the first error: of the stream where `rc` is -EIO. */
int dft_outfile_close(struct dft_outfile *file, int rc, int durable);

/* Forgets the file; nothing is left. Harmless after commit, and on zeroed memory. */
void dft_outfile_abort(struct dft_outfile *file);

#endif
