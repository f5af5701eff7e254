/* SPDX-License-Identifier: MIT */
/* One job of fio: how many I/Os of which sizes it makes. */
#ifndef DFT_EXPORT_FIO_JOB_H
#define DFT_EXPORT_FIO_JOB_H

#include "export/export_fio_sections.h"

#define DFT_FIO_ENTRIES (2 * DFT_SIZE_CLASSES)
#define DFT_FIO_ALL     DFT_SIZE_CLASSES /* as a size class: all of them */
#define DFT_FIO_SHARED  256u             /* shared files are listed by name, so many at most */

struct dft_fio_entry {
    uint64_t bytes, ios;
    unsigned percent;
};

/* What is done in one direction. */
struct dft_fio_flow {
    struct dft_fio_entry entries[DFT_FIO_ENTRIES]; /* ascending; at least one where there are I/Os */
    unsigned count;
    uint64_t ios, bytes; /* as recorded */
    int is_bent;         /* sizes were changed, so that percents give these bytes */
    double off;          /* so far, as a part of them, the bytes of a run may be off */
};

struct dft_fio_job {
    const struct dft_fio_section *section;
    struct dft_fio_flow flows[2]; /* reads, writes; no I/Os: not this direction */
    unsigned size;                /* class, or DFT_FIO_ALL */
    unsigned read_percent;
    uint64_t largest;           /* of all entries */
    int is_shared;              /* all threads use the same files */
    uint64_t files, file_bytes; /* of a thread, or of all where these share */
    uint64_t fewer_files;       /* than recorded; those that are left are larger */
};

/* Makes the job of these directions (1 << direction) and this size class, or of all. Returns 1; 0:
 * chance would move the bytes or counts of so few I/Os too far from the recorded ones. */
int dft_fio_job_make(struct dft_fio_job *job, const struct dft_fio_section *section, unsigned dirs, unsigned size);
/* The same with one size, the mean, in each direction. */
void dft_fio_job_flatten(struct dft_fio_job *job);

#endif
