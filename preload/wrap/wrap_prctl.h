/* SPDX-License-Identifier: MIT */
/* What prctl and system calls of the same meaning share. */
#ifndef DFT_WRAP_PRCTL_H
#define DFT_WRAP_PRCTL_H

#include "life/sandbox.h"
#include "probe/probe.h"

/* Around a call by which a thread forbids itself system calls. failed: it goes on as before. */
void dft_forbid_begin(struct dft_probe *probe, enum dft_sandbox_kind kind);
void dft_forbid_end(struct dft_probe *probe, enum dft_call_number call, enum dft_sandbox_kind kind, int flags,
                    int64_t result, int failed);

/* prctl: make is the real one. */
int dft_prctl(int option, const unsigned long a[4], int (*make)(int option, const unsigned long a[4]));

#endif
