/* What the files of the source share; private to them. */
#ifndef DFT_SOURCE_INSIDE_H
#define DFT_SOURCE_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "query/index_together.h"
#include "base/pfw_map.h"
#include "source/source.h"

#define DFT_THREADS_MAX 64u
#define DFT_TYPES       16u                  /* block types that are counted apart */
#define DFT_NAMES_KEPT  (UINT64_C(96) << 20) /* memory for texts of dft_source_names_locate */
#define DFT_NAMES_LENT  (UINT64_C(64) << 20) /* and of dft_source_names_lend */

struct dft_notes {
    pthread_mutex_t lock;
    char *
        *lines; /* of each the first character is ' ' until it was reported, then '.'; the text starts at the second */
    char **shown; /* pointers to the texts, for dft_source_notes */
    size_t count, capacity;
    size_t shared; /* as many were told to other ranks */
    int bad;
};

struct dft_kept_texts {
    pthread_mutex_t lock;
    struct dft_kept_chunk *chunks;
    char *at; /* what is left of the last one */
    size_t left;
    struct dft_kept **slots; /* hash table; a power of two of them, at most half in use */
    size_t nslots, count;
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
    struct dft_pfw_map located;   /* id -> number of the block + 1 */
    pthread_mutex_t located_lock; /* while that is found out */
    size_t fitted;                /* for how many events there was room the last time */
    void (*on_return)(void *context);
    void *on_return_context;
    struct dft_notes notes;
    struct dft_kept_texts texts;    /* of processes and groups */
    struct dft_kept_texts contents; /* of records, until the processes have taken them */
    struct dft_found_group *groups;
    size_t ngroups;
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
    uint64_t opened_ns;           /* CLOCK_MONOTONIC, for progress */
    _Atomic uint64_t progress_ns; /* of the last line */
    _Atomic int progress_shown;
};

/* A PROCESS, END or GROUP record that the scan met, before it is known what belongs together. */
struct dft_found_record {
    uint16_t type;
    uint32_t file;
    /* Among several for a key the highest order wins (header.first for PROCESS, events for END), then payload_crc. */
    uint64_t order;
    uint32_t payload_crc;
    union {
        void *content;
        struct dft_process *process;
        struct dft_source_end *end;
        struct dft_group_record *group;
    };
};

/* What the scan of one file found. */
struct dft_scanned {
    struct dft_block *blocks; /* process is not set yet */
    uint64_t *keys;           /* of each block */
    size_t count, capacity;
    struct dft_found_record *records;
    size_t nrecords, records_capacity;
    uint8_t looked; /* for what lies beside it, since it was scanned */
};

/* source_texts.c: keeps bytes for as long as the source lives, at an address for 64-bit numbers and with a NUL behind
 * them; equal ones once. NULL: no memory. Any thread. */
const void *dft_source_keep(struct dft_source *source, const void *bytes, size_t length);
/* Returns 0 or -ENOMEM. */
int dft_source_keep_end(struct dft_source *source, const struct dft_end *end, struct dft_source_end *kept);
/* Room for the content of a record; NULL: no memory. Apart from blocks, so that whole pages are free when it goes. */
void *dft_source_content(struct dft_source *source, size_t bytes);
void dft_kept_texts_fini(struct dft_kept_texts *texts);

/* source_scan.c: size and texts of what a record says, by its type; and gives it content of its own, whose texts are kept
 * (0 or -ENOMEM). There may be hundreds of thousands of records. */
union dft_record_content {
    struct dft_process process;
    struct dft_source_end end;
    struct dft_group_record group;
};
#define DFT_RECORD_TEXTS 11u
size_t dft_record_bytes(uint16_t type);
unsigned dft_record_texts(uint16_t type, void *content, struct dft_text *texts[DFT_RECORD_TEXTS]);
int dft_record_own(struct dft_source *source, struct dft_found_record *record, union dft_record_content *content);

#define DFT_INDEX_DIRECTORY ".dftindex" /* what foreign files were converted to lies there */

