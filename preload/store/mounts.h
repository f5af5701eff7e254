/* SPDX-License-Identifier: MIT */
/* The file systems that this process sees. */
#ifndef DFT_MOUNTS_H
#define DFT_MOUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "store/mounts_met.h"

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
