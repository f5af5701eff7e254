/* SPDX-License-Identifier: MIT */
/* What a source consists of: its files, blocks, processes and jobs, and who may look at them. Nothing here changes them. */
#ifndef DFT_SOURCE_OBJECT_H
#define DFT_SOURCE_OBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "format/row.h"

struct dft_source;
struct dft_names;
struct dft_pfw_counts;
struct dft_kept_rows;

enum dft_source_kind { DFT_FILE_TRACE = 1, DFT_FILE_LIVE = 2, DFT_FILE_FOREIGN = 3 /* DFTracer's */ };

/* One input. */
struct dft_source_file {
    const char *path;
    uint64_t bytes;      /* of the file itself */
    uint32_t blocks;     /* whole blocks found in it */
    uint8_t kind;        /* enum dft_source_kind */
    uint8_t gone;        /* live: it was there, and its process ended and removed it before it was read */
    uint8_t has_live;    /* trace: the live file of one of its processes is an input */
    uint16_t live_state; /* live: enum dft_live_state as found */
    int error;           /* errno when it could not be opened or read, else 0 */
    const char *why;     /* live file that makes no sense: the reason, else NULL */
    uint64_t key;        /* live: the process */
    uint32_t pid;        /* live: of the process */
    uint64_t start_ns;   /* live: Unix ns at which the process began or was forked */
    struct dft_end *end; /* live: what its header and rings count, as an END would say it; NULL: not known */
    uint64_t torn;       /* live: records that were half-written */
    struct dft_skipped skipped;
    char *blocks_path;             /* foreign: where its blocks are, NULL: in memory; other files: NULL */
    struct dft_pfw_counts *counts; /* foreign: what was found in it; other files, and unreadable ones: NULL */
    struct dft_kept_rows *rows;    /* foreign: its blocks of rows, where they are kept in memory; or NULL */
    char *memory; /* live, foreign: its blocks; file offsets of blocks are offsets in here. NULL for traces */
    size_t memory_bytes;
    uint32_t owner;  /* of the ranks of dftmerge-mpi: the one that reads it */
    uint8_t local;   /* only its owner can read its blocks */
    uint8_t changed; /* since the ranks told each other of it */
    uint8_t life;    /* live: enum dft_life of its process when it was read */
    uint32_t trace;  /* live: the number of the trace that it is of + 1; 0: not known */
    void *snapshot;  /* live: a copy of the file as it was (of `bytes` bytes), if its process may have been running */
};

enum dft_block_state {
    DFT_BLOCK_USED = 0,
    DFT_BLOCK_IDENTICAL = 1, /* the same block was seen (same key, type, stream, range and payload checksum) */
    DFT_BLOCK_COVERED = 2,   /* its range was seen in another block */
    DFT_BLOCK_OVERLAPS =
        3, /* its range was partly seen. EVENTS: used without the events up to `covered`; BUCKETS: not used */
    DFT_BLOCK_UNKNOWN = 4, /* a type that this version does not know: passed over, counted */
};

#define DFT_IN_ROWS   1u /* answers for its range when rows are asked */
#define DFT_IN_EVENTS 2u /* answers for its range when events are asked */
#define DFT_IN_BOTH   4u /* BUCKETS: its events are kept too; EVENTS: rows exist too */

/* One whole, verified block. */
struct dft_block {
    uint64_t offset; /* in the file */
    uint64_t first, last;
    uint64_t start, end; /* Unix ns; 0, 0: none */
    uint64_t covered;    /* OVERLAPS: the highest sequence number that another block holds */
    uint32_t file;       /* number of the file */
    uint32_t process;    /* number of the process */
    uint32_t stream, tid;
    uint32_t count;
    uint32_t stored; /* payload bytes */
    uint32_t raw;
    uint32_t payload_crc;
    uint32_t part; /* 0: all events of the range, else those of one group */
    uint16_t type;
    uint8_t state; /* enum dft_block_state */
    uint8_t use;   /* DFT_IN_*; only for EVENTS and BUCKETS; 0 when not used */
};

/* Is the process of a live file still there? */
enum dft_life {
    DFT_LIFE_UNKNOWN = 0, /* it cannot be seen from here */
    DFT_LIFE_OVER = 1,
    DFT_LIFE_RUNNING = 2,
};

/* What END says, without the room that losses take where there are none. */
struct dft_source_end {
    uint64_t key, events, overhead_ns, time_ns, outside;
    const uint64_t *dropped, *misuse; /* by enum dft_drop, and enum dft_misuse: as in struct dft_end */
    struct dft_text unmet;
    int32_t status;
    uint8_t how; /* enum dft_ending */
};

