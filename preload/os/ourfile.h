/* SPDX-License-Identifier: MIT */
/* Files that the library has open, known by device and inode. The program, or a process that shares
 * its descriptors, may have put another file on the number by now. */
#ifndef DFT_OURFILE_H
#define DFT_OURFILE_H

#include <stdint.h>
#include <sys/stat.h>

struct dft_ourfile {
    uint64_t device, inode;
    uint32_t owner;
};

static inline struct dft_ourfile dft_ourfile_of(const struct stat *st)
{
    return (struct dft_ourfile){st->st_dev, st->st_ino, st->st_uid};
}

static inline int dft_ourfile_is(const struct dft_ourfile *ours, const struct stat *st)
{
    return st->st_dev == ours->device && st->st_ino == ours->inode;
}

/* Is our file open on this number? */
int dft_ourfile_has(const struct dft_ourfile *ours, int fd);
/* Closes the number where it shows our file. A number with another file stays open. */
void dft_ourfile_close(const struct dft_ourfile *ours, int fd);

#endif
