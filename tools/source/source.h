/* A source of blocks: every command of dftmerge reads traces through it.
 *
 * dft_source_open finds the inputs, reads every block's header and verifies every checksum (N threads, by file), drops
 * what was seen twice, and knows all processes. From then on nothing of the source changes but its names and notes, so
 * the commands may read blocks in any order and from any number of threads. Payloads are read again when they are
 * needed: memory is 80 bytes a block, plus processes, plus the names that were asked for.
 *
 * COVERAGE. Blocks of one (key, stream, type) are sorted by first, then by last descending; a block within the range of
 * one that is kept is dropped (DFT_BLOCK_COVERED). A partial overlap cannot come from our writers: of an EVENTS block
 * the events numbered at or below what is covered are left out when it is read (the i-th has the number first + i:
 * never twice, at worst missing), a BUCKETS block cannot be split and is dropped whole; both are noted. Blocks without
 * a range (PROCESS, CLOCK, NAMES, END ..., and events in flight) are dropped when an identical one was seen.
 *
 * PARTS. Blocks of a group (dft_block.part) are looked at after the whole ones of their stream, part by part by the same
 * rules, and dropped where whole blocks have said something. Of several divisions of one stream that with most events
 * wins; if it is not complete itself, it is noted that others were left out. A division of which groups are missing is
 * noted, and nothing is said to be lost then.
 *
 * ROWS AND EVENTS. The ranges of EVENTS and BUCKETS blocks of a stream that touch each other form a component. Its
 * events are answered for by its BUCKETS blocks (DFT_IN_ROWS) where these cover it, else by its EVENTS blocks; and the
 * other way round for DFT_IN_EVENTS. So the sum over all blocks with DFT_IN_ROWS counts every event once, and so does
 * that over DFT_IN_EVENTS; only the first is cheap and only the second can be asked everything.
 *
 * LIVE FILES, what a killed or running process left, are turned into blocks in memory when the source is opened; they
 * look like any other file. Records already covered by a block are ignored. The live file of a trace is looked for
 * beside it and where PROCESS says, also when only the trace was named. What was in flight is an EVENTS block with
 * first > last whose events have DFT_BIT_OPEN.
 *
 * FOREIGN FILES, those of DFTracer, are converted into blocks when the source is opened; see pfw.h.
 *
 * NAMES (id -> text) are fetched by dft_source_names, for all or for those wanted; see names.h.
 *
 * Threads: open, close, notes sorted, ordered: one thread. Everything `const struct dft_source *`: any. Callbacks of
 * visits run in `threads` threads at once, told apart by `worker`. */
#ifndef DFT_SOURCE_H
#define DFT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "format/codec.h"
#include "base/names.h"
#include "dftracer/pfw.h"

struct dft_source;
struct dft_filter;
struct dft_clocks;

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

/* One process image. Numbers are by ascending key, whatever order the files came in. */
/* What END says, without the room that losses take where there are none. */
struct dft_source_end {
    uint64_t key, events, overhead_ns, time_ns, outside;
    const uint64_t *dropped, *misuse; /* by enum dft_drop, and enum dft_misuse: as in struct dft_end */
    struct dft_text unmet;
    int32_t status;
    uint8_t how; /* enum dft_ending */
};
void dft_source_end_whole(const struct dft_source_end *kept, struct dft_end *end);

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

/* Opens all inputs. What cannot be read is noted and left out: 0 is returned all the same; look at dft_source_status.
 * *source is NULL only on -ENOMEM. */
int dft_source_open(struct dft_source **source, const struct dft_source_options *options);
void dft_source_close(struct dft_source *source);

unsigned dft_source_threads(const struct dft_source *source);
const struct dft_source_file *dft_source_files(const struct dft_source *source, uint32_t *count);
/* In order of file, then offset. Files are in order of path. */
const struct dft_block *dft_source_blocks(const struct dft_source *source, size_t *count);
const struct dft_source_process *dft_source_processes(const struct dft_source *source, uint32_t *count);
/* The jobs that were found, as far as they are asked for. */
const struct dft_source_job *dft_source_jobs(const struct dft_source *source, uint32_t *count);
/* The runs that were found (source_runs.c), also those that are left out, in order of start; the one without an id, if
 * there is one, is the first. Ranks are not counted. *apart, if not NULL: how many groups of its processes follow upon
 * each other, no process of one living when one of another did. */
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
/* From now on the times of events, of blocks, of processes and of the span are corrected (clocks.h); those of rows are
 * not, their intervals being fixed. At most once, before events are read. `clocks` must live as long as the source. */
