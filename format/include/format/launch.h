/* SPDX-License-Identifier: MIT */
/* What the launcher of a job tells a process by variables (launchers.def), for the traced process and
 * for dftrun alike. Nothing here allocates. */
#ifndef DFT_FORMAT_LAUNCH_H
#define DFT_FORMAT_LAUNCH_H

#include <stddef.h>

enum dft_told {
    DFT_TOLD_RANK,
    DFT_TOLD_LOCAL_RANK,
    DFT_TOLD_SIZE,
    DFT_TOLD_LOCAL_SIZE,
    DFT_TOLD_JOB,
    DFT_TOLD_RESTARTS,
};

/* Returns the value of a variable. NULL: it is not set, or empty. */
typedef const char *dft_told_get(const void *context, const char *name);

/* What the innermost launcher tells, or NULL. */
const char *dft_told(enum dft_told what, dft_told_get *get, const void *context);

/* The job of the batch system: an element of an array of LSF's is a job of its own. Returns the length;
 * 0: not known. */
size_t dft_told_job(char *id, size_t size, dft_told_get *get, const void *context);

/* Puts what tells this start from earlier ones behind an id ("-r2"), where a job was requeued or a launch
 * restarted. Returns the length of the whole. */
size_t dft_told_restarts(char *id, size_t size, dft_told_get *get, const void *context);

#endif
