/* SPDX-License-Identifier: MIT */
/* Tries whether traces can be written. */
#ifndef DFT_DFTRUN_FOLDER_H
#define DFT_DFTRUN_FOLDER_H

#include "dftrun/dftrun.h"

/* Makes the directories that this file lies in. Returns 0 or -errno. */
int dft_folder_make(const char *file);
/* Makes one directory. Returns 0 or -errno. */
int dft_folder_make_one(const char *path, mode_t mode);
/* The path as it is from the working directory. Returns 0 or -errno. */
int dft_folder_absolute(char absolute[PATH_MAX], const char *path);
/* The same of all directories in a value of DFTRACER_DATA_DIR. The caller frees the result. NULL: no memory. */
char *dft_folder_data_dirs(const char *list);
/* Can files that begin with this absolute prefix be created, and can they hold anything? Leaves
 * nothing behind. Returns 0 or -errno. */
int dft_folder_try(const char *prefix);

#endif