/* source_find.c: is it, by its name, a file of DFTracer? */
int dft_foreign_name(const char *path);
/* ... of ours, or of DFTracer? */
int dft_trace_name(const char *path);
/* source_find.c: paths of all inputs, sorted, each once; *paths and its strings belong to the caller. */
int dft_find_inputs(struct dft_source *source, char *const *given, int count, char ***paths, size_t *found);

/* source_scan.c: all blocks of all traces into `scanned` (one for each of source->files). */
int dft_scan_files(struct dft_source *source, struct dft_scanned *scanned);
void dft_scanned_fini(struct dft_scanned *scanned);
/* One trace anew, whose process goes on writing. */
int dft_scan_again(struct dft_source *source, uint32_t file, struct dft_scanned *scanned);
/* What is to be told about the traces, when they have been scanned for the last time. */
void dft_scan_notes(struct dft_source *source);
/* Blocks in memory, for live files. */
int dft_scan_bytes(struct dft_source *source, uint32_t file, const void *bytes, size_t length,
                   struct dft_decoder *decoder, struct dft_scanned *scanned);

/* source_foreign.c: converts all files of DFTracer, and scans what comes of them. */
int dft_foreign_files(struct dft_source *source, struct dft_scanned *scanned);

/* source_range.c: the blocks of [begin, end) of a file with converted ones. -errno: it cannot be read, or is shorter. */
int dft_scan_range(struct dft_source *source, uint32_t number, int fd, uint64_t begin, uint64_t end,
                   struct dft_decoder *decoder, struct dft_scanned *scanned);
/* A block as it stands in the file, if it was kept in memory; else NULL. Not with several ranks. */
const char *dft_rows_find(const struct dft_source_file *file, const struct dft_block *block);
void dft_rows_forget(struct dft_source *source, uint32_t number);

/* source_beside.c: adds live files beside the traces that were scanned since it was called last, and traces beside the live
 * files that were copied or are gone since. *scanned grows with source->files. Returns 0 or -ENOMEM. */
int dft_find_beside(struct dft_source *source, struct dft_scanned **scanned);
/* source_live.c: turns all live files, found beside traces too, into blocks in memory, and scans these. *scanned grows
 * with source->files. */
int dft_live_files(struct dft_source *source, struct dft_scanned **scanned);
/* source_snapshot.c: finds all live files, and copies those of running processes (file->snapshot) before what their traces hold is
 * looked at for the last time: what a process drains meanwhile is seen twice, not missed. */
int dft_live_snapshots(struct dft_source *source, struct dft_scanned **scanned);
/* source_snapshot.c: scans the traces anew that have another size by now. */
int dft_scan_grown(struct dft_source *source, struct dft_scanned *scanned);
/* source_ending.c: what the live files say about the ends of their processes, after the processes are known; and what there
 * is to tell about it, when it is known which events are new. */
int dft_live_processes(struct dft_source *source); /* 0 or -ENOMEM */
void dft_live_notes(struct dft_source *source);
/* source_fates.c: of these notes those on how processes with live files ended, or that they run. */
void dft_fates_note(struct dft_source *source);
/* source_ending.c: which processes wrote more events than are here, when it is known of which only groups are. */
void dft_missing_notes(struct dft_source *source);

/* What the processes that are visible here have mapped: looked for once, when it is needed first. All zero at first. */
struct dft_mapping {
    uint64_t device, inode;
    uint64_t pid; /* as the process sees it; 0: not known */
};
struct dft_mapped {
    struct dft_mapping *list; /* from malloc */
    size_t count;
    int looked;
};
struct dft_live;
/* source_life.c: does the process of a live file, open for reading alone, still run? And where that cannot be seen: is
 * it known all the same, by what is told of the process? */
enum dft_life dft_life_of_live(struct dft_mapped *mapped, const struct dft_live *live, int fd);
enum dft_life dft_life_known(enum dft_life life, const struct dft_process *process);

