/* SPDX-License-Identifier: MIT */
/* The mode without system calls: into it and out of it. Who is in it: os/self.h. */
#ifndef DFT_SANDBOX_H
#define DFT_SANDBOX_H

#include "format/format.h"

/* Before a call that may forbid the calling thread (or all threads) system calls: what there is goes to the file, rings are
 * laid in, and no system call is made any more on its account; what does not fit is counted as DFT_DROP_SANDBOX. strict: nor
 * can the processor's clock be read (SECCOMP_MODE_STRICT takes it away). When the call failed, dft_sandbox_enter_failed()
 * goes back. Calls nest: a program may add filter to filter. */
enum dft_sandbox_kind { DFT_SANDBOX_FILTER, DFT_SANDBOX_FILTER_ALL, DFT_SANDBOX_STRICT };
void dft_sandbox_enter(enum dft_sandbox_kind kind);
void dft_sandbox_enter_failed(enum dft_sandbox_kind kind);

/* The process ends (or is replaced). Returns 1: nothing can be written, and the live file says so. */
int dft_sandbox_end(enum dft_ending how, int status);

#endif
