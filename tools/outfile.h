/* A file that is made whole or not at all: written under a temporary name beside its own, renamed at the end;
 * optionally gzip, in members that can be decompressed independently of each other. */
#ifndef DFT_OUTFILE_H
#define DFT_OUTFILE_H

#include <stdio.h>

struct dft_outfile {
    FILE *stream; /* where to write; buffered, errors stay with it until commit */
    char *path;   /* NULL: standard output */
    char *temporary;
    void *gzip;
};

/* Opens for `path`; "-" is standard output, a path that ends in .gz gives gzip. The temporary name does not end as the
 * path does, so that a search for traces does not meet it. Returns 0 or -errno. */
int dft_outfile_open(struct dft_outfile *file, const char *path);

/* Would `path` become a plain file under a temporary name, whose bytes may be written in any order? */
int dft_outfile_is_plain(const char *path);

/* Ends the file and gives it its name; durable: only after its bytes are on the disk. Returns 0, or -errno of the
 * first error since it was opened, and then nothing is left. */
int dft_outfile_commit(struct dft_outfile *file, int durable);

/* Forgets the file; nothing is left. Harmless after commit, and on zeroed memory. */
void dft_outfile_abort(struct dft_outfile *file);

#endif
