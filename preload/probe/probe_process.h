/* SPDX-License-Identifier: MIT */
/* Ends of calls that make, replace, await and end processes. */
#ifndef DFT_PROBE_PROCESS_H
#define DFT_PROBE_PROCESS_H

#include "probe/executable.h"
#include "probe/probe.h"

/* What is recorded beside times. Pointers are the program's: read after the call, once it is sure
 * that the kernel could. */
struct dft_process_call {
    int64_t result;
    int err;
    int flags;
    enum dft_phase phase; /* BEGIN: it may not return; END: it did */
    int dirfd;
    const char *path;    /* the program; NULL: none */
    const char *command; /* becomes the argument "command", cut at DFT_COMMAND_MAX bytes; NULL: none */
    const int *status;   /* our copy of a wait status: the argument "status"; NULL: none */
};

#define DFT_COMMAND_MAX 1024u

#define DFT_PROCESS_CALL(...)                                                                                          \
    {                                                                                                                  \
        .phase = DFT_PHASE_COMPLETE, .dirfd = AT_FDCWD, __VA_ARGS__                                                    \
    }

/* The beginning of a call that may take its time: shown as in flight. Returns 0 when it is not to
 * be recorded. */
int dft_process_begin(struct dft_probe *probe, enum dft_call_number call);
void dft_end_process(struct dft_probe *probe, enum dft_call_number call, const struct dft_process_call *what);

#endif
