/* SPDX-License-Identifier: MIT */
/* Owns the knowledge about descriptors. The table is lock-free: words change by exchange and
 * compare-and-swap. The free list of descriptions is a stack with a tag against ABA. Generations
 * tell a word from an earlier word of the same number. */
#include "tables/fdtable.h"

#include <errno.h>
#include <fcntl.h>

#include "os/bulk.h"
#include "os/sys.h"

#define POOL_MAX (1u << 20) /* descriptions; an index has 24 bits */

_Atomic uint64_t dft_fd_first[DFT_FD_CHUNK] DFT_BULK, *dft_fd_chunks[DFT_FD_CHUNKS] DFT_BULK;
struct dft_open *dft_open_pieces[POOL_MAX / DFT_OPEN_PIECE] DFT_BULK;
struct dft_open dft_open_first[DFT_OPEN_PIECE] DFT_BULK;

static _Atomic uint32_t pool_used = 1; /* 0 is no index */
static _Atomic uint64_t free_list;     /* tag << 32 | index */
static _Atomic uint32_t generations;
static _Atomic int limit;

/* Which groups of descriptors have changed since the last child that goes on, and since the last one
 * that execs: two bits a group. The others need no look before the next child. Most processes touch
 * the word of the first chunk alone. */
#define GROUP 64
enum { SINCE_CHILD = 1, SINCE_EXEC = 2, SINCE_BITS = 2 };
static _Atomic uint32_t changed_first, changed[DFT_FD_CHUNKS] DFT_BULK;
_Static_assert(DFT_FD_CHUNK / GROUP * SINCE_BITS <= 32, "the groups of a chunk have one word");

static _Atomic uint32_t *changes_of(unsigned chunk)
{
    return chunk ? &changed[chunk] : &changed_first;
}

/* Comes after the change, so that who clears the bits sees it. */
static void note_change(int fd, uint32_t since)
{
    unsigned chunk = (unsigned)fd / DFT_FD_CHUNK, group = (unsigned)fd % DFT_FD_CHUNK / GROUP;

    if (chunk < DFT_FD_CHUNKS)
        atomic_fetch_or(changes_of(chunk), since << group * SINCE_BITS);
}

/* Makes sure that the piece with this description exists. mlockall counts address space, so only
 * pieces in use are mapped. Returns 0 or -ENOMEM. */
