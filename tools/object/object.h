/* SPDX-License-Identifier: MIT */
/* What a source consists of: its files, blocks, processes and jobs, and who may look at them.
 * Nothing here changes them. */
#ifndef DFT_OBJECT_H
#define DFT_OBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "format/kept.h"
#include "format/row.h"

struct dft_source;
struct dft_names;
struct dft_pfw_counts;
struct dft_kept_rows;

/* FOREIGN: a trace of DFTracer. */
enum dft_source_kind { DFT_FILE_TRACE = 1, DFT_FILE_LIVE = 2, DFT_FILE_IMPORTED = 3 };

#define DFT_SOUGHT_MAX 8u

/* One input. */
struct dft_source_file {
    const char *path;
    uint64_t bytes;       /* size of the file itself */
    uint32_t blocks;      /* number of whole blocks found in the file */
    uint8_t kind;         /* enum dft_source_kind */
    uint8_t gone;         /* live: the process ended and removed the file before the file was read */
    uint8_t has_live;     /* trace: the live file of one of its processes is an input */
    uint16_t live_state;  /* live: enum dft_live_state as found */
    int error;            /* errno of the open or read that failed, else 0 */
    const char *reason;   /* live: why the file makes no sense, else NULL */
    uint64_t key;         /* live: key of the process */
    uint32_t pid;         /* live: pid of the process */
    uint64_t start_ns;    /* live: Unix ns at which the process began or was forked */
    uint64_t seen_ns;     /* live: Unix ns, by the clock of the process, at which it was seen to run; 0: it was not */
    struct dft_text kept; /* live: pairs of KEPT (live/told.c), of which PROCESS may lack the last */
    /* live: what its header and rings count, in the form of an END record; NULL: not known */
    struct dft_end *end;
    uint64_t torn;    /* live: number of half-written records */
    uint64_t in_rows; /* live: number of events that are in rows which no trace has */
    struct dft_skipped skipped;
    /* foreign: the file that holds its blocks, NULL: memory holds them; other files: NULL */
    char *blocks_path;
    /* foreign: counts of what was found in the file; NULL for other files and for unreadable
     * ones */
    struct dft_pfw_counts *counts;
    struct dft_kept_rows *rows; /* foreign: its blocks of rows, where memory holds them; or NULL */
    /* live, foreign: its blocks; file offsets of blocks are offsets in this memory. NULL for
     * traces */
    char *memory;
    size_t memory_bytes;
    uint32_t owner;  /* the rank of dftmerge-mpi that reads the file */
    uint8_t local;   /* only the owner can read the blocks of this file */
    uint8_t changed; /* the file changed since the ranks exchanged it */
    uint8_t life;    /* live: enum dft_life of its process when the file was read */
    uint32_t trace;  /* live: number of the trace of the same process + 1; 0: not known */
    /* live: a copy of the file (`bytes` bytes), if its process may have been running */
    void *snapshot;
    /* trace: how often its live file was looked for; DFT_SOUGHT_MAX once PROCESS was known */
    uint8_t sought;
};

enum dft_block_state {
    DFT_BLOCK_USED = 0,
    /* an equal block was seen: same key, type, stream, range and payload checksum */
    DFT_BLOCK_IDENTICAL = 1,
    DFT_BLOCK_COVERED = 2, /* another block holds its range */
    /* other blocks hold a part of its range. EVENTS: used without the events up to `covered`;
     * BUCKETS: not used */
    DFT_BLOCK_OVERLAPS = 3,
    DFT_BLOCK_UNKNOWN = 4, /* a type that this version does not know: counted, not read */
};

#define DFT_IN_ROWS   1u /* answers for its range when a command asks for rows */
#define DFT_IN_EVENTS 2u /* answers for its range when a command asks for events */
#define DFT_IN_BOTH   4u /* BUCKETS: EVENTS blocks hold its events, too; EVENTS: rows exist, too */

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
    uint32_t stored; /* bytes of the payload in the file */
    uint32_t raw;
    uint32_t payload_crc;
    /* 0: all events of the range; else the number of the group whose events these are */
    uint32_t part;
    uint16_t type;
    uint8_t state; /* enum dft_block_state */
    uint8_t use;   /* DFT_IN_*; only for EVENTS and BUCKETS; 0 when the block is not used */
};

