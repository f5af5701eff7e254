/* SPDX-License-Identifier: MIT */
/* Temporary files go with a process that SIGINT, SIGTERM or SIGHUP ends. Signals that the process handles or
 * ignores stay so. */
#ifndef DFT_TEMPORARIES_H
#define DFT_TEMPORARIES_H

#include <sys/types.h>

/* Makes a file of a name that nothing has yet, to write and to read. `name` stays valid until the file is forgotten.
 * Any thread. Beyond 512 files at once, the further ones stay. Returns the descriptor or -errno. */
int dft_temporary_create(const char *name, mode_t mode);
void dft_temporary_forget(const char *name);

#endif
