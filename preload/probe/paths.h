/* SPDX-License-Identifier: MIT */
/* Paths: made absolute, named by their 64-bit id, and judged: traced or not. */
#ifndef DFT_PATHS_H
#define DFT_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "thread/state.h"
#include "format/text.h"

/* An absolute path in the making. Lies on the wrapper's stack; a longer path moves to `more`
 * (mapped, to be released). */
#define DFT_PATH_ROOM  464u
#define DFT_PATH_SPARE 16u /* behind it, for reading whole vectors */
struct dft_path {
    uint64_t id; /* 0: no path could be made */
    uint32_t length;
    int traced;
    int unnamed; /* of a descriptor: the kernel does not tell the name (DFT_UNNAMED) */
    char *text;  /* into room or more */
    char *more;
    char buffer[DFT_PATH_ROOM + DFT_PATH_SPARE];
};

/* Fills in `path` with what (dirfd, name) means, as the program would print it: absolute, without
 * empty, `.` and `..` components, symbolic links as written. An empty name is the descriptor
 * itself. The name is the program's memory, as reading.h has found it. self may be NULL: a thread
 * without events has no state yet. Give back with dft_path_done. */
void dft_path_make(struct dft_thread *self, struct dft_path *path, int dirfd, struct dft_text name);
/* A name in this folder; slashes in front of it do not count. */
void dft_path_below(struct dft_path *path, const char *folder, struct dft_text name);
/* What a name that stands in a symbolic link means; `link` is the link's own path. */
void dft_path_beside(struct dft_path *path, const struct dft_path *link, struct dft_text name);
/* What a descriptor is open on, by asking the kernel. Returns its flags (F_GETFL), or below 0. A number
 * that is not open costs one short call. */
long dft_path_of_fd(struct dft_path *path, int fd);
void dft_path_done(struct dft_path *path);

/* Puts the name's text into the ring, if this thread has not done so. Returns the class that the file has
 * of its own. Where aggregates alone are kept, the id may become that of a directory. */
enum dft_io dft_path_define(struct dft_thread *self, struct dft_path *path);
/* While there is no trace yet, so that no thread has a state: the text is kept until there is
 * one. */
void dft_path_keep(const struct dft_path *path);

/* Gives back what `path` has and moves the other one's text there. */
void dft_path_replace(struct dft_path *path, struct dft_path *other);

#endif