/* Does the process of a live file still exist? */
enum dft_life {
    DFT_LIFE_UNKNOWN = 0, /* this machine or user cannot see the process */
    DFT_LIFE_OVER = 1,
    DFT_LIFE_RUNNING = 2,
};

/* The content of END. Losses take no room where there are none. */
struct dft_source_end {
    uint64_t key, events, overhead_ns, time_ns, outside, pauses, paused_ns;
    /* by enum dft_drop and by enum dft_misuse, as in struct dft_end */
    const uint64_t *dropped, *misuse;
    struct dft_text unmet;
    int32_t status;
    uint8_t exit_kind; /* enum dft_ending */
};

/* One process image. source_number.h says how they are numbered: by start, whatever order the files came in. */
struct dft_source_process {
    uint64_t key;
    /* texts live as long as the source; all zero but key, pid and rank -1 when !known */
    struct dft_process process;
    /* all zero when !ended; for a live file: the content of its header, with the last sign of life as the time */
    struct dft_source_end end;
    uint8_t known; /* an input has its PROCESS block, or its live file (which tells only the pid) */
    uint8_t ended; /* an input has its END block */
    /* enum dft_ending: from END, else KILLED or RUNNING from the live file, else UNKNOWN. Who was waited for and had
     * not said its end is KILLED, with the signal as end.status, or _EXIT. */
    uint8_t exit_kind;
    uint32_t waited;    /* what waitpid said of it to its parent, + 1; 0: nobody has reported it */
    uint32_t waited_by; /* number of this parent + 1; 0: dftrun */
    uint64_t waited_ns; /* when, Unix ns: the process had ended before */
    /* the process has a live file and no END, and cannot be seen from here; the process may
     * still run */
    uint8_t unseen;
    uint32_t number;
    /* number of the trace with its PROCESS block (or of the live file) */
    uint32_t file;
    uint32_t live_file;        /* number of its live file + 1; 0: none */
    uint64_t start_ns, end_ns; /* smallest start and largest end of its events; 0, 0: none */
    /* number of events in its used EVENTS blocks, without those in flight */
    uint64_t events;
    uint64_t recovered; /* number of these events that only the live file has */
    /* numbers in ranges that only BUCKETS blocks cover: an upper bound for the events there */
    uint64_t rows_only;
    uint64_t live_events, live_rows; /* of `events` and of `rows_only`: those in blocks of live files */
    uint8_t parts;                   /* only some groups of its events are here */
    uint8_t more_kept;               /* KEPT has pairs that the trace lacks */
    uint32_t job;                    /* number of its job + 1; 0: no job is known */
    uint32_t run;                    /* number of its run + 1 */
};

/* One launch of a parallel program; judge/source_jobs.c says how launches are distinguished. Jobs are in
 * order of start. */
struct dft_source_job {
    /* for people and --job: the batch system's id, or "unnamed"; "/N" follows where an id has
     * several jobs */
    char *name;
    struct dft_text id; /* may be empty */
    uint64_t id_hash;
    uint32_t number;
    uint32_t processes, ranks, world_size;
    uint64_t start_ns, end_ns; /* Unix ns; 0: unknown */
    uint8_t left_out;          /* a run that the user did not ask for */
};

/* One event, with all that belongs to the event. Valid during the callback. */
struct dft_event_at {
    const struct dft_event *event; /* event->call means nothing here: use `call` */
    const struct dft_source_process *process;
    uint64_t call;  /* name id of the call; dft_names_call gives its category and name */
    uint8_t op, io; /* io: enum dft_io */
    uint32_t tid, stream;
    uint64_t sequence;          /* 0 for events in flight */
    const struct dft_arg *args; /* keys are name ids */
    uint32_t nargs;
};

struct dft_source_options {
    /* files, globs, or directories (searched recursively for *.dft, *.dft.live, *.pfw and
     * *.pfw.gz) */
    char *const *paths;
    int npaths;
    unsigned threads; /* 0: one for each CPU, at most 16 */
    int quiet;        /* show no progress on stderr */
    /* take only processes of these jobs: names and patterns, with commas; NULL: all */
    const char *jobs;
    const char *runs; /* take only processes of these runs, in the same form */
    /* runs is NULL: take only the run that began last, and processes that name no run */
    int newest;
    int note_newest; /* say that it is one of several, in a note */
    int no_index;    /* foreign: write and read no index for later queries */
    int copied;      /* foreign: blocks are handed on, or measured: they are compressed in any case */
    int dedupe;      /* foreign: leave out lines that a file holds twice */
    /* foreign: period of records that stand for many calls; 0: as the trace says, else 5 s */
    uint64_t period_ns;
    int period_ends; /* foreign: such a record carries the time of the period's end */
};

