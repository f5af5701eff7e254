/* SPDX-License-Identifier: MIT */
/* What the parts of fuzz_calls share: a worker (a process, or a thread of one) that makes random
 * calls and writes down what each did.
 *
 * Every operation draws from a generator of its own (seed, worker, number), so that operations can
 * be left out and the others stay what they are. Nothing depends on time: each worker has a
 * directory of its own, and what workers share is only read.
 *
 * The truth about a call (where it happened, on what) is found by raw system calls, which no tracer
 * of the C library sees. */
#ifndef FUZZ_H
#define FUZZ_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "raw.h"

#define NAME_ROOM   512
#define FDS         20
#define STREAMS     6
#define DIRS        3
#define MAPS        4
#define BUFFER      65536
#define STALE_ERRNO EXFULL /* errno before each call: no call here ever fails with it */

/* A file as the program named it, absolute; `also`: another name by which one may rightly call it,
 * or "". */
struct name {
    char file[NAME_ROOM], also[NAME_ROOM];
};

struct shared_file { /* an open file description */
    int references;
    struct name name;
    int untraced;       /* not below the traced directory: pipes, sockets, what is excluded */
    int shared;         /* with another process */
    int streamed;       /* a stream was on it */
    int mixed;          /* and its offset was moved by other calls than the stream's */
    const char *origin; /* the call that made it, when it may not be followed from its beginning; "" */
    char moved_by[96];  /* calls that moved the offset and that a tracer may not know */
};

struct fd_slot {
    int fd;        /* -1: free */
    char seen[80]; /* calls made on it: a tracer looks at what it does not know at the first that it follows */
    struct shared_file *file;
    char resolved
        [NAME_ROOM]; /* of a file from an unknown origin: the kernel's name when the first call was made on it */
};

struct stream_slot {
    FILE *stream; /* NULL: free */
    char *buffer; /* of setvbuf */
    int readable, writable, calls, serial;
    int wrote, can_seek;
    long kernel; /* where the stream's buffer ends in the file */
    long before; /* the kernel's offset before the call */
    struct fd_slot at;
};

struct dir_slot {
    DIR *dir;
    struct fd_slot at;
};

struct map_slot {
    char *at;
    size_t length;
    long offset;
    struct shared_file *file;
    struct name name;
};

struct worker {
    uint64_t random;
    int threaded, depth, op, error, untraced_too;
    unsigned ops;
    uint64_t seed, number; /* of the generator */
    char root[NAME_ROOM], lineage[64];
    char *log;
    size_t log_used;
    const char *keep; /* which operations to do: "0-99,150" */
    struct fd_slot fds[FDS];
    struct stream_slot streams[STREAMS];
    struct dir_slot dirs[DIRS];
    struct map_slot maps[MAPS];
    int common;      /* descriptor of a file that all threads read, or -1 */
    int common_race; /* the same, its offset moved by all */
    struct shared_file common_file, race_file;
    struct fd_slot *about; /* whose facts were asked for last */
    int last_closed, children, serial;
    char buffer[BUFFER];
};

struct options {
    uint64_t seed;
    unsigned ops, processes, threads;
    const char *work, *logs, *keep;
    int only; /* the only worker to run, or -1 */
};
extern struct options options;

/* --- chance.c --- */
uint64_t chance_next(struct worker *w);
unsigned below(struct worker *w, unsigned limit); /* 0 .. limit - 1 */
int percent(struct worker *w, unsigned percentage);
void chance_begin(struct worker *w, int op);
size_t some_size(struct worker *w);
long some_offset(struct worker *w);
void some_bytes(struct worker *w, void *to, size_t size);
int is_kept(const char *keep, int op);

/* --- log.c --- */
void log_open(struct worker *w);
void log_close(struct worker *w);
/* One call: its name, result, errno (0: it did not fail) and what else is true, as tab-separated
 * key=value; keys that begin with '~' may differ between two runs. */
void say(struct worker *w, const char *name, long result, int failed, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same for a call that returns a descriptor: its number is only the same in two runs where no
 * thread opens beside us. */
void say_fd(struct worker *w, const char *name, long result, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "fd=3" or "~fd=3". */
const char *fd_text(const struct worker *w, int fd);
/* "file=...\talso=..." */
const char *file_text(const struct name *name);
int is_random(const char *path);
unsigned long sum_of(const void *data, size_t size);

/* --- truth.c --- */
long raw_offset(int fd);
long raw_size(int fd);
int raw_is_open(int fd);
int raw_flags(int fd);
/* Where a read or write through the descriptor's own offset happens; -1: nowhere. */
long fd_place(int fd, int writing);
/* Where the stream's next byte is read or written. */
long stream_place(struct stream_slot *s, int writing);
/* After a call before which the place was asked for: others may have moved the kernel's offset
 * since the buffer was filled. */
void stream_moved(struct stream_slot *s);
int stream_is_pending(const FILE *stream);
/* The absolute name of `path` below the open directory (NULL: the working directory). */
void make_name(struct worker *w, struct name *name, const struct fd_slot *dir, const char *path);
/* What the kernel calls the file behind the descriptor now. */
void kernel_name(int fd, char *to);

/* --- state.c --- */
struct shared_file *file_new(const struct name *name, const char *origin);
void file_drop(struct shared_file *file);
void moved_by(struct shared_file *file, const char *call);
/* The call is one on the descriptor whose facts were asked for last. */
void seen_by(struct worker *w, const char *call);
struct fd_slot *free_fd(struct worker *w); /* closes one when all are in use */
struct fd_slot *some_fd(struct worker *w); /* NULL: none is open */
struct fd_slot *some_dirfd(struct worker *w);
struct stream_slot *free_stream(struct worker *w);
struct stream_slot *some_stream(struct worker *w);
struct fd_slot bad_fd(struct worker *w);
/* Has the worker this number open? (The kernel would also tell of a tracer's.) */
int is_ours(const struct worker *w, int fd);
const char *some_path(struct worker *w, char *to);
void keep_fd(struct worker *w, int fd, const struct name *name, const char *origin);
void close_slot(struct worker *w, struct fd_slot *slot);
void close_dir(struct worker *w, struct dir_slot *d);
void close_stream(struct worker *w, struct stream_slot *s);
void flush_pending(struct worker *w, const struct stream_slot *except);
/* What is true of any call on a descriptor, and on a stream. */
const char *fd_facts(struct worker *w, struct fd_slot *slot);
struct name fd_name(const struct fd_slot *slot);
void close_everything(struct worker *w);
void op_run(struct worker *w, int op);
void work(struct worker *w);

#define DO(w, expression)                                                                                              \
    ({                                                                                                                 \
        errno = STALE_ERRNO;                                                                                           \
        __typeof__(expression) result_ = (expression);                                                                 \
        (w)->error = errno;                                                                                            \
        result_;                                                                                                       \
    })

struct operation {
    const char *name;
    int weight;   /* for processes */
    int threaded; /* weight for threads */
    void (*run)(struct worker *w);
};

extern const struct operation open_operations[], data_operations[], meta_operations[], stream_operations[],
    text_operations[], dir_operations[], process_operations[], transfer_operations[], seek_operations[];

/* --- ops_process.c --- */
int run_image(int argc, char **argv);
/* --- ops_stream.c --- */
void keep_stream(struct worker *w, struct stream_slot *s, FILE *stream, const char *mode, struct fd_slot at);

#endif
