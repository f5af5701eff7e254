/* SPDX-License-Identifier: MIT */
/* The state of a source, for the rooms that make it and read on from it. */
#ifndef DFT_SOURCE_INSIDE_H
#define DFT_SOURCE_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "object/object.h"

struct dft_class_table;
struct dft_clocks;

#define DFT_THREADS_MAX 64u
#define DFT_TYPES       16u /* block types that are counted apart */
/* bytes of texts that dft_source_names_lend may hold */
#define DFT_NAMES_LENT  (UINT64_C(64) << 20)

struct dft_notes {
    pthread_mutex_t lock;
    /* The text starts at the second character of a line. The first character is ' ' until the note
     * was reported, then '.'. */
    char **lines;
    char **shown; /* pointers to the texts, for dft_source_notes */
    size_t count, capacity, shown_capacity;
    size_t shared; /* number of lines that other ranks know */
    int bad;
};

struct dft_interned_texts {
    pthread_mutex_t lock;
    struct dft_kept_chunk *chunks;
    char *at; /* what is left of the last chunk */
    size_t left;
    struct dft_map by_hash; /* hash of a text -> struct dft_kept */
};

/* A group of events that has an archive. */
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
    uint32_t *by_key; /* numbers of processes, by ascending key */
    struct dft_source_job *jobs;
    uint32_t njobs;
    struct dft_source_job *runs;
    uint32_t nruns, unnamed_apart;
    struct dft_names *names;
    _Atomic int all_names; /* every name was fetched */
    _Atomic int stopped;   /* blocks are not read on */
    /* for every name that was not fetched, `located` knows a block with its text */
    _Atomic int all_located;
    struct dft_map located;       /* id -> number of the block + 1 */
    pthread_mutex_t located_lock; /* held while `located` is filled */
    size_t fitted;                /* number of events whose texts had room the last time */
    void (*on_return)(void *context);
    void *on_return_context;
    struct dft_notes notes;
    struct dft_interned_texts texts;    /* of processes and groups */
    struct dft_interned_texts contents; /* of records, until the processes have taken them */
    struct dft_found_group *groups;
    size_t ngroups, groups_capacity;
    uint64_t start_ns, end_ns;
    uint64_t widest_ns[2];                 /* interval of our rows, and of those that another tracer counted */
    int has_widest;                        /* these are known */
    const struct dft_clocks *clocks;       /* corrects the times of events; NULL: no correction */
    const struct dft_class_table *classes; /* corrects the classes of events; NULL: none */
    size_t used[DFT_TYPES];
    unsigned threads;
    int quiet, dedupe, no_index, copied;
    uint64_t period_ns; /* see struct dft_source_options */
    int period_ends;
    /* by worker: descriptor + 1 of an unnamed file with converted blocks */
    int spill[DFT_THREADS_MAX];
    _Atomic uint64_t in_memory; /* bytes of converted blocks */
    _Atomic uint64_t rows_kept; /* bytes of blocks of rows */
    /* events of foreign traces on files whose hash has several names */
    _Atomic uint64_t ambiguous, ambiguous_files;
    _Atomic uint64_t unspread, unspread_files;
    _Atomic uint64_t imported_mib, imported_ms; /* of all files of DFTracer: bytes, and ns in calls, each over 2^20 */
    _Atomic uint64_t opened_ns;                 /* CLOCK_MONOTONIC, for progress */
    _Atomic uint64_t progress_ns;               /* time of the last progress line */
    _Atomic int progress_shown;
};

#endif
