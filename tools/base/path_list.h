/* SPDX-License-Identifier: MIT */
/* Reads paths from a file, because a command line has a limit. */
#ifndef DFT_PATH_LIST_H
#define DFT_PATH_LIST_H

struct dft_path_list {
    char *text;   /* the text of the file, cut into paths */
    char **paths; /* the paths passed by the caller, then those of the text */
    int count;
};

/* Adds the paths in `file` ("-": standard input) to `given`. Each line is a path. In a text with a
 * NUL, each path ends with a NUL (`find -print0`). Empty paths are passed over. Returns 0 or
 * -errno. */
int dft_path_list_read(struct dft_path_list *list, const char *file, char *const *given, int count);
void dft_path_list_fini(struct dft_path_list *list);

#endif
