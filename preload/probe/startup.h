/* SPDX-License-Identifier: MIT */
/* What the names of classes.def leave open: is a call on such a file part of a start, and does a file in
 * /dev/shm hold data, or memory that processes share? */
#ifndef DFT_STARTUP_H
#define DFT_STARTUP_H

#include "probe/call.h"
#include "probe/paths.h"

/* The class of the file for this call, of which `io` is the class by its name. */
enum dft_io dft_startup_class(const struct dft_path_call *at, const struct dft_path *path, enum dft_io io);
/* The same of a descriptor with these flags (F_GETFL) that was found open. */
enum dft_io dft_startup_class_found(long flags, enum dft_io io);

/* Does the file lie where shared memory does? It becomes that when it is mapped. */
int dft_startup_is_memory(const struct dft_path *path);

#endif
