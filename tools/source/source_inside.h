/* SPDX-License-Identifier: MIT */
/* The state of a source; private to this folder. */
#ifndef DFT_SOURCE_INSIDE_H
#define DFT_SOURCE_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "source/source_object.h"

struct dft_clocks;

#define DFT_THREADS_MAX 64u
#define DFT_TYPES       16u                  /* block types that are counted apart */
#define DFT_NAMES_LENT  (UINT64_C(64) << 20) /* and of dft_source_names_lend */

struct dft_notes {
    pthread_mutex_t lock;
    char *
        *lines; /* of each the first character is ' ' until it was reported, then '.'; the text starts at the second */
    char **shown; /* pointers to the texts, for dft_source_notes */
    size_t count, capacity, shown_capacity;
    size_t shared; /* as many were told to other ranks */
    int bad;
};

struct dft_kept_texts {
    pthread_mutex_t lock;
    struct dft_kept_chunk *chunks;
    char *at; /* what is left of the last one */
    size_t left;
    struct dft_map by_hash; /* of the texts -> struct dft_kept */
};

/* What all traces did together, as blocks in memory. */
struct dft_together {
    char *bytes; /* owned; on rank 0 alone */
    size_t length;
    int is_known; /* it was looked for, or made */
    int is_there; /* else this source has none, or it would be too large to be of use */
};

/* A group of which there is an archive. */
struct dft_found_group {
    struct dft_group_record record;
    uint32_t file;
};

struct dft_source {
    struct dft_source_file *files;
    uint32_t nfiles;
    struct dft_block *blocks;
    size_t nblocks;
    struct dft_source_process *processes;
    uint32_t nprocesses;
    struct dft_source_job *jobs;
    uint32_t njobs;
    struct dft_source_job *runs;
    uint32_t nruns, unnamed_apart;
    struct dft_names *names;
    _Atomic int all_names;        /* every name was fetched */
    _Atomic int all_located;      /* of every name that was not fetched it is known where it stands: */
    struct dft_map located;       /* id -> number of the block + 1 */
    pthread_mutex_t located_lock; /* while that is found out */
    size_t fitted;                /* for how many events there was room the last time */
    void (*on_return)(void *context);
    void *on_return_context;
    struct dft_notes notes;
    struct dft_kept_texts texts;    /* of processes and groups */
    struct dft_kept_texts contents; /* of records, until the processes have taken them */
    struct dft_found_group *groups;
    size_t ngroups, groups_capacity;
    uint64_t start_ns, end_ns;
    struct dft_together together;
    const struct dft_clocks *clocks; /* what times of events are corrected by; NULL: by nothing */
    size_t used[DFT_TYPES];
    unsigned threads;
    int quiet, dedupe, no_index;
    uint64_t period_ns; /* see struct dft_source_options */
    int period_ends;
    int spill[DFT_THREADS_MAX]; /* descriptor + 1 of a file without a name, with converted blocks; by worker */
    _Atomic uint64_t in_memory; /* bytes of converted blocks */
    _Atomic uint64_t rows_kept; /* bytes of blocks of rows */
    _Atomic uint64_t ambiguous, ambiguous_files; /* events of foreign traces on files whose hash has several names */
    _Atomic uint64_t unspread, unspread_files;
    _Atomic uint64_t opened_ns;   /* CLOCK_MONOTONIC, for progress */
    _Atomic uint64_t progress_ns; /* of the last line */
    _Atomic int progress_shown;
};

#endif
