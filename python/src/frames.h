/* SPDX-License-Identifier: MIT */
/* Frames of the Python program in call stacks. */
#ifndef DFTRACE_PYTHON_FRAMES_H
#define DFTRACE_PYTHON_FRAMES_H

#include <Python.h>

#include "dftrace/api.h"

/* Offers the frames of Python to the library, where it records stacks and where a test shows that
 * this interpreter's frames are read rightly. Once, with the GIL held. Returns NULL, or why there
 * are none: a text for people. No Python error is left behind. */
const char *dftrace_frames_start(const struct dftrace_api *api);

#endif