/* Makes a source without inputs. NULL: no memory. */
struct dft_source *dft_source_create(const struct dft_source_options *options);
void dft_source_close(struct dft_source *source); /* NULL: does nothing */

unsigned dft_source_threads(const struct dft_source *source);
const struct dft_source_file *dft_source_files(const struct dft_source *source, uint32_t *count);
/* Does this rank read the file? */
int dft_source_is_mine(const struct dft_source *source, uint32_t file);
/* Blocks in order of file, then of offset. Files are in order of path. */
const struct dft_block *dft_source_blocks(const struct dft_source *source, size_t *count);
const struct dft_source_process *dft_source_processes(const struct dft_source *source, uint32_t *count);
/* The jobs that were found and that the user requested. */
const struct dft_source_job *dft_source_jobs(const struct dft_source *source, uint32_t *count);
/* The runs that were found (judge/source_runs.c), in order of start, also the runs that are left out. A
 * run without an id comes first. Ranks are not counted. *apart (may be NULL) counts the groups of
 * processes of the run without an id. Groups do not overlap in time, and none has started a process
 * of another. */
const struct dft_source_job *dft_source_runs(const struct dft_source *source, uint32_t *count, uint32_t *apart);
/* NULL: no job is known of the process. */
const char *dft_source_job_name(const struct dft_source *source, const struct dft_source_process *process);
/* NULL: the process names no run. */
const char *dft_source_run_name(const struct dft_source *source, const struct dft_source_process *process);
/* Smallest start and largest end over all used EVENTS and BUCKETS blocks, whatever the filter says;
 * 0, 0 without events. */
void dft_source_span(const struct dft_source *source, uint64_t *start_ns, uint64_t *end_ns);
/* The life of a process, from its load or fork to its end, as PROCESS and END tell. A process that runs lives until
 * now, and one that was killed until its last sign of life. The first and last event count instead where they lie
 * outside, or where nothing else is known. 0, 0: nothing is known. */
void dft_process_lifetime(const struct dft_source_process *process, uint64_t *start_ns, uint64_t *end_ns);
/* Is it known how the process ended, so that end.status says something? */
int dft_process_knows_status(const struct dft_source_process *process);
/* Did a signal end it, whether it is known which or not? Without an end it may have left by a raw exit_group, too. */
int dft_process_is_killed(const struct dft_source_process *process);
/* The signal that ended it; 0: none, or it is not known which. */
int dft_process_signal(const struct dft_source_process *process);
#define DFT_ENDED_ROOM 24u
/* "SIGSEGV"; NULL: the signal of this number has no name. */
const char *dft_signal_name(char text[DFT_ENDED_ROOM], int number);
/* "exit", "exit 3", "SIGSEGV", "killed", "running" ... */
const char *dft_process_ended(char text[DFT_ENDED_ROOM], const struct dft_source_process *process);
/* Start and end of each process (dft_process_lifetime). It need not be known which blocks are
 * used. */
void dft_source_find_lives(const struct dft_source *source, uint64_t *start_ns, uint64_t *end_ns);
/* The life of all processes together. *start_ns is the origin of all times that are shown as
 * seconds, and of --from and --to. No event lies before the origin. */
void dft_source_lives(const struct dft_source *source, uint64_t *start_ns, uint64_t *end_ns);
/* How many of its events the source holds one by one. A call in flight counts as one event. */
enum dft_kept_events { DFT_KEPT_ALL, DFT_KEPT_SOME, DFT_KEPT_NONE /* aggregates alone */ };
enum dft_kept_events dft_source_kept(const struct dft_source *source);
/* The number of used blocks of a type. */
size_t dft_source_used(const struct dft_source *source, enum dft_block_type type);
/* The table of the texts found so far. */
struct dft_names *dft_source_names_table(const struct dft_source *source);

#endif
