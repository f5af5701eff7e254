/* SPDX-License-Identifier: MIT */
/* Descriptor -> open file. A word per descriptor in a two-level table; the open file descriptions behind it lie in a pool that is never
 * freed, so that a description may be read at any time, whatever other threads close.
 *
 * word = generation << 32 | index << 8 | bits. 0: nothing is known about the descriptor.
 *
 *   who                     may
 *   any thread              bind, unbind, look up, at any time
 *   a vfork child           look up only
 */
#ifndef DFT_FDTABLE_H
#define DFT_FDTABLE_H

#include <stdatomic.h>
#include <stdint.h>

#define DFT_FD_TRACED   1u /* index is a description */
#define DFT_FD_UNTRACED 2u /* known, and of no interest */
#define DFT_FD_UNNAMED  4u /* inherited over a fork, or its name was lost: it is to be sent before the next event */

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
#define DFT_OPEN_STREAM  4u   /* a FILE is on it: the kernel's offset runs ahead of the program's */
#define DFT_OPEN_LOST    8u   /* the offset is not known: ask the kernel */
#define DFT_OPEN_INLINED 16u  /* the stream is also moved by inlined code (inlined.h) */
#define DFT_OPEN_NEW     32u  /* nobody has asked yet whether it has an offset */
#define DFT_OPEN_NOWHERE 64u  /* it has none: a pipe, a terminal */
#define DFT_OPEN_MOVED   128u /* the kernel's offset was moved from under the stream, whose buffer is from elsewhere */

/* With no other flag a stream's position is known. */
#define DFT_OPEN_KNOWN (DFT_OPEN_STREAM | DFT_OPEN_INLINED | DFT_OPEN_NEW)

/* An open file description. */
struct dft_open {
    uint64_t file;                      /* id of its name */
    _Atomic int64_t offset;             /* where the next read or write happens */
    _Atomic int64_t last_end;           /* end of the last access of any kind; -1: none yet */
    _Atomic uint32_t started, finished; /* calls that move the offset */
    _Atomic uint32_t references;
    _Atomic uint32_t flags;
    uint32_t next_free;
    uint32_t pad[3];
};
_Static_assert(sizeof(struct dft_open) == 56 || sizeof(struct dft_open) == 64, "a cache line");

extern _Atomic uint64_t *dft_fd_chunks[DFT_FD_CHUNKS];
/* By index: pieces of the pool, made when they are first used. */
#define DFT_OPEN_PIECE 1024u
extern struct dft_open *dft_open_pieces[(1u << 20) / DFT_OPEN_PIECE];

/* outside: the word of numbers that have none. */
static inline uint64_t dft_fd_word_or(int fd, uint64_t outside)
{
    _Atomic uint64_t *chunk;

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

    return &dft_open_pieces[index / DFT_OPEN_PIECE][index % DFT_OPEN_PIECE];
}

/* In the constructor. Returns 0 or -ENOMEM. */
int dft_fdtable_init(void);

/* The descriptor is open on a new description of this file. offset: -1 unknown. */
void dft_fd_bind(int fd, uint64_t file, int64_t offset, uint32_t flags);
void dft_fd_bind_untraced(int fd);
/* The descriptor was found to be open on this file, at an unknown offset; unless something else was bound to it since it had the word `before`. */
void dft_fd_bind_found(int fd, uint64_t before, uint64_t file, uint32_t flags);
/* The descriptor was made from another one, that had this word (dup): the same description; none when that was closed meanwhile. */
void dft_fd_bind_same(int fd, uint64_t word, int from);
/* A description that no descriptor of ours has: the word of one, which is used anew when `before` is its word. 0: there
 * is none left. */
uint64_t dft_fd_describe(uint64_t before, uint64_t file, uint32_t flags);
/* Forgets the descriptor; returns what was there. The description goes when no descriptor is left. */
uint64_t dft_fd_unbind(int fd);
/* Puts back what dft_fd_unbind returned, unless something else was bound meanwhile; else drops it. */
void dft_fd_restore(int fd, uint64_t word);
/* Drops what dft_fd_unbind returned. */
void dft_fd_drop(uint64_t word);
/* Replaces a word by one with other bits, if it is still the same. */
void dft_fd_set_bits(int fd, uint64_t word, uint32_t bits);

/* Number of descriptors that may be bound: all bound ones are below. */
int dft_fd_limit(void);
/* All descriptors: before a fork (offsets become shared; not those that an exec closes, if that is all the child does), and in the
 * child (names are to be sent again). */
void dft_fdtable_forking(int execs);
/* Another process may have this descriptor's description from now on. */
void dft_fd_share(int fd);
void dft_fdtable_forked(void);
/* The names of all descriptors are to be sent before their next events. */
void dft_fdtable_unname(void);

#endif