/* One process image. Numbers are by ascending key, whatever order the files came in. */
struct dft_source_process {
    uint64_t key;
    struct dft_process process; /* texts live as long as the source; all zero but key, pid and rank -1 when !known */
    struct dft_source_end end;  /* all zero when !ended; of a live file: what its header says */
    uint8_t known;              /* a PROCESS block was there (or a live file: then only pid) */
    uint8_t ended;              /* an END block was there */
    uint8_t how;                /* enum dft_ending: of END, else KILLED or RUNNING by the live file, else UNKNOWN */
    uint8_t unseen;             /* it has a live file and no END, and whether it still runs cannot be seen from here */
    uint32_t number;
    uint32_t file;             /* number of the trace that PROCESS was in (or the live file) */
    uint32_t live_file;        /* number of its live file + 1; 0: none */
    uint64_t start_ns, end_ns; /* smallest start and largest end of its events; 0, 0: none */
    uint64_t events;           /* in its used EVENTS blocks (without those in flight) */
    uint64_t recovered;        /* of these, in its live file alone */
    uint64_t rows_only; /* numbers in ranges that only BUCKETS blocks cover: so many events they stand for at most */
    uint32_t skipped_blocks;
    uint8_t parts; /* of its events only some groups are here */
    uint32_t job;  /* number of its job + 1; 0: none that is known */
    uint32_t run;  /* number of its run + 1 */
};

/* One launch of a parallel program; source_jobs.c says how they are told apart. In order of start. */
struct dft_source_job {
    char *name; /* for people and --job: the id of the batch system, "unnamed"; "/N" behind it where it has several */
    struct dft_text id; /* may be empty */
    uint64_t id_hash;
    uint32_t number;
    uint32_t processes, ranks, world_size;
    uint64_t start_ns, end_ns; /* Unix; 0: unknown */
    uint8_t left_out;          /* of a run: it is not asked for */
};

/* One event, with what belongs to it. Valid during the callback. */
struct dft_event_at {
    const struct dft_event *event; /* event->call means nothing here: see call */
    const struct dft_source_process *process;
    uint64_t call; /* name id of the call: dft_names_call gives its category and name */
    uint8_t op;
    uint32_t tid, stream;
    uint64_t sequence;          /* 0 for events in flight */
    const struct dft_arg *args; /* keys are name ids */
    uint32_t nargs;
};

struct dft_source_options {
    char *const *paths; /* files, directories (searched recursively for *.dft, *.dft.live, *.pfw and *.pfw.gz), globs */
    int npaths;
    unsigned threads;   /* 0: one a CPU, at most 16 */
    int quiet;          /* no progress on stderr */
    const char *jobs;   /* only processes of these: names and patterns, with commas; NULL: all */
    const char *runs;   /* the same of runs */
    int newest;         /* runs is NULL: only the last run that began, and what says of no run that it is of it */
    int no_index;       /* foreign: nothing is written for later questions, nor read */
    int dedupe;         /* foreign: lines that stand in a file again are left out */
    uint64_t period_ns; /* foreign: of records that stand for many calls; 0: as the trace says, else 5 s */
    int period_ends;    /* ... whose time is that of the period's end */
};

/* A source without inputs. NULL: no memory. */
struct dft_source *dft_source_create(const struct dft_source_options *options);
void dft_source_close(struct dft_source *source); /* NULL: nothing */

unsigned dft_source_threads(const struct dft_source *source);
const struct dft_source_file *dft_source_files(const struct dft_source *source, uint32_t *count);
/* Is a file this rank's to read? */
int dft_source_is_mine(const struct dft_source *source, uint32_t file);
/* In order of file, then offset. Files are in order of path. */
const struct dft_block *dft_source_blocks(const struct dft_source *source, size_t *count);
const struct dft_source_process *dft_source_processes(const struct dft_source *source, uint32_t *count);
/* The jobs that were found, as far as they are asked for. */
const struct dft_source_job *dft_source_jobs(const struct dft_source *source, uint32_t *count);
/* The runs that were found (source_runs.c), also those that are left out, in order of start. A run without an id is the
 * first. Ranks are not counted. *apart, if not NULL: how many groups of its processes follow upon each other, so that no
 * process of one group lived when one of another did. */
const struct dft_source_job *dft_source_runs(const struct dft_source *source, uint32_t *count, uint32_t *apart);
/* NULL: the process says none. */
const char *dft_source_run_name(const struct dft_source *source, const struct dft_source_process *process);
/* Smallest start and largest end over all used EVENTS and BUCKETS blocks, whatever the filter; 0, 0 without events. */
void dft_source_span(const struct dft_source *source, uint64_t *start_ns, uint64_t *end_ns);
/* From the load or fork of a process to its end, as PROCESS and END say, or its first and last event where these lie
 * outside, or nothing else is known. 0, 0: nothing is. */
void dft_process_lifetime(const struct dft_source_process *process, uint64_t *start_ns, uint64_t *end_ns);
/* The same of all processes: *start_ns is the origin of all times that are shown as seconds, and of --from and --to. No
 * event lies before it. */
void dft_source_lives(const struct dft_source *source, uint64_t *start_ns, uint64_t *end_ns);
/* How many of its events are kept one by one; what was in flight counts as one. */
enum dft_kept_events { DFT_KEPT_ALL, DFT_KEPT_SOME, DFT_KEPT_NONE /* aggregates alone */ };
enum dft_kept_events dft_source_kept(const struct dft_source *source);
/* Number of used blocks of a type. */
size_t dft_source_used(const struct dft_source *source, enum dft_block_type type);
/* The table of the texts found so far. */
struct dft_names *dft_source_names_table(const struct dft_source *source);

#endif
