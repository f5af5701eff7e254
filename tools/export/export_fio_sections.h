/* SPDX-License-Identifier: MIT */
/* Threads that do I/O in the same way, put together: each such group becomes a job of fio. */
#ifndef DFT_EXPORT_FIO_SECTIONS_H
#define DFT_EXPORT_FIO_SECTIONS_H

#include "export/export_model.h"

#define DFT_FIO_RANDOM 5u /* tenths of random accesses, from which on a job is one of random accesses */

enum dft_fio_engine { DFT_FIO_SYNC, DFT_FIO_PSYNC, DFT_FIO_LIBAIO };
/* For what a write waits. */
enum dft_fio_wait { DFT_FIO_NO_WAIT, DFT_FIO_DSYNC, DFT_FIO_OSYNC };

/* What one thread reads, writes, or does of both on the same files. */
struct dft_fio_lane {
    const struct dft_model_unit *units[2]; /* of reads, of writes; one may be NULL */
    uint64_t ios[2], bytes[2], files;
    uint64_t start_ns, wall_ns, busy_ns; /* Unix; busy: in calls that read, write or flush */
    unsigned random;                     /* tenths of its accesses */
    enum dft_fio_engine engine;
    int is_direct, is_stream;
    enum dft_fio_wait wait;
    unsigned scale[2]; /* binary digits of `ios` */
    unsigned size[2];  /* the class of most calls */
};

struct dft_fio_section {
    const struct dft_fio_lane *lanes; /* alike, by start */
    size_t count;
    struct dft_model_size sizes[2][DFT_SIZE_CLASSES]; /* sums; `whole` where all have the same */
    uint64_t ios[2], bytes[2], fsyncs, fdatasyncs;
    uint64_t wall_ns, busy_ns, flying_ns;    /* sums of lanes; flying: of requests */
    uint64_t files;                          /* different ones */
    uint64_t used;                           /* sums over lanes: more than `files` where these share */
    uint64_t extent, extent_min, extent_max; /* of files: sum, and of one */
    uint64_t opposite;                       /* files that others write (it reads), or read (it writes) */
};

struct dft_fio_sections {
    struct dft_fio_lane *lanes;
    struct dft_fio_section *list;
    size_t nlanes, count;
    uint64_t start_ns, wall_ns; /* of all I/O */
};

/* Returns 0 or -ENOMEM. */
int dft_fio_sections_make(struct dft_fio_sections *sections, const struct dft_model *model);
void dft_fio_sections_fini(struct dft_fio_sections *sections);

#endif
