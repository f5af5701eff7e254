/* SPDX-License-Identifier: MIT */
/* The trace file of this process: its name, its hidden descriptor, and writes to it. */
#ifndef DFT_TRACEFILE_H
#define DFT_TRACEFILE_H

#include <stddef.h>
#include <stdint.h>

#include "format/ops.h"
#include "os/hidden.h"
#include "os/ourfile.h"
#include "store/tracefile_move.h"
#include "store/tracefile_number.h"

/* The path that was last tried. Other threads may move the file, unless the caller holds it. */
const char *dft_tracefile_path(void);
/* Nobody moves the file in between. The caller must not write to it. Signals blocked. */
void dft_tracefile_hold(void);
void dft_tracefile_release(void);

/* Atomic: does a thread move the file just now? */
int dft_tracefile_is_moving(void);
/* Atomic: does a thread write to the file or move it just now, or know where it is? */
int dft_tracefile_is_used(void);
/* Device and inode of the file that was created last. */
struct dft_ourfile;
const struct dft_ourfile *dft_tracefile_identity(void);

/* Removes the file, because nothing could be written to it. */
void dft_tracefile_remove(void);

/* Gives up the descriptor in a forked child, because the file is the parent's. */
void dft_tracefile_forget(void);
/* Nonzero: the process that this thread is making shares the descriptors. The descriptor then stays
 * open when the child forgets the file. */
extern __thread int dft_tracefile_shared __attribute__((tls_model("initial-exec")));

/* Appends whole blocks. Any thread, signals blocked. Reserves the range of the file first. Returns
 * 0, or -errno (ENOSPC ...) with no byte of the blocks in the file. */
int dft_tracefile_write(const void *bytes, size_t length);

/* Atomic: the length of the file so far. The next block goes there. */
extern uint64_t dft_tracefile_bytes;

/* Did the last write fail? */
int dft_tracefile_fails(void);

/* --- the descriptor, which the program must not see ------------------------------------------- */

extern int dft_tracefile_fd DFT_HIDDEN; /* atomic */
/* The number of our descriptor, or -1. */
static inline int dft_tracefile_number(void)
{
    return __atomic_load_n(&dft_tracefile_fd, __ATOMIC_ACQUIRE);
}
/* Will our number soon be the program's next one? A message brings the program up to 253 numbers. */
#define DFT_TRACEFILE_NEAR 256
extern int dft_tracefile_near DFT_HIDDEN; /* atomic: less where numbers are few, and no message was requested */
static inline int dft_tracefile_is_near(int number, int program)
{
    return (unsigned)number - (unsigned)program <= (unsigned)__atomic_load_n(&dft_tracefile_near, __ATOMIC_RELAXED);
}
static inline __attribute__((always_inline)) void dft_tracefile_meet(int fd)
{
    if (__builtin_expect(dft_tracefile_is_near(__atomic_load_n(&dft_tracefile_fd, __ATOMIC_RELAXED), fd), 0))
        dft_tracefile_make_way(fd);
}
static inline void dft_tracefile_expect_many(void)
{
    if (__builtin_expect(__atomic_load_n(&dft_tracefile_near, __ATOMIC_RELAXED) != DFT_TRACEFILE_NEAR, 0))
        dft_tracefile_make_way_for_many();
}
/* Is this number our descriptor? Then the wrapper answers EBADF and does not make the program's
 * call. */
int dft_tracefile_is(int fd);
/* Is this entry of a directory (a DIR *) our descriptor, in a list of open descriptors? */
int dft_tracefile_is_entry(void *dir, const char *name);
/* The same test as dft_tracefile_is(). Sets errno as the kernel would for a closed descriptor. */
int dft_tracefile_hides(int fd);
/* Calls that must not reach our descriptor at all. For all other calls the descriptor is an unknown
 * one. */
static inline __attribute__((always_inline)) int dft_tracefile_hides_first(enum dft_op op, int fd)
{
    return (op == DFT_OP_CLOSE || op == DFT_OP_DUP) && fd >= 0 && dft_tracefile_hides(fd);
}

#endif