static int make_piece(uint32_t index)
{
    struct dft_open **piece = &dft_open_pieces[index / DFT_OPEN_PIECE], *none = NULL, *made;

    if (index < DFT_OPEN_PIECE || __atomic_load_n(piece, __ATOMIC_ACQUIRE))
        return 0;
    made = dft_sys_map(DFT_OPEN_PIECE * sizeof *made);
    if (made && !__atomic_compare_exchange_n(piece, &none, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        DFT_SYS(munmap, made, DFT_OPEN_PIECE * sizeof *made, 0, 0, 0, 0);
    return made || none ? 0 : -ENOMEM;
}

const _Atomic uint64_t *dft_fd_place_beyond(int fd)
{
    static const _Atomic uint64_t none = 0;
    const _Atomic uint64_t *chunk = NULL;

    if ((unsigned)fd < DFT_FD_CHUNK * DFT_FD_CHUNKS)
        chunk = __atomic_load_n(&dft_fd_chunks[(unsigned)fd / DFT_FD_CHUNK], __ATOMIC_ACQUIRE);
    return chunk ? &chunk[(unsigned)fd % DFT_FD_CHUNK] : &none;
}

static struct dft_open *description(uint32_t index)
{
    return dft_fd_open((uint64_t)index << 8);
}

/* Returns the word's place. Makes the place when it does not exist. NULL: no memory, or no such
 * descriptor. */
static _Atomic uint64_t *place(int fd)
{
    _Atomic uint64_t **chunk, *made;
    void *none = NULL;
    int before = atomic_load_explicit(&limit, memory_order_relaxed);

    if ((unsigned)fd >= DFT_FD_CHUNK * DFT_FD_CHUNKS)
        return NULL;
    while (fd >= before &&
           !atomic_compare_exchange_weak_explicit(&limit, &before, fd + 1, memory_order_relaxed, memory_order_relaxed))
        ;
    if (fd < (int)DFT_FD_CHUNK)
        return &dft_fd_first[fd];
    chunk = &dft_fd_chunks[(unsigned)fd / DFT_FD_CHUNK];
    if (!__atomic_load_n(chunk, __ATOMIC_ACQUIRE)) {
        made = dft_sys_map(DFT_FD_CHUNK * sizeof **chunk);
        if (!made)
            return NULL;
        if (!__atomic_compare_exchange_n(chunk, (_Atomic uint64_t **)&none, made, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            DFT_SYS(munmap, made, DFT_FD_CHUNK * sizeof **chunk, 0, 0, 0, 0);
    }
    return &__atomic_load_n(chunk, __ATOMIC_ACQUIRE)[(unsigned)fd % DFT_FD_CHUNK];
}

static uint32_t pool_get(void)
{
    uint64_t top = atomic_load_explicit(&free_list, memory_order_acquire);
    uint32_t used;

    while ((uint32_t)top) {
        uint64_t next = ((top >> 32) + 1) << 32 | (description((uint32_t)top)->serial & ~DFT_OPEN_FREE);

        if (atomic_compare_exchange_weak_explicit(&free_list, &top, next, memory_order_acquire, memory_order_acquire))
            return (uint32_t)top;
    }
    used = atomic_load_explicit(&pool_used, memory_order_relaxed);
    while (used < POOL_MAX && !make_piece(used))
        if (atomic_compare_exchange_weak_explicit(&pool_used, &used, used + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return used;
    return 0;
}

static void pool_put(uint32_t index)
{
    uint64_t top = atomic_load_explicit(&free_list, memory_order_relaxed), mine;

    do {
        description(index)->serial = (uint32_t)top | DFT_OPEN_FREE;
        mine = ((top >> 32) + 1) << 32 | index;
    } while (
        !atomic_compare_exchange_weak_explicit(&free_list, &top, mine, memory_order_release, memory_order_relaxed));
}

void dft_fd_drop(uint64_t word)
{
    if ((word & DFT_FD_TRACED) &&
        atomic_fetch_sub_explicit(&dft_fd_open(word)->references, 1, memory_order_acq_rel) == 1)
        pool_put(dft_fd_index(word));
}

static uint64_t new_word(uint32_t index, uint32_t bits)
{
    return (uint64_t)(atomic_fetch_add_explicit(&generations, 1, memory_order_relaxed) + 1) << 32 | index << 8 | bits;
}

static void set_word(int fd, uint64_t word)
{
    _Atomic uint64_t *at = place(fd);

    if (!at) {
        dft_fd_drop(word);
        return;
    }
    dft_fd_drop(atomic_exchange_explicit(at, word, memory_order_acq_rel));
    if (word & DFT_FD_TRACED)
        note_change(fd, SINCE_CHILD | SINCE_EXEC);
}

static void open_init(struct dft_open *open, struct dft_file file, int64_t offset, uint32_t flags)
{
    open->file = file.id;
    open->memory = file.memory != 0;
    open->io_looks = dft_io_code(DFT_OP_OPEN, file.io);
    open->io_changes = dft_io_code(DFT_OP_WRITE, file.io);
    atomic_store_explicit(&open->way, DFT_WAY_NONE, memory_order_relaxed);
    open->serial = (atomic_fetch_add_explicit(&generations, 1, memory_order_relaxed) + 1) & ~DFT_OPEN_FREE;
    atomic_store_explicit(&open->offset, offset < 0 ? 0 : offset, memory_order_relaxed);
    atomic_store_explicit(&open->last_end, 0, memory_order_relaxed);
    atomic_store_explicit(&open->last_start, -1, memory_order_relaxed);
    atomic_store_explicit(&open->start_before, -1, memory_order_relaxed);
    atomic_store_explicit(&open->started, 0, memory_order_relaxed);
    atomic_store_explicit(&open->finished, 0, memory_order_relaxed);
    atomic_store_explicit(&open->references, 1, memory_order_relaxed);
    atomic_store_explicit(&open->flags, flags | (offset < 0 ? DFT_OPEN_LOST : 0), memory_order_relaxed);
}

void dft_fd_bind(int fd, struct dft_file file, int64_t offset, uint32_t flags)
{
    uint32_t index = pool_get();

    if (index)
        open_init(description(index), file, offset, flags);
    set_word(fd, new_word(index, index ? DFT_FD_TRACED : DFT_FD_UNTRACED));
}

void dft_fd_bind_found(int fd, uint64_t before, struct dft_file file, uint32_t flags)
{
    uint32_t index = pool_get();
    uint64_t word = new_word(index, index ? DFT_FD_TRACED : DFT_FD_UNTRACED);
    _Atomic uint64_t *at = place(fd);

    if (index) {
        open_init(description(index), file, -1, flags);
        atomic_store_explicit(&description(index)->last_end, dft_sys_lseek(fd, 0, SEEK_CUR), memory_order_relaxed);
    }
    if (!at || !atomic_compare_exchange_strong_explicit(at, &before, word, memory_order_acq_rel, memory_order_relaxed))
        dft_fd_drop(word);
}

uint64_t dft_fd_describe(uint64_t before, struct dft_file file, uint32_t flags)
{
    uint32_t index = before ? dft_fd_index(before) : pool_get();

    if (!index)
        return 0;
    open_init(description(index), file, -1, flags);
    return new_word(index, DFT_FD_TRACED);
}

void dft_fd_bind_untraced(int fd)
{
    set_word(fd, new_word(0, DFT_FD_UNTRACED));
}

/* Adds a descriptor to a description that is in use. Returns 0, or -1 when the description has no
 * descriptor left. Such a description may belong to another file by now. */
static int add_reference(uint64_t word)
{
    uint32_t references = atomic_load_explicit(&dft_fd_open(word)->references, memory_order_relaxed);

    while (references)
        if (atomic_compare_exchange_weak_explicit(&dft_fd_open(word)->references, &references, references + 1,
                                                  memory_order_acq_rel, memory_order_relaxed))
            return 0;
    return -1;
}

void dft_fd_bind_same(int fd, uint64_t word, int from)
{
    if (word & DFT_FD_TRACED && add_reference(word)) {
        word = 0;
    } else if (word & DFT_FD_TRACED && dft_fd_word(from) != word) { /* the same description? */
        dft_fd_drop(word);
        word = 0;
    }
    set_word(fd, word ? new_word(dft_fd_index(word), (uint32_t)word & DFT_FD_BITS) : 0);
}

uint64_t dft_fd_unbind(int fd)
{
    _Atomic uint64_t *at = (_Atomic uint64_t *)(uintptr_t)dft_fd_place(fd);

    return atomic_load_explicit(at, memory_order_relaxed) ? atomic_exchange_explicit(at, 0, memory_order_acq_rel) : 0;
}

void dft_fd_restore(int fd, uint64_t word)
{
    uint64_t none = 0;

    if (word &&
        !atomic_compare_exchange_strong_explicit(place(fd), &none, word, memory_order_acq_rel, memory_order_relaxed))
        dft_fd_drop(word);
    else if (word & DFT_FD_TRACED)
        note_change(fd, SINCE_CHILD | SINCE_EXEC);
}

void dft_fd_set_bits(int fd, uint64_t word, uint32_t bits)
{
    uint64_t seen = word;

    atomic_compare_exchange_strong_explicit(place(fd), &seen, (word & ~UINT64_C(0xff)) | bits, memory_order_acq_rel,
                                            memory_order_relaxed);
}

void dft_fd_mapped(struct dft_open *open)
{
    if (!open->memory)
        return;
    open->io_looks = dft_io_code(DFT_OP_OPEN, DFT_IO_WAIT);
    open->io_changes = dft_io_code(DFT_OP_WRITE, DFT_IO_WAIT);
}

int dft_fd_limit(void)
{
    return atomic_load_explicit(&limit, memory_order_relaxed);
}

int dft_fd_next(int fd)
{
    while (fd % (int)DFT_FD_CHUNK == 0 && fd && (unsigned)fd < DFT_FD_CHUNK * DFT_FD_CHUNKS &&
           !__atomic_load_n(&dft_fd_chunks[(unsigned)fd / DFT_FD_CHUNK], __ATOMIC_ACQUIRE))
        fd += (int)DFT_FD_CHUNK;
    return fd;
}

void dft_fd_share(int fd)
{
    uint64_t word = dft_fd_word(fd);

    if (word & DFT_FD_TRACED)
        atomic_fetch_or_explicit(&dft_fd_open(word)->flags, DFT_OPEN_SHARED, memory_order_relaxed);
}

void dft_fd_stays_on_exec(int fd)
{
    note_change(fd, SINCE_EXEC);
}

static int closes_on_exec(int fd)
{
    long flags = DFT_SYS(fcntl, fd, F_GETFD, 0, 0, 0, 0);

    return flags >= 0 && flags & FD_CLOEXEC;
}

static void share_group(int first, int execs)
{
    for (int fd = first; fd < first + GROUP; fd++) {
        uint64_t word = dft_fd_word(fd);

        if (word & DFT_FD_TRACED && !(atomic_load(&dft_fd_open(word)->flags) & DFT_OPEN_SHARED) &&
            !(execs && closes_on_exec(fd)))
            dft_fd_share(fd);
    }
}

void dft_fdtable_forking(int execs)
{
    const uint32_t since = (uint32_t)(execs ? SINCE_EXEC : SINCE_CHILD) * 0x55555555u;

    for (int first = 0, end = dft_fd_limit(); first < end; first += DFT_FD_CHUNK) {
        _Atomic uint32_t *at = changes_of((unsigned)first / DFT_FD_CHUNK);
        uint32_t bits = atomic_load_explicit(at, memory_order_relaxed) & since;

        if (bits)
            bits = atomic_fetch_and(at, ~since) & since;
        for (; bits; bits &= bits - 1)
            share_group(first + __builtin_ctz(bits) / SINCE_BITS * GROUP, execs);
    }
}

/* Most descriptions are shared already. They are left alone: in a forked child each page that is
 * written to is copied first. */
static void unname_all(int forked)
{
    for (int fd = dft_fd_next(0), end = dft_fd_limit(); fd < end; fd = dft_fd_next(fd + 1)) {
        uint64_t word = dft_fd_word(fd);

        if (!(word & DFT_FD_TRACED))
            continue;
        if (forked && !(atomic_load_explicit(&dft_fd_open(word)->flags, memory_order_relaxed) & DFT_OPEN_SHARED))
            dft_fd_share(fd);
        if (!(word & DFT_FD_UNNAMED))
            dft_fd_set_bits(fd, word, (uint32_t)(word & DFT_FD_BITS) | DFT_FD_UNNAMED);
    }
}

void dft_fdtable_forked(void)
{
    unname_all(1);
}

void dft_fdtable_forget(void)
{
    for (int fd = dft_fd_next(0), end = dft_fd_limit(); fd < end; fd = dft_fd_next(fd + 1))
        dft_fd_drop(dft_fd_unbind(fd));
}

void dft_fdtable_unname(void)
{
    unname_all(0);
}
