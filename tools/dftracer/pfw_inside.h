/* SPDX-License-Identifier: MIT */
/* What the parts of the converter share: the state of one file being converted. One thread. */
#ifndef DFT_PFW_INSIDE_H
#define DFT_PFW_INSIDE_H

#include "aggregator/aggregate.h"
#include "format/encode.h"
#include "dftracer/pfw.h"
#include "base/map.h"
#include "dftracer/pfw_record.h"

#define DFT_PFW_INTERVAL_NS UINT64_C(1000000000) /* of aggregates made of events */

enum dft_pfw_hash { DFT_HASH_HOST = 1, DFT_HASH_FILE = 2, DFT_HASH_STRING = 3 };

/* A kind of call: category and name. */
struct dft_pfw_call {
    uint64_t id;
    struct dft_text text; /* "category NUL name", owned */
    uint8_t op;
    uint8_t libc;             /* POSIX, STDIO or LIBC_IO: errors are results below 0 */
    uint8_t bookkeeping;      /* "start" and "end" of category dftracer: 1, 2 */
    uint32_t position[3][64]; /* on files without a class, STARTUP, WAIT, and by op: in dft_pfw.calls, + 1 */
};

struct dft_pfw_process {
    uint64_t pid, host; /* host: name id, 0: not known yet */
    struct dft_process record;
    void *owned[4]; /* texts of the record */
    uint32_t nowned, streams;
    uint32_t peer;    /* number of the next one of this pid, on another host, round to the first */
    uint64_t last_ns; /* end of the latest event in the file's order */
    uint64_t end_ns;  /* of the "end" record */
    uint64_t events;
    uint8_t started, ended; /* there was a record "start", "end" */
    uint8_t ours;           /* written by `dftmerge export`: start and end were no events there */
};

/* Events of one thread of one process that are not in a block yet. Texts of arguments are offsets
 * into `text`. */
struct dft_pfw_stream {
    struct dft_pfw_process *process;
    uint64_t thread;
    uint32_t number;
    struct dft_event *events;
    struct dft_arg *args;
    char *text;
    uint32_t count, capacity, nargs, args_capacity;
    size_t text_used, text_capacity;
    uint64_t first;            /* sequence number of the first of them */
    uint64_t max_end, last_id; /* latest end so far, and the id of the last record with it */
    struct dft_table *rows;    /* aggregates of the events since rows_first; NULL: none */
    uint64_t interval_ns;      /* of `rows` */
    uint64_t rows_first;
    uint64_t rows_start, rows_end;
};

/* What a first reading finds out, for a second one. */
struct dft_pfw_known {
    uint64_t unit_ns;            /* of ts and dur */
    uint64_t period_ns;          /* of aggregated records */
    struct dft_map definitions;  /* hash -> id, of those that are used before they are defined: the first definition */
    struct dft_map classes;      /* id of a file with a class of its own (classes.def) -> enum dft_io */
    struct dft_map parents;      /* (pid, id) of enclosing events -> id of their call */
    struct dft_map parent_texts; /* id -> offset of (length, text) in `texts` */
    struct dft_map repeated;     /* hash of a line that may stand there twice -> times seen */
    char *texts;
    size_t texts_used, texts_capacity;
};

#define DFT_PFW_CALL_CACHE 1024u

struct dft_pfw_cached_call {
    uint64_t head, tail; /* eight letters of the name; the others, and those of the category */
    struct dft_pfw_call *call;
    uint32_t category_length, name_length;
};

struct dft_pfw_waiting { /* metadata that came before the first time */
    char *text;
    uint32_t length;
};

struct dft_pfw {
    const struct dft_pfw_job *job;
    struct dft_pfw_worker *worker;
    struct dft_encoder *encoder;
    struct dft_pfw_record *record;
    struct dft_pfw_counts *counts;
    struct dft_pfw_known *known;
    int second;                                      /* this is the second reading */
    int surveys;                                     /* a second reading is needed: nothing is converted any more */
    int repeated;                                    /* the record at hand stands there for the second time */
    int timed;                                       /* an event with a time was seen */
    int periodic;                                    /* an aggregated record was seen */
    int error;                                       /* -errno that ends all */
    uint64_t now_ns;                                 /* start of the last event */
    uint64_t first_ns, time_sum, byte_sum, call_sum; /* start of the first one; sums over all (pfw_time.h) */
    int closed;                                      /* a line "]" was the last one */

    struct dft_map definitions; /* hash and kind -> name id */
    struct dft_map ambiguous;   /* those that had another one before */
    struct dft_map unresolved;  /* those that were requested in vain */
    struct dft_map seen;        /* hashes of lines without id or time */
    struct dft_map named;       /* ids whose text is in a block, or among `names` */
    struct dft_map short_texts; /* ids of hosts and strings -> offset + 1 in `strings` of (length, text) */
    char *strings;
    size_t strings_used, strings_capacity;

    struct dft_name *names; /* to go into the next block; texts are offsets in name_text */
    uint32_t nnames, names_capacity;
    char *name_text;
    size_t name_text_used, name_text_capacity;

    struct dft_call *calls; /* of all batches */
    uint32_t ncalls, calls_capacity;
    struct dft_pfw_call **kinds;
    uint32_t nkinds, kinds_capacity;
    struct dft_map kind_of; /* id -> number + 1 */
    struct dft_pfw_cached_call *cache;

    struct dft_pfw_process **processes;
    uint32_t nprocesses, processes_capacity;
    struct dft_map process_of; /* pid -> number + 1 of the current one */
    struct dft_pfw_stream **streams;
    uint32_t nstreams, streams_capacity;
    struct dft_map stream_of; /* process, thread, kind -> number + 1 */
    /* What the members of the last record came to: that holds for the next one where they have not
     * changed. */
    struct dft_pfw_call *last_call; /* NULL: to be looked for; and so on */
    uint64_t last_file;
    struct dft_pfw_stream *last_stream;
    uint64_t last_have; /* which members it was found by, and bit 0; 0: to be looked for */
    uint64_t last_pid, last_tid;
    uint64_t last_host_token, last_host;
    uint64_t buffered; /* events in all streams */
    uint32_t tables;
    uint32_t holding; /* streams that have memory for events */

    struct dft_pfw_waiting *waiting;
    uint32_t nwaiting, waiting_capacity;
    size_t waiting_bytes;
    char *buffer; /* for unescaped texts */
    size_t buffer_bytes;
};

#endif
