/* SPDX-License-Identifier: MIT */
/* Entry to and exit from the mode without system calls. os/self.h tells which threads are in the
 * mode. */
#ifndef DFT_SANDBOX_H
#define DFT_SANDBOX_H

#include "format/format.h"

/* Call before a call that may forbid the calling thread (or all threads) system calls. Writes all
 * present records to the file and makes spare rings. From then on, we make no system call for this
 * thread. Records that find no space are counted as DFT_DROP_SANDBOX. strict: the processor's clock
 * cannot be read either (SECCOMP_MODE_STRICT takes it away). dft_sandbox_enter_failed() undoes this
 * when the call failed. Calls nest: a program may add filter to filter. */
enum dft_sandbox_kind { DFT_SANDBOX_FILTER, DFT_SANDBOX_FILTER_ALL, DFT_SANDBOX_STRICT };
void dft_sandbox_enter(enum dft_sandbox_kind kind);
void dft_sandbox_enter_failed(enum dft_sandbox_kind kind);

/* The process ends, or is replaced. Returns 1 when nothing can be written, and the live file
 * records the end. */
int dft_sandbox_end(enum dft_ending exit_kind, int status);

#endif
