/* SPDX-License-Identifier: MIT */
/* Whom a directory may be left to in which files of a run lie, for the traced process and for dftrun
 * alike. Nothing here makes system calls itself. */
#ifndef DFT_FORMAT_TRUST_H
#define DFT_FORMAT_TRUST_H

#include <sys/stat.h>

/* stat(), or with `link` lstat(). Returns 0 or -errno. */
typedef int dft_trust_look(const char *path, struct stat *st, int link);

/* Looks at each directory of an absolute path that ends with a slash, up to the first one that is missing.
 * Returns 0 or -errno. *wrong: who but the user and root might replace what lies there, or NULL. `path` is
 * unchanged on return. */
int dft_trust_walk(char *path, uid_t user, dft_trust_look *look, const char **wrong);

#endif