/* source_process.c: processes and blocks from what was scanned (which is emptied). */
int dft_source_collect(struct dft_source *source, struct dft_scanned *scanned);
/* The process with a key that is known to be there. */
struct dft_source_process *dft_process_of(const struct dft_source *source, uint64_t key);

/* source_names.c: the texts of these names are found until they are returned, also those that are not kept. -E2BIG: there is no room for
 * so many. anyway: whatever room they take. */
int dft_source_names_lend(struct dft_source *source, const uint64_t *wanted, size_t count, int anyway);
void dft_source_names_return(struct dft_source *source);

/* source_give.c: gives `count` events, as at(from, i, ...) says what they are (0: it is left out), with the texts of their names. */
typedef int dft_at_fn(const void *from, size_t i, struct dft_event_at *at);
int dft_source_give(struct dft_source *source, size_t count, dft_at_fn *at, const void *from,
                    int (*give)(void *context, const struct dft_event_at *at), void *context);

/* source_runs.c: which processes are of one run; leaves out all but those that are asked for (patterns), or that are
 * newest; says that there are several. */
int dft_source_find_runs(struct dft_source *source);
int dft_source_choose_runs(struct dft_source *source, const char *patterns, int newest);
void dft_source_note_runs(struct dft_source *source);
/* source_jobs.c: start and end of each process (dft_process_lifetime), before it is known which blocks are used. */
void dft_source_find_lives(const struct dft_source *source, uint64_t *start_ns, uint64_t *end_ns);
void dft_source_job_widen(struct dft_source_job *job, uint64_t start_ns, uint64_t end_ns);
/* source_job_names.c: "NAME (4 of 4 ranks, from TIME), ..." from malloc, or NULL; does a name fit one of the patterns
 * between commas (-ENOMEM too); only processes with keep[] stay, and their blocks. */
char *dft_source_list_jobs(const struct dft_source_job *jobs, uint32_t count);
int dft_source_name_fits(const char *patterns, const char *name);
int dft_source_keep_processes(struct dft_source *source, const uint8_t *keep);
/* source_jobs.c: which processes are of one job. source_job_names.c: orders and names them, given the number + 1 of each
 * process's job; leaves out all processes but those of the jobs that are asked for; says that there are several. */
int dft_source_find_jobs(struct dft_source *source);
int dft_source_name_jobs(struct dft_source *source, const uint32_t *job_of);
int dft_source_choose_jobs(struct dft_source *source, const char *patterns);
void dft_source_note_jobs(struct dft_source *source);
/* source_copies.c: the same process out of another file? Says so where there are some; returns 0 or -ENOMEM. */
int dft_source_is_copy(const struct dft_source *source, const struct dft_source_process *a,
                       const struct dft_source_process *b);
int dft_source_note_copies(struct dft_source *source);

/* source_cover.c: sets state and use of all blocks. */
int dft_source_cover(struct dft_source *source);

/* A range of numbers that was taken. */
struct dft_span {
    uint64_t first, last;
};

/* For qsort; source_parts.c. */
int dft_span_by_first(const void *left, const void *right);

/* What source_cover.c and source_parts.c share while they go through the streams. */
struct dft_covering {
    struct dft_source *source;
    struct dft_block **kept;
    struct dft_span *spans; /* of the stream: what was taken; those of whole blocks first */
    size_t nspans, capacity;
    int rc;
};

/* source_cover.c: the blocks of one part of one stream, sorted by range. */
void dft_cover_part(struct dft_covering *covering, struct dft_block **blocks, size_t count);
/* source_parts.c: those of all parts of one stream, sorted by part, after the whole ones; in_flight: these say what was in
 * flight. */
void dft_cover_parts(struct dft_covering *covering, struct dft_block **blocks, size_t count, int in_flight);
/* source_parts.c: takes notice of a group; its texts must stay. Returns 0 or -ENOMEM. */
int dft_groups_add(struct dft_source *source, const struct dft_group_record *record, uint32_t file);
/* source_parts.c: notes what divisions are not complete, and marks their processes. */
void dft_groups_notes(struct dft_source *source);
#endif
