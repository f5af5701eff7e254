/* SPDX-License-Identifier: MIT */
/* Paths from a file, for more of them than a command line takes. */
#ifndef DFT_PATH_LIST_H
#define DFT_PATH_LIST_H

struct dft_path_list {
    char *text;   /* what was read, cut into paths */
    char **paths; /* those given before, then those of the text */
    int count;
};

/* Adds the paths in `file` ("-": standard input) to `given`: one a line, or, when there is a NUL in it, one before each
 * NUL (`find -print0`). Empty ones are passed over. Returns 0 or -errno. */
int dft_path_list_read(struct dft_path_list *list, const char *file, char *const *given, int count);
void dft_path_list_fini(struct dft_path_list *list);

#endif
