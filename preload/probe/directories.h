/* SPDX-License-Identifier: MIT */
/* The paths of directories, for names relative to them. What a thread does not know, paths.c asks
 * the kernel for. */
#ifndef DFT_DIRECTORIES_H
#define DFT_DIRECTORIES_H

#include "probe/paths.h"

/* The working directory without a slash at its end; length 0: it is not known. */
const char *dft_directory_of_work(struct dft_thread *self, uint32_t *length);

/* The same from the kernel, now. Returns the length. */
uint32_t dft_directory_ask(char *text, size_t capacity);

/* What is known of the directory behind a descriptor; NULL: nothing, or there is no state. */
const struct dft_dir *dft_directory_find(struct dft_thread *self, int fd);

/* Keeps its path. Nothing happens without a state. */
void dft_directory_keep(struct dft_thread *self, int fd, const char *text, uint32_t length);

/* Something was renamed: a directory above the working directory, or above one that is open, may
 * have another name. */
void dft_directories_renamed(void);

/* The working directory is another one now. */
void dft_directory_of_work_changed(void);

/* Makes sure that the thread knows its working directory: later nobody may ask. */
void dft_directory_of_work_know(struct dft_thread *self);

/* A walk that changes it on its way begins (1) or ends (-1). */
void dft_directories_walking(int more);

/* Remembers the path of a file that was just opened, for calls relative to it: of a directory for
 * long, of what may be one until the next is opened. */
void dft_directory_remember(struct dft_thread *self, const struct dft_path *path, int fd, int is_directory);

#endif
