/* SPDX-License-Identifier: MIT */
/* The file systems that this process sees. */
#ifndef DFT_MOUNTS_H
#define DFT_MOUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "format/text.h"

/* Reads the mounts once: a forked child may be where there is no /proc. Takes 30 us, so of the ranks of a host
 * the first one does it for all. dft_process_lock is held. */
void dft_mounts_begin(void);
/* The lines of dft_mounts_read, as far as it is known by now; then lines "directory, space, mount point, space,
 * type" of directories that lead there by a link. dft_process_lock is held. */
struct dft_text dft_mounts_now(void);
/* A file with this path is used. Mounts that were made since, and directories that lead elsewhere by a link, come
 * to be known by that: two system calls for each directory that is met first. Without dft_process_lock. */
void dft_mounts_meet(const char *path, uint32_t length);

/* Puts a line "mount point, space, type" for each mount whose files are traced into `lines`. Where
 * the lines do not fit, the last ones are missing. Returns the length; 0: nothing is known. */
size_t dft_mounts_read(char *lines, size_t capacity);
/* The same from the text of a mountinfo file that comes in pieces. `reader` is all zero at first. */
struct dft_mounts_reader {
    size_t used;   /* of the lines: whole lines */
    size_t length; /* of the line in the making, behind them */
    unsigned field;
    size_t in_field;         /* bytes of the field so far */
    unsigned char separated; /* the field so far is the "-" before the type */
    unsigned char types;     /* 1: this field is the type; 2: the type was before */
};
void dft_mounts_put(struct dft_mounts_reader *reader, const char *bytes, size_t count, char *lines, size_t capacity);

#endif
