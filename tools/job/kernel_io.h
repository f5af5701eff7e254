/* SPDX-License-Identifier: MIT */
/* What the kernel counted of reads and writes of each process (/proc/self/io). */
#ifndef DFT_KERNEL_IO_H
#define DFT_KERNEL_IO_H

#include "views/filter.h"

struct dft_source;

struct dft_kernel_io {
    uint32_t processes;              /* with two samples */
    uint8_t *known;                  /* which these are, by number of process */
    int64_t read, written;           /* by system calls, without those of tracing */
    int64_t fetched;                 /* from storage, by those of these processes that tell it */
    int64_t fetched_of;              /* what they read by system calls */
    int64_t read_calls, write_calls; /* system calls, those of tracing among them */
    int64_t faults;                  /* page faults that read from storage, of all processes with two samples of them */
    uint32_t counts_faults;          /* how many these are */
    uint32_t ringed;                 /* processes that had a ring of io_uring */
};

/* Sums up the growth from the first sample to the last. Returns 0 or -ENOMEM. Collective. */
int dft_kernel_io_collect(struct dft_kernel_io *io, struct dft_source *source, const struct dft_filter *filter);
void dft_kernel_io_fini(struct dft_kernel_io *io);

#endif
