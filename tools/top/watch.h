/* SPDX-License-Identifier: MIT */
/* What `dftmerge top` knows of a job: its processes, their traces and live files. A look reads only
 * what is new since the look before.
 *
 * A live file is mapped once. Its rings are copied when they have changed, then the traces that
 * have grown are read, then the events of the copies that no block has are added up. A drain frees
 * a slot only after its block is in the trace, so an event is in the copy, in the trace, or in
 * both. */
#ifndef DFT_TOP_WATCH_H
#define DFT_TOP_WATCH_H

#include <sys/stat.h>

#include "base/names.h"
#include "format/live_format.h"
#include "top/cells.h"

#define DFT_TOP_RANGES 16u

struct dft_table;

/* The newest ranges that blocks of a stream cover. Older ones are of no use: a ring holds at most
 * 4,096 numbers. */
struct dft_top_ranges {
    uint64_t first[DFT_TOP_RANGES], last[DFT_TOP_RANGES];
    uint32_t count; /* so far; the place of the next one is this modulo DFT_TOP_RANGES */
};

/* A block of events whose rows are not in the trace: a process keeps the rows of up to 16
 * blocks. */
struct dft_top_waiting {
    uint64_t from, to; /* where it lies in the trace */
    uint64_t first, last;
    uint32_t trace, part;
    uint8_t is_read;
    struct dft_top_cells calls; /* once it was read */
};

struct dft_top_stream {
    uint32_t stream;
    struct dft_top_ranges rows, events; /* of BUCKETS, of EVENTS */
    struct dft_top_waiting *waiting;
    size_t nwaiting, waiting_capacity;
};

struct dft_top_process {
    uint64_t key, order, start_ns, dropped;
    uint32_t pid, ppid;
    int32_t rank;      /* -1: none is known */
    uint8_t exit_kind; /* enum dft_ending; UNKNOWN: no end is known */
    uint8_t shown;     /* passes the filter */
    char *command, *host;
    struct dft_top_cells calls, files;           /* of blocks */
    struct dft_top_cells live_calls, live_files; /* of the live file alone */
    struct dft_top_stream *streams;
    uint32_t nstreams, streams_capacity;
    uint64_t blocks;   /* EVENTS and BUCKETS so far */
    uint64_t live_key; /* key of the live file that has its calls: its own, or that of a vfork child's parent */
};

/* A call that has not returned. */
struct dft_top_flight {
    uint32_t process, tid; /* process: position in the watch */
    uint64_t call, file, start_ns;
    int32_t fd;
    uint8_t op;
};

/* A range of a trace in which no whole block was found so far. */
struct dft_top_hole {
    uint64_t from, to, since_ns;
};

struct dft_top_trace {
    char *path;
    int fd; /* -1: not open */
    uint8_t is_tried;
    uint64_t bytes;
    struct dft_top_hole *holes;
    size_t nholes, holes_capacity;
    struct dft_top_hole *left; /* EVENTS blocks that were passed over, because nobody asks for files */
    size_t nleft, left_capacity;
};

struct dft_top_live {
    char *path;
    int fd, pidfd; /* -1: none */
    const void *map;
    size_t bytes;
    char *copy; /* as large as the mapping when it was made */
    size_t copied;
    uint64_t signature; /* of the heads of its rings when they were copied */
    uint64_t key;
    uint8_t life;     /* enum dft_life */
    uint8_t given_up; /* it makes no sense, or has gone */
    uint8_t is_named; /* a trace names it: it must have been made for that trace */
    /* The sums of its rings are made again when they are stale, when files are wanted and were not, and when the number
     * of blocks of the process has changed. */
    uint8_t is_stale, had_files;
    uint64_t blocks;
    uint64_t looked_ns; /* when its life was queried */
};

struct dft_top_directory {
    char *path;
    struct timespec changed;
};

struct dft_top_watch {
    char *const *paths;
    int npaths, is_begun; /* is_begun: the paths were looked at */
    struct dft_top_process *processes;
    struct dft_top_trace *traces;
    struct dft_top_live *lives;
    struct dft_top_directory *directories;
    uint32_t nprocesses, ntraces, nlives, ndirectories;
    uint32_t processes_capacity, traces_capacity, lives_capacity, directories_capacity;
    struct dft_map by_key;   /* process key -> position + 1 */
    struct dft_map by_path;  /* hash of a path -> 1 */
    struct dft_map by_inode; /* of traces and live files -> 1 */
    struct dft_map seen;     /* blocks: their key, stream and range -> 1 */
    struct dft_names *names;
    struct dft_decoder *decoder;
    struct dft_table *calls, *files; /* for the events of one batch */
    uint32_t *order;
    struct dft_top_flight *flights;
    size_t nflights, flights_capacity;
    char *window; /* of a trace */
    size_t window_bytes;
    int wants_files; /* somebody asks about files: EVENTS are read, too */
    uint64_t now_ns; /* of the last look, CLOCK_REALTIME */
    char **notes;
    size_t nnotes, notes_capacity;
    int bad; /* something could not be read */
};

/* Both return 0 or -errno. */
int dft_top_watch_init(struct dft_top_watch *watch, char *const *paths, int npaths);
void dft_top_watch_fini(struct dft_top_watch *watch);
/* `settled`: waits up to 40 ms for blocks that are being written. Returns 0 or -ENOMEM. */
int dft_top_watch_look(struct dft_top_watch *watch, int settled);

#endif
