/* SPDX-License-Identifier: MIT */
/* Frames of the Python program in call stacks. */
#ifndef CORE_FRAMES_H
#define CORE_FRAMES_H

#include <Python.h>

#include "dftrace/api.h"

/* Offers the frames of Python to the library, where it records stacks and where a test shows that
 * this interpreter's frames are read rightly. Else the trace's metadata say why not. With the GIL
 * held; no Python error is left behind. */
void core_frames_start(const struct dftrace_api *api);

#endif
