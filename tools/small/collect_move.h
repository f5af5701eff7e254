/* SPDX-License-Identifier: MIT */
/* Moves one file into another directory, whole or not at all. */
#ifndef DFT_COLLECT_MOVE_H
#define DFT_COLLECT_MOVE_H

enum dft_collected {
    DFT_COLLECTED_MOVED = 1,
    DFT_COLLECTED_SAME = 2, /* the directory had all of the file already: the file was removed */
    DFT_COLLECTED_GONE = 3, /* nothing to do: it lies there, or somebody else has moved it meanwhile */
};

/* Moves the file. No instant is without a whole file: the file goes only when its copy is on the disk.
 * A rest of an earlier attempt is replaced. A file of that name with another content stays, and the
 * result is -EEXIST. Where the copy's name, which is that of the file and ".moving", is taken, it is
 * -ENOTUNIQ. Returns enum dft_collected or -errno; the file then stays where it is. */
int dft_collect_move(const char *path, const char *directory);

#endif
