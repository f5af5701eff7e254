/* SPDX-License-Identifier: MIT */
/* A folder that appears whole or not at all: it is made beside its place, and gets its name at the end. */
#ifndef DFT_ANONYMIZE_FOLDER_H
#define DFT_ANONYMIZE_FOLDER_H

struct dft_folder {
    char *path, *temporary;
};

/* Makes the temporary folder. `path` is a new folder, or an empty one, and lies in no input that is a
 * folder. Says on stderr why not. Returns 0 or -errno. */
int dft_folder_open(struct dft_folder *folder, const char *path, char *const *inputs, int ninputs);
/* Gives the folder its name. Says on stderr why not. Returns 0 or -errno. */
int dft_folder_commit(struct dft_folder *folder);
/* Removes what has no name yet. Harmless after commit, and on zeroed memory. */
void dft_folder_abort(struct dft_folder *folder);

#endif
