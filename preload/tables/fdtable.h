/* SPDX-License-Identifier: MIT */
/* Maps a descriptor to its open file. A two-level table holds a word per descriptor. The open file
 * descriptions lie in a pool that is never freed. So a description may be read at any time,
 * whatever other threads close.
 *
 * word = generation << 32 | index << 8 | bits. 0: nothing is known about the descriptor.
 *
 * who may any thread bind, unbind, look up, at any time a vfork child look up only */
#ifndef DFT_FDTABLE_H
#define DFT_FDTABLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "format/file_class.h"
#include "os/hidden.h"

#define DFT_FD_TRACED   1u /* index is a description */
#define DFT_FD_UNTRACED 2u /* known, and not traced */
#define DFT_FD_UNNAMED  4u /* inherited over a fork, or without a name: send the name first */

/* Parts of a word. */
#define DFT_FD_BITS 0xffu
static inline uint32_t dft_fd_index(uint64_t word)
{
    return (uint32_t)word >> 8;
}

#define DFT_FD_CHUNK  1024u
#define DFT_FD_CHUNKS 1024u

/* Flags of a description. */
#define DFT_OPEN_APPEND  1u   /* O_APPEND: writes go to the end */
#define DFT_OPEN_SHARED  2u   /* another process may move the offset */
#define DFT_OPEN_STREAM  4u   /* a FILE uses it: the kernel's offset runs ahead of the program's */
#define DFT_OPEN_LOST    8u   /* the offset is not known: ask the kernel */
#define DFT_OPEN_SCANNED 16u  /* the stream may be whole buffers further: ask the kernel before another call */
#define DFT_OPEN_NEW     32u  /* not yet known whether it has an offset */
#define DFT_OPEN_NOWHERE 64u  /* it has no offset: a pipe, a terminal */
#define DFT_OPEN_MOVED   128u /* the offset moved under the stream: its buffer holds other bytes */

#define DFT_OPEN_FREE 0x80000000u /* bit of `serial` */

/* The position of a stream is known when no flag besides these is set. */
#define DFT_OPEN_KNOWN (DFT_OPEN_STREAM | DFT_OPEN_NEW | DFT_OPEN_SCANNED)

/* Which way an access moves bytes. */
enum dft_way { DFT_WAY_NONE = 0, DFT_WAY_READS = 1, DFT_WAY_WRITES = 2 };

/* An open file description. */
struct dft_open {
    uint64_t file;                      /* id of the file's name */
    _Atomic int64_t offset;             /* where the next read or write happens */
    _Atomic int64_t last_end;           /* end of the last access of any kind; before the first: where it may begin */
    _Atomic uint32_t started, finished; /* calls that move the offset */
    _Atomic uint32_t references;
    _Atomic uint32_t flags;
    uint8_t io_looks, io_changes; /* dft_io_code of calls that look at the file, and of those that change it */
    _Atomic uint8_t way;          /* enum dft_way of the last access */
    uint8_t memory;               /* once it is mapped, calls wait for other processes */
    /* Number of the description: its place in the pool may be another one's later. In the free list: the next
     * one there, with DFT_OPEN_FREE. No call writes here: one that began before its descriptor was closed ends
     * some time after, and writes into the other members. */
    uint32_t serial;
    /* Where the last access, and the one before it, began; -1: none yet. Their distance is the
     * last stride. */
    _Atomic int64_t last_start, start_before;
};
_Static_assert(sizeof(struct dft_open) == 64, "a cache line");

/* Words of the first descriptors, and of the others in chunks. Chunks stay where they are. */
extern _Atomic uint64_t dft_fd_first[DFT_FD_CHUNK] DFT_HIDDEN, *dft_fd_chunks[DFT_FD_CHUNKS] DFT_HIDDEN;
/* The pool by index: its first piece, and the others, which are made at their first use. Most
 * processes touch neither table of pieces. */
#define DFT_OPEN_PIECE 1024u
extern struct dft_open dft_open_first[DFT_OPEN_PIECE] DFT_HIDDEN;
extern struct dft_open *dft_open_pieces[(1u << 20) / DFT_OPEN_PIECE] DFT_HIDDEN;

