/* SPDX-License-Identifier: MIT */
/* Directories of DFTRACER_DATA_DIR as the kernel knows them, by device and inode: a file may be named by
 * symbolic links, by another mount, or relative to a directory that was renamed. */
#ifndef DFT_TRACED_REAL_H
#define DFT_TRACED_REAL_H

#include <stdint.h>

#include "format/text.h"

#define DFT_TRACED_ENTRIES 64u /* of DFTRACER_DATA_DIR, at most */

enum dft_verdict { DFT_UNSAID, DFT_SELECTED, DFT_EXCLUDED };

/* With the rules (traced.h). An entry: an absolute path that lives on. */
void dft_traced_real_clear(void);
void dft_traced_real_add(const char *path, enum dft_verdict verdict);
int dft_traced_real_excludes(void); /* is an entry an exclusion? */
int dft_traced_real_any(void);

/* What the nearest entry says of the file that (dirfd, name) is, or would be. `text`: its absolute path, as
 * recorded. `own`: what an entry with that very path says. Any time but in a sandbox; a few system calls. */
enum dft_verdict dft_traced_real(int dirfd, struct dft_text name, struct dft_text text, enum dft_verdict own);

#endif
