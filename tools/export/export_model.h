/* SPDX-License-Identifier: MIT */
/* What a benchmark must know of a program: the I/O of each thread, its files, its regions, and what
 * a benchmark cannot do. Grouped by queries, so aggregates answer as far as they go. */
#ifndef DFT_EXPORT_MODEL_H
#define DFT_EXPORT_MODEL_H

#include "base/map.h"
#include "export/exporting.h"

/* Calls of one size class. */
struct dft_model_size {
    uint64_t calls; /* successful ones */
    uint64_t ios;   /* of these, about: those that moved bytes */
    uint64_t bytes; /* moved */
    uint64_t whole; /* all requested so much, and moved it but for the ends of files; 0: sizes vary */
};

enum dft_model_way { DFT_MODEL_MOVES, DFT_MODEL_AT, DFT_MODEL_STREAM, DFT_MODEL_REQUEST, DFT_MODEL_WAYS };

/* What one thread reads, or what it writes. */
struct dft_model_unit {
    const struct dft_source_process *process;
    uint32_t tid;
    int is_write;
    struct dft_model_size sizes[DFT_SIZE_CLASSES];
    uint64_t ways[DFT_MODEL_WAYS];        /* calls */
    uint64_t accesses[DFT_ACCESS_COUNT];  /* calls */
    uint64_t random, placed;              /* of these, about, without the first one of each open; all with an offset */
    uint64_t turns;                       /* between reading and writing */
    uint64_t fsyncs, fdatasyncs, sync_ns; /* of writes */
    uint64_t ios, bytes, calls;           /* sums of sizes */
    uint64_t busy_ns, first_ns, last_ns;  /* Unix */
    uint64_t files;                       /* that it used */
    uint64_t direct, sync, dsync;         /* of these, that its process opened with O_DIRECT, O_SYNC, O_DSYNC alone */
};

/* A file that a unit used. */
struct dft_model_use {
    uint64_t file; /* name id */
    uint32_t unit; /* position */
    uint64_t ios, bytes;
    uint64_t extent; /* the highest byte that it accessed, as a count */
};

/* Regions of one name in a process. */
struct dft_model_region {
    const struct dft_source_process *process;
    uint64_t call;  /* name id */
    unsigned kinds; /* 1 << enum dft_region_kind */
    int is_checkpoint;
    uint64_t count, time_ns;
    int64_t self_ns;
};

/* Calls that no unit has, by what they are about. */
enum dft_model_left {
    DFT_MODEL_LEFT_META,
    DFT_MODEL_LEFT_SEEK,
    DFT_MODEL_LEFT_MAP,
    DFT_MODEL_LEFT_STARTUP,
    DFT_MODEL_LEFT_WAIT,
    DFT_MODEL_LEFT_REQUEST,
    DFT_MODEL_LEFT_SYNC, /* of a thread that writes nothing, or of all files */
    DFT_MODEL_LEFT_ERRORS,
    DFT_MODEL_LEFTS
};

struct dft_model {
    struct dft_export *export;
    struct dft_model_unit *units;     /* by process, thread, reads before writes */
    struct dft_model_use *uses;       /* by file, unit */
    struct dft_model_region *regions; /* by process */
    size_t nunits, nuses, nregions, units_capacity, uses_capacity, regions_capacity;
    struct dft_map unit_of;             /* process, thread and direction -> position + 1 */
    struct dft_map flags;               /* process and file -> flags of opens that a benchmark can take over */
    struct dft_map opens;               /* process and thread -> files that it opened */
    uint64_t left[DFT_MODEL_LEFTS];     /* calls */
    uint64_t unsplit;                   /* calls that aggregates cannot distinguish by file */
    uint64_t checkpoint_bytes, written; /* bytes written in such regions, and in all */
    int has_opens;                      /* events said with which flags files were opened */
};

/* Returns 0 or -ENOMEM. Collective; on rank 0 alone there is anything. */
int dft_model_collect(struct dft_model *model, struct dft_export *export);
void dft_model_fini(struct dft_model *model);

#endif
