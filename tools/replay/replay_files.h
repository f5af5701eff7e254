/* SPDX-License-Identifier: MIT */
/* The files of a trace as replay sees them: a namespace of its own, by normal path. It says which files must be there
 * at the start, and which calls on a file are over. */
#ifndef DFT_REPLAY_FILES_H
#define DFT_REPLAY_FILES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "format/text.h"

#define DFT_REPLAY_PATH_MAX 4000u /* of a path below the root; the root's own path comes before it */

/* What was there before the trace began. UNKNOWN: no call has shown it so far. */
enum dft_replay_start { DFT_START_UNKNOWN, DFT_START_FILE, DFT_START_FOLDER, DFT_START_ABSENT };

/* How calls on a file are distinguished by kind, to keep their order. Each counter exists twice: as passed to the
 * threads, and as done. */
enum dft_replay_order {
    DFT_ORDER_CHANGES, /* made, removed, renamed, cut */
    DFT_ORDER_WRITES,
    DFT_ORDER_USES, /* all calls */
    DFT_ORDERS
};

/* One path. Its place in memory does not change. */
struct dft_replay_file {
    uint64_t name; /* the first name id that stands for the path; 0: known only as the folder of others */
    uint64_t start_size;
    struct dft_replay_file *parent; /* NULL: the root */
    union {
        struct {              /* while the plan is made */
            uint64_t size;    /* as it would be now */
            uint64_t most;    /* the largest that it becomes */
            uint64_t written; /* bytes, in all its life */
        };
        struct {                        /* while calls are repeated */
            uint32_t given[DFT_ORDERS]; /* of the thread that reads the trace */
            _Atomic uint32_t done[DFT_ORDERS];
        };
    };
    uint8_t start;         /* enum dft_replay_start */
    uint8_t exists, fresh; /* fresh: nothing is left of what it had at the start */
    uint8_t left;          /* enum dft_replay_reason: why calls on it are not repeated; 0: they are */
    uint8_t touched;       /* a call on it succeeded: its folders must be there */
};

struct dft_replay_files {
    struct dft_map by_name; /* name id, and id of the normal path, to the file */
    struct dft_replay_file **chunks;
    size_t count, capacity;
};

/* The normal form of an absolute path: no empty, "." or ".." components, which never lead above "/". Writes it into
 * `to` (DFT_REPLAY_PATH_MAX bytes) with a NUL. Returns its length, or 0: the text is no path of a file to be made. */
size_t dft_replay_path(char *to, struct dft_text text);

/* The file of a name id with this text. NULL: no memory. Without a text, or with one that is no path, the file says in
 * `left` why. */
struct dft_replay_file *dft_replay_file_of(struct dft_replay_files *files, uint64_t name, struct dft_text text);
/* The file of a normal path, if a call has named it or something below it; NULL: none has. */
struct dft_replay_file *dft_replay_file_find(const struct dft_replay_files *files, const char *path, size_t length);
struct dft_replay_file *dft_replay_file_at(const struct dft_replay_files *files, size_t number);
/* Forgets what calls have done, and begins again with what was there at the start. */
void dft_replay_files_restart(struct dft_replay_files *files);
void dft_replay_files_fini(struct dft_replay_files *files);

#endif