void dft_source_align(struct dft_source *source, const struct dft_clocks *clocks);
/* Does it still run? One that has ended does not. */
enum dft_life dft_process_life(const struct dft_source_process *process);
/* Events that END says were written, and that no block has: at least so many. */
uint64_t dft_source_missing(const struct dft_source_process *process);
/* How many of its events are kept one by one; what was in flight counts as one. */
enum dft_kept_events { DFT_KEPT_ALL, DFT_KEPT_SOME, DFT_KEPT_NONE /* aggregates alone */ };
enum dft_kept_events dft_source_kept(const struct dft_source *source);
/* Notes how many calls DFTRACER_DATA_DIR has left out, where there are some. */
void dft_source_note_outside(struct dft_source *source);
/* Number of used blocks of a type. */
size_t dft_source_used(const struct dft_source *source, enum dft_block_type type);

/* --- notes and status --------------------------------------------------------------------------------------------- */

/* What the user must be told, one line each, without a newline; any thread. Equal texts are kept once. `bad`: enum
 * dft_bad. */
enum dft_bad {
    DFT_BAD_NOTHING = 0,
    DFT_BAD_UNREAD = 1, /* something is not here */
    DFT_BAD_OTHER = 2,  /* something is wrong, for which nothing is missing */
};
void dft_source_note(struct dft_source *source, int bad, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The notes so far, sorted, valid until the next note. E.g.
 * "FILE: block at 81920: payload checksum differs; 3 of 57 blocks unreadable, the rest used". */
char *const *dft_source_notes(struct dft_source *source, size_t *count);
/* How many notes say that something is not here: then nobody can say that nothing was lost. */
uint64_t dft_source_unread(struct dft_source *source);
/* 0: all good; else something could not be read, or there was nothing to read. */
int dft_source_status(const struct dft_source *source);
/* Prints "dftmerge: NOTE" lines on stderr (not when quiet), each note once over all calls. */
void dft_source_report(struct dft_source *source);
/* Progress on stderr after the first second, when that is a terminal and not quiet: "done of all WHAT". Any thread;
 * cheap. Ends with done == all. */
void dft_source_progress(struct dft_source *source, const char *what, uint64_t done, uint64_t all);

/* --- reading blocks ----------------------------------------------------------------------------------------------- */

/* One thread's means to read blocks: an open file, a buffer, a decoder. */
struct dft_reader;
struct dft_reader *dft_reader_create(struct dft_source *source); /* NULL: no memory */
void dft_reader_destroy(struct dft_reader *reader);
struct dft_decoder *dft_reader_decoder(struct dft_reader *reader);

/* Reads a block: its header, and the payload behind it (header->stored bytes, verified again). The header is followed
 * by the payload in memory, so `(char *)*payload - sizeof *header` is the block as it stands in the file, without
 * padding. Valid until the next read. Returns 0, -ENOMEM, or another -errno after a note (the file changed meanwhile).
 * */
int dft_reader_block(struct dft_reader *reader, const struct dft_block *block, struct dft_block_header *header,
                     const void **payload);

/* Reads and decodes. A block that cannot be decoded is noted. Of an OVERLAPS block only the events behind `covered` are
 * given, with batch->first moved. The texts of the calls are put into the source's names. Valid until the next read. */
int dft_reader_events(struct dft_reader *reader, const struct dft_block *block, struct dft_batch *batch);
int dft_reader_buckets(struct dft_reader *reader, const struct dft_block *block, struct dft_buckets *buckets);

/* --- visiting blocks, N threads, no order --------------------------------------------------------------------------
 * */

/* Callbacks return 0 to go on; anything else ends the visit, which returns it (one of them, if several). */
struct dft_visit {
    void *context;
    /* Is this block to be read? NULL: every one with state USED or OVERLAPS. Called from one thread. */
    int (*select)(void *context, const struct dft_source_process *process, const struct dft_block *block);
    /* Per type; where it is NULL blocks of that type go to `raw`, or are passed over. The batch may be changed in
     * place. */
    int (*events)(void *context, unsigned worker, const struct dft_source_process *process,
                  const struct dft_block *block, struct dft_batch *batch);
    int (*buckets)(void *context, unsigned worker, const struct dft_source_process *process,
                   const struct dft_block *block, struct dft_buckets *buckets);
    int (*raw)(void *context, unsigned worker, const struct dft_source_process *process, const struct dft_block *block,
               const struct dft_block_header *header, const void *payload);
    const char *progress; /* "events read", for the progress line; NULL: none */
};
/* Blocks that cannot be read are noted and passed over. Returns 0, -ENOMEM, or what a callback returned. */
int dft_source_visit(struct dft_source *source, const struct dft_visit *visit);

/* --- events in global order ----------------------------------------------------------------------------------------
 * */

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

/* Gives every event that passes the filter (NULL: all), each once: ordered by start, then process key, tid, stream,
 * sequence. Memory is bounded by time windows (about half a million events; more only when more than that start in the
 * same nanosecond). Decodes in `threads` threads; the callback runs in the caller's thread. For texts of all
 * names see dft_source_names_locate. */
int dft_source_ordered(struct dft_source *source, const struct dft_filter *filter,
                       int (*give)(void *context, const struct dft_event_at *at), void *context);

/* The same for whoever keeps less of an event than the whole: events window by window of time, in no order within one. */
struct dft_sweep {
    void *context;
    size_t most; /* events that a window may hold; more only of one nanosecond */
    /* Keeps what it needs of those events of a batch that start in [from, to] and that it wants. Any thread, told apart by
     * `worker`. Returns their number, or -errno. */
    int64_t (*keep)(void *context, unsigned worker, const struct dft_source_process *process,
                    const struct dft_batch *batch, uint64_t from, uint64_t to);
    int (*window)(void *context); /* the window is complete: what comes starts behind all that was kept so far */
    void (*clear)(void *context); /* forgets what was kept since the last window: it comes again */
};
/* The filter is that of blocks alone. Returns 0, -ENOMEM, or what a callback returned. */
int dft_source_sweep(struct dft_source *source, const struct dft_filter *filter, const struct dft_sweep *sweep);

/* Events in order, of any stretch of time [from, to], by one rank of dftmerge-mpi or many, each by itself: all names have been
 * located, and every rank can read every block (dft_event_text). each_process: of one process at a time, else `process` is
 * not looked at. *timeline is to be destroyed, whatever is returned: 0, -ENOMEM, or what give returned. */
struct dft_timeline;
int dft_timeline_create(struct dft_timeline **timeline, struct dft_source *source, const struct dft_filter *filter,
                        int each_process);
int dft_timeline_give(struct dft_timeline *timeline, uint32_t process, uint64_t from, uint64_t to,
                      int (*give)(void *context, const struct dft_event_at *at), void *context);
/* Of events of a thread that start together the one around others comes first
 * (dft_enclosing_compare). */
void dft_timeline_outer_first(struct dft_timeline *timeline);
void dft_timeline_destroy(struct dft_timeline *timeline);

/* The same in file order, of the blocks numbered from `from` to before `to`, in one thread, at once: for --unsorted. */
int dft_source_unordered(struct dft_source *source, const struct dft_filter *filter, size_t from, size_t to,
                         int (*give)(void *context, const struct dft_event_at *at), void *context);

/* May a block hold events that pass, and answers for them? */
int dft_source_wants(const struct dft_source *source, const struct dft_filter *filter, const struct dft_block *block);

/* Where stretches of time begin that hold about as many events each, as far as headers tell; the first begins with the
 * first event, and without events there is none. For who numbers blocks instead of times: by_block. The same on all ranks,
 * however many they are. *starts is from malloc. Returns 0 or -ENOMEM. */
int dft_source_stretches(const struct dft_source *source, const struct dft_filter *filter, int by_block,
                         uint64_t **starts, size_t *count);

/* --- names ----------------------------------------------------------------------------------------------------------
 * */

/* The table of the source: texts found so far. */
struct dft_names *dft_source_names_table(const struct dft_source *source);
/* Fetches the texts of all names (wanted == NULL), or of `count` ids; those already there cost nothing. Stops reading
 * when all wanted ones were found. Returns 0 or -ENOMEM; names whose text is nowhere stay unknown. */
int dft_source_names(struct dft_source *source, const uint64_t *wanted, size_t count);
/* The same into a table of the caller's, for texts that are not to stay: those that the source's table has not. */
int dft_source_names_into(struct dft_source *source, struct dft_names *names, const uint64_t *wanted, size_t count);
/* Gives the names of all blocks (with many ranks: of this rank's share, or all) and keeps none; from several threads at once, and one
 * again wherever it stands. `give` returns 0 or what ends it, which is returned; texts are valid while it runs. */
int dft_source_names_each(struct dft_source *source, int (*give)(void *context, uint64_t id, struct dft_text text),
                          void *context);
/* Fetches what BUCKETS and NAMES blocks alone hold: mostly all names of calls and regions, for a fraction of the work.
 * */
int dft_source_names_of_rows(struct dft_source *source);
/* May a block hold names? Copies hold nothing new; a block whose range was seen in another one may. */
int dft_block_has_names(const struct dft_block *block);
/* Before all events are gone through: has all names looked for. Texts are kept up to a bound (those of calls and regions beyond it,
 * too), of the others it is known where they stand (24 to 48 bytes each); dft_source_ordered and dft_source_unordered fetch these again
 * for the events that they give, and forget them behind these. Returns 0 or -ENOMEM. */
int dft_source_names_locate(struct dft_source *source);
/* Is called before texts are forgotten: what holds back events that it was given writes them now. Events of one start are not parted
 * unless these alone have more names than there is room for. */
void dft_source_names_on_return(struct dft_source *source, void (*write)(void *context), void *context);

#endif