/* For any other number than the first. */
const _Atomic uint64_t *dft_fd_place_beyond(int fd);

/* Where the word of a descriptor that has one stands. */
static inline const _Atomic uint64_t *dft_fd_place(int fd)
{
    return __builtin_expect((unsigned)fd < DFT_FD_CHUNK, 1) ? &dft_fd_first[fd] : dft_fd_place_beyond(fd);
}

/* outside: the result for numbers outside the table. */
static inline uint64_t dft_fd_word_or(int fd, uint64_t outside)
{
    const _Atomic uint64_t *chunk;

    if (__builtin_expect((unsigned)fd < DFT_FD_CHUNK, 1))
        return atomic_load_explicit(&dft_fd_first[fd], memory_order_acquire);
    if ((unsigned)fd >= DFT_FD_CHUNK * DFT_FD_CHUNKS)
        return outside;
    chunk = __atomic_load_n(&dft_fd_chunks[(unsigned)fd / DFT_FD_CHUNK], __ATOMIC_ACQUIRE);
    return chunk ? atomic_load_explicit(&chunk[(unsigned)fd % DFT_FD_CHUNK], memory_order_acquire) : 0;
}

static inline uint64_t dft_fd_word(int fd)
{
    return dft_fd_word_or(fd, DFT_FD_UNTRACED);
}

static inline struct dft_open *dft_fd_open(uint64_t word)
{
    uint32_t index = dft_fd_index(word);

    if (__builtin_expect(index < DFT_OPEN_PIECE, 1))
        return &dft_open_first[index];
    return &dft_open_pieces[index / DFT_OPEN_PIECE][index % DFT_OPEN_PIECE];
}

/* A file, and the class that it has of its own; DFT_IO_NONE: none. */
struct dft_file {
    uint64_t id;
    enum dft_io io;
    int memory; /* it lies where processes share memory */
};

/* The descriptor is open on a new description of this file. offset -1: unknown. */
void dft_fd_bind(int fd, struct dft_file file, int64_t offset, uint32_t flags);
void dft_fd_bind_untraced(int fd);
/* The descriptor was found open on this file, at an unknown offset. Binds it only while the
 * descriptor still has the word `before`. */
void dft_fd_bind_found(int fd, uint64_t before, struct dft_file file, uint32_t flags);
/* The program duplicated (dup) the descriptor `from`, which had this word. Binds `fd` to the same
 * description. Binds nothing when the description was closed meanwhile. */
void dft_fd_bind_same(int fd, uint64_t word, int from);
/* Makes a description that no descriptor of ours has, and returns its word. Uses the description of
 * `before` again when that word still names it. 0: none is left. */
uint64_t dft_fd_describe(uint64_t before, struct dft_file file, uint32_t flags);
/* Forgets the descriptor and returns its word. The description goes with its last descriptor. */
uint64_t dft_fd_unbind(int fd);
/* Puts back the word that dft_fd_unbind returned. Drops the word if something else was bound
 * meanwhile. */
void dft_fd_restore(int fd, uint64_t word);
/* Drops a word that dft_fd_unbind returned. */
void dft_fd_drop(uint64_t word);
/* Gives a word other bits, if the descriptor still has this word. */
void dft_fd_set_bits(int fd, uint64_t word, uint32_t bits);

/* The description is mapped: if it lies where processes share memory, that is what its file is for. */
void dft_fd_mapped(struct dft_open *open);

/* An upper bound: all bound descriptors are below this number. */
int dft_fd_limit(void);
/* The first number from this one on that may be bound: passes over whole chunks that are not there. */
int dft_fd_next(int fd);
/* All descriptors. Before a fork, offsets become shared. With `execs` the child does nothing but
 * exec: descriptors that the exec closes are left out. In the child, names are to be sent again. */
void dft_fdtable_forking(int execs);
/* The program has taken away what closes this descriptor on exec (FD_CLOEXEC), or may have. */
void dft_fd_stays_on_exec(int fd);
/* Another process may have this descriptor's description from now on. */
void dft_fd_share(int fd);
void dft_fdtable_forked(void);
/* All descriptors are others now. */
void dft_fdtable_forget(void);
/* The names of all descriptors are to be sent before their next events. */
void dft_fdtable_unname(void);

#endif
