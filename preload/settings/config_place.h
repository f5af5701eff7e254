/* SPDX-License-Identifier: MIT */
/* Relative names of files in settings: they mean what they mean where the first process of a job begins. */
#ifndef DFT_CONFIG_PLACE_H
#define DFT_CONFIG_PLACE_H

#include <stddef.h>

/* One entry of DFTRACER_DATA_DIR: its text without `!`. */
enum dft_data_entry_kind { DFT_DATA_PATH, DFT_DATA_ALL, DFT_DATA_PIPES, DFT_DATA_SOCKETS };
struct dft_data_entry {
    const char *text;
    size_t length;
    int traced;
    enum dft_data_entry_kind kind;
};
/* Returns where the next one begins. `pipe` and `socket` are not the last: there they are directories. */
const char *dft_data_entry_read(const char *at, struct dft_data_entry *entry);

/* The same names from the root on. Equal texts stay as they are; so do texts for which there is no room, or
 * where the working directory has no name. Constructor only, or with dft_process_lock held. */
const char *dft_config_absolute(const char *path);
const char *dft_config_absolute_dirs(const char *list);

/* Makes the names in dft_config absolute, and those of the environment, in place: a program may go to
 * another directory and run others there. Constructor only. */
void dft_config_place(char **environment);

/* NAME=value of a setting that the environment lacks, and whose default or file names it relatively. Programs
 * that are run need it. NULL: no more. */
const char *dft_config_handed_on(size_t i);

#endif
