/* SPDX-License-Identifier: MIT */
/* The descriptors of the recorded processes. Each stands for a handle: an open file of the replaying process. The
 * thread that reads the trace follows the calls that make, copy and close descriptors. So each call knows its handle
 * before it is repeated, whichever thread repeats it. */
#ifndef DFT_REPLAY_TABLES_H
#define DFT_REPLAY_TABLES_H

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/map.h"
#include "replay/replay_files.h"
#include "views/ps_tree.h"
#include "object/object.h"

struct dft_replay_call_at; /* replay_threads.h */

struct dft_replay_handle {
    struct dft_replay_file *file;
    struct dft_replay_call_at *held; /* a seek in a stream: the next call on it tells where it went */
    _Atomic uint32_t refs;           /* descriptors and calls that need it */
    uint32_t tables;                 /* descriptors that stand for it */
    uint32_t given;                  /* calls on it, as passed to the threads */
    _Atomic uint32_t done;           /* ... and as done */
    _Atomic uint32_t ready;          /* 1: it was opened, or that failed */
    uint32_t number;                 /* of its fopen in the trace + 1; 0: no stream */
    int fd;                          /* of this process; -1: not open */
    FILE *_Atomic stream;            /* threads of several processes may need the first one at once */
    DIR *_Atomic dir;
    uint64_t place; /* plan: where the next call would move data */
    uint8_t cloexec;
    uint8_t appends; /* opened with O_APPEND */
    uint8_t at_end;  /* plan: a seek has led to the end */
    uint8_t astray;  /* its own place may not be that of the recorded descriptor */
};

/* NULL: no memory. The caller has one reference. */
struct dft_replay_handle *dft_replay_handle_create(struct dft_replay_file *file);
static inline struct dft_replay_handle *dft_replay_handle_get(struct dft_replay_handle *handle)
{
    atomic_fetch_add_explicit(&handle->refs, 1, memory_order_relaxed);
    return handle;
}
/* Gives a reference back (NULL: does nothing). With the last one, what is still open is closed. */
void dft_replay_handle_put(struct dft_replay_handle *handle);

/* A descriptor that a call is about to return. Until then its number may be that of another one. */
struct dft_replay_pending {
    uint64_t end_ns, fd;
    struct dft_replay_handle *handle;
};

struct dft_replay_process {
    struct dft_map fds; /* key of a descriptor to its handle; 0: closed */
    struct dft_replay_pending *pending;
    size_t npending, pending_capacity;
    uint64_t first_end_ns; /* of those that are pending */
    uint8_t begun, copied;
    uint8_t repeated; /* plan: it has calls that are repeated */
};

struct dft_replay_tables {
    const struct dft_source_process *images;
    struct dft_replay_process *processes; /* by number */
    uint32_t count;
    struct dft_ps_tree tree;
    struct dft_map children; /* of parent and pid: number + 1 */
    uint32_t *active;        /* processes that have begun and are not over */
    uint32_t nactive;
    /* the last descriptor of a handle with a held seek is gone */
    void (*forget)(void *context, struct dft_replay_handle *handle);
    void *context;
};

/* Returns 0 or -ENOMEM; the caller calls fini in either case. */
int dft_replay_tables_init(struct dft_replay_tables *tables, const struct dft_source *source,
                           const struct dft_filter *filter);
void dft_replay_tables_fini(struct dft_replay_tables *tables);

/* The key of a descriptor; of one that the trace does not tell, that of its file. */
static inline uint64_t dft_replay_fd_key(int64_t fd, uint64_t file)
{
    return fd >= 0 ? (uint64_t)fd + 1 : file | UINT64_C(1) << 63;
}
/* The handle of a descriptor for this file. NULL: the descriptor stands for no file that is known, or for another one.
 * No reference is taken. */
struct dft_replay_handle *dft_replay_tables_find(struct dft_replay_tables *tables, uint32_t process, uint64_t fd,
                                                 const struct dft_replay_file *file);
/* The descriptor stands for this handle from now on; NULL: it is closed. Returns 0 or -ENOMEM. */
int dft_replay_tables_put(struct dft_replay_tables *tables, uint32_t process, uint64_t fd,
                          struct dft_replay_handle *handle);
/* The same from the time on at which the call returns. */
int dft_replay_tables_put_later(struct dft_replay_tables *tables, uint32_t process, uint64_t fd,
                                struct dft_replay_handle *handle, uint64_t end_ns);
/* An event of this process comes. With the first one, descriptors are inherited, and processes that were over before
 * lose theirs. Returns 0 or -ENOMEM. */
int dft_replay_tables_enter(struct dft_replay_tables *tables, uint32_t process, uint64_t start_ns);
/* The process starts a child with this pid, which inherits its descriptors. Returns 0 or -ENOMEM. */
int dft_replay_tables_fork(struct dft_replay_tables *tables, uint32_t process, int64_t pid);

#endif
