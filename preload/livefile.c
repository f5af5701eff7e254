/* Owns the live file: chooses where it lies, creates it, grows it, removes it.
 *
 * Small rings are made ahead, several at a time and the more of them the more there are: one thread that finds none extends the file
 * and maps what it got, under a lock; the others that begin take theirs from the latest batch by one atomic addition, without it. So
 * thousands of threads that begin at once extend and map one file some dozens of times, and nobody sleeps while a large ring is
 * made. Rings of other sizes are made one by one. What is made ahead and not used is a hole of zeros to readers.
 *
 * It must not lie where stores into a mapping can fail or stall: copy-on-write file systems raise SIGBUS when they are full, network
 * ones wait. So: ext4, xfs or tmpfs, in DFTRACER_LIVE_DIR or beside the trace; else /dev/shm; else plain memory. */
#include "livefile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include "calls.h"
#include "clock.h"
#include "config.h"
#include "lifecycle.h"
#include "maps.h"
#include "offset.h"
#include "opening.h"
#include "process.h"
#include "sys.h"
#include "thread.h"
#include "tracefile.h"
#include "tracename.h"

struct dft_live *dft_live;
char dft_livefile_path[4400];
uint32_t dft_livefile_number;

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define AHEAD_SHARE 4u /* of the small rings that are in use, as many are made ahead */
#define AHEAD_MOST  64u

static uint64_t device, inode; /* what it is: while we have it open, the program may put another file on the number */

static struct dft_spin making; /* for which file it is, and all that follows */
static uint64_t allocated;     /* bytes of the file */
static uint32_t streams;       /* atomic */

/* Small rings that are mapped. A batch is filled in under the lock, then shown by `batch`, and its place is never used again. */
#define BATCHES_MOST 512u
static struct batch {
    char *at;
    uint64_t offset;
    uint32_t count;
    uint32_t taken; /* atomic; more than `count` of those who came too late */
} batches[BATCHES_MOST];
static struct batch *batch;  /* atomic: the latest one; NULL: none is of this file */
static uint32_t nbatches;    /* with the lock */
static uint32_t rounds;      /* atomic: how often the lock was let go; those that wait for a ring sleep on it */
static uint32_t waiting;     /* atomic: how many they are */
static uint32_t small_rings; /* so far; with the lock, so of all but the latest batch */

/* Rounded up to pages as this machine has them (64 KiB on some): a file can be mapped from such an offset on alone. */
static size_t whole_pages(size_t bytes)
{
    return dft_maps_range(NULL, bytes).end;
}

/* The head, and the first ring. */
static size_t first_bytes(void)
{
    return whole_pages(DFT_LIVE_PAGE) + whole_pages(dft_ring_bytes(DFT_FIRST_SLOTS));
}

/* By its path: on the number there may be another file by now. */
static int identify(void)
{
    struct stat st;

    if (dft_tracename_look(dft_livefile_path, &st) < 0)
        return -1;
    device = st.st_dev;
    inode = st.st_ino;
    return 0;
}

/* Our file, and so long. */
static int has(int fd, uint64_t bytes)
{
    struct stat st;

    return DFT_SYS(fstat, fd, &st, 0, 0, 0, 0) == 0 && st.st_dev == device && st.st_ino == inode &&
           (uint64_t)st.st_size >= bytes;
}

static int is_ours(int fd)
{
    return has(fd, 0);
}

/* A number that the program may have put something else on stays open. */
static void close_ours(int fd)
{
    if (is_ours(fd))
        dft_sys_close(fd);
}

static int write_zeros(int fd, uint64_t offset, size_t bytes)
{
    static const char zeros[DFT_LIVE_PAGE];
    struct iovec pages[64];

    for (size_t i = 0; i < 64; i++)
        pages[i] = (struct iovec){(void *)(uintptr_t)zeros, sizeof zeros};
    while (bytes) {
        size_t n = bytes / DFT_LIVE_PAGE < 64 ? bytes / DFT_LIVE_PAGE : 64;
        long done = is_ours(fd) ? DFT_SYS(pwritev, fd, pages, n, offset, 0, 0) : -EBADF;

        if (done <= 0 || done % DFT_LIVE_PAGE)
            return done < 0 ? (int)done : -ENOSPC;
        offset += (uint64_t)done;
        bytes -= (size_t)done;
    }
    return 0;
}

/* The file as long as this, by its path. Returns 0 or -errno. */
static int make_long(uint64_t bytes)
{
    struct stat st;
    int result = (int)dft_tracename_look(dft_livefile_path, &st);

    return result < 0 || (uint64_t)st.st_size >= bytes ? result
                                                       : (int)DFT_SYS(truncate, dft_livefile_path, bytes, 0, 0, 0, 0);
}

/* Maps our file, NULL: it cannot be. Who shares the descriptor may have put a file of its own on the number: that is asked
 * afterwards, because from then on ours does not come back there, and before anything is stored. */
static void *map_shared(int fd, size_t bytes, uint64_t offset)
{
    long at = DFT_SYS(mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

    if (at < 0 && at > -4096)
        return NULL;
    if (!has(fd, offset + bytes)) { /* what was to make it so long may have met another file as well */
        DFT_SYS(munmap, at, bytes, 0, 0, 0, 0);
        return NULL;
    }
    return (void *)at;
}

/* As write_zeros, but by stores into a mapping: whatever another thread puts on the number meanwhile, not a byte gets there. Several
 * times as slow. Returns 0, -errno, or -EINVAL: the kernel is older than 5.14. */
static int store_zeros(int fd, uint64_t offset, size_t bytes)
{
    int result = make_long(offset + bytes);
    void *at = result < 0 ? NULL : map_shared(fd, bytes, offset);

    if (!at)
        return result < 0 ? result : -EBADF;
    result = (int)DFT_SYS(madvise, at, bytes, MADV_POPULATE_WRITE, 0, 0, 0);
    DFT_SYS(munmap, at, bytes, 0, 0, 0, 0);
    return result;
}

/* Makes sure that the file has room for stores into these pages, whatever else fills the disk: with zeros. That reserves as surely
 * as fallocate does (a full disk or quota answers here), and a file that is removed before it was ever written back costs half
 * of what one with allocated blocks does. Returns 0 or -errno. */
static int reserve(int fd, uint64_t offset, size_t bytes)
{
    int result = dft_is_single() ? -EINVAL : store_zeros(fd, offset, bytes);

    return result == -EINVAL ? write_zeros(fd, offset, bytes) : result;
}

static int is_fit(const char *directory)
{
    struct statfs fs;

    if (DFT_SYS(statfs, directory, &fs, 0, 0, 0, 0) < 0)
        return 0;
    return fs.f_type == 0xef53 /* ext2, 3, 4 */ || fs.f_type == 0x58465342 /* xfs */ || fs.f_type == 0x01021994;
}

static void make_path(const char *directory, size_t length)
{
    const char *name = dft_tracename_base + dft_tracename_directory;
    size_t used = 0;

    memcpy(dft_livefile_path, directory, length);
    used = length;
    if (used && dft_livefile_path[used - 1] != '/')
        dft_livefile_path[used++] = '/';
    while (*name && used < sizeof dft_livefile_path - 16)
        dft_livefile_path[used++] = *name++;
    memcpy(dft_livefile_path + used, ".dft.live", 10);
}

/* Creates the file in a directory that is fit for it. Returns its descriptor, or -1 with no file left. */
static int create_in(const char *directory, size_t length)
{
    static char text[4096]; /* dft_process_lock is held, and the program's stack may be tiny */
    long fd;

    if (length >= sizeof text)
        return -1;
    memcpy(text, directory, length);
    text[length] = 0;
    if (!is_fit(length ? text : "."))
        return -1;
    make_path(text, length);
    fd = dft_opening_open(dft_livefile_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd < 0)
        return -1;
    if (identify() || reserve((int)fd, 0, first_bytes()) < 0) {
        close_ours((int)fd);
        DFT_SYS(unlinkat, AT_FDCWD, dft_livefile_path, 0, 0, 0, 0);
        return -1;
    }
    return (int)fd;
}

static int create(void)
{
    int fd = -1;

    if (*dft_config.live_dir)
        fd = create_in(dft_config.live_dir, strlen(dft_config.live_dir));
    if (fd < 0)
        fd = create_in(dft_tracename_base, dft_tracename_directory);
    if (fd < 0)
        fd = create_in("/dev/shm", 8);
    return fd;
}

/* The file with room for `bytes` more behind its end, or -1. */
static int open_for(uint64_t offset, size_t bytes)
{
    long fd;

    if (!dft_livefile_path[0])
        return -1;
    fd = dft_opening_open(dft_livefile_path, O_RDWR | O_CLOEXEC | O_NOCTTY, 0);
    if (fd < 0)
        return -1;
    if (offset + bytes > allocated) {
        if (reserve((int)fd, offset, bytes) < 0) {
            close_ours((int)fd);
            return -1;
        }
        allocated = offset + bytes;
    }
    return (int)fd;
}

static void *map_plain(size_t bytes)
{
    long at = DFT_SYS(mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at < 0 && at > -4096 ? NULL : (void *)at;
}

/* As map_shared, and closes the descriptor. */
static void *map_ours(int fd, size_t bytes, uint64_t offset)
{
    void *at = map_shared(fd, bytes, offset);

    close_ours(fd);
    return at;
}

/* Opened again when something came between. */
static void *map_file(size_t bytes, uint64_t offset)
{
    void *at = NULL;

    for (int fd, times = 0; !at && times < 3 && (fd = open_for(offset, bytes)) >= 0; times++)
        at = map_ours(fd, bytes, offset);
    return at;
}

/* The counters of an earlier live file of this process. */
static void take_over(struct dft_live *live, const struct dft_live *before)
{
    atomic_store(&live->events, before->events);
    atomic_store(&live->overhead_ns, before->overhead_ns);
    for (int i = 0; i <= DFT_DROP_LAST; i++)
        atomic_store(&live->dropped[i], before->dropped[i]);
}

static int create_and_map(void)
{
    struct dft_live *before = dft_live, *live;
    int fd;

    dft_livefile_path[0] = 0;
    __atomic_store_n(&batch, NULL, __ATOMIC_RELAXED); /* they lie in the file before */
    fd = create();
    if (fd < 0)
        dft_livefile_path[0] = 0;
    allocated = first_bytes();
    live = fd < 0 ? NULL : map_ours(fd, DFT_LIVE_PAGE, 0);
    if (!live)
        live = map_file(DFT_LIVE_PAGE, 0);
    if (!live) {
        dft_livefile_remove();
        dft_process_note(DFT_NOTE_NO_LIVEFILE);
        live = map_plain(DFT_LIVE_PAGE);
    }
    if (!live)
        return -ENOMEM;
    if (before)
        take_over(live, before);
    live->version = DFT_LIVE_VERSION;
    dft_process_identify(live, device, inode);
    live->rows_id = dft_call_rows_id();
    live->metric = dft_config.time_metric;
    live->interval_ns = dft_config.trace_interval_ms * 1000000u;
    dft_clock_update(&live->clock);
    atomic_store(&live->size, whole_pages(DFT_LIVE_PAGE));
    atomic_store(&live->state, DFT_LIVE_RUNNING);
    __atomic_store_n(&live->magic, DFT_LIVE_MAGIC, __ATOMIC_RELEASE);
    dft_live = live;
    dft_livefile_number++;
    return 0;
}

/* Lets go of the lock. `most` of those that wait for small rings look again: more than a batch has left, so that one of them makes the
 * next batch and wakes others. They do not wait for the lock, which they would take one after the other for nothing. */
static void unlock_rings(uint32_t most)
{
    dft_spin_unlock(&making);
    __atomic_add_fetch(&rounds, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST))
        dft_futex_wake(&rounds, most);
}

int dft_livefile_create(void)
{
    int result;

    dft_spin_lock(&making);
    result = create_and_map();
    unlock_rings(1);
    return result;
}

/* The file with so many bytes more, mapped; *offset: where they lie. NULL: it has no room for them. */
static void *extend(size_t bytes, uint64_t *offset)
{
    void *at;

    *offset = atomic_load(&dft_live->size);
    at = map_file(bytes, *offset);
    if (at)
        atomic_store(&dft_live->size, *offset + bytes);
    return at;
}

/* The next of the batch's rings, NULL: there is none left. */
static void *take_ahead(struct batch *from, uint64_t *offset)
{
    const size_t bytes = whole_pages(dft_ring_bytes(DFT_FIRST_SLOTS));
    uint32_t i = from ? __atomic_fetch_add(&from->taken, 1, __ATOMIC_RELAXED) : 0;

    if (!from || i >= from->count)
        return NULL;
    *offset = from->offset + i * bytes;
    return from->at + i * bytes;
}

/* Makes a batch and takes its first ring, with the lock. NULL: no room. */
static void *make_ahead(uint64_t *offset)
{
    const size_t bytes = whole_pages(dft_ring_bytes(DFT_FIRST_SLOTS));
    uint32_t more = small_rings / AHEAD_SHARE < AHEAD_MOST ? small_rings / AHEAD_SHARE : AHEAD_MOST;
    struct batch *next = &batches[nbatches];

    if (more > 1 && nbatches < BATCHES_MOST && (next->at = extend(more * bytes, &next->offset))) {
        next->count = more;
        next->taken = 0;
        nbatches++;
        small_rings += more;
        __atomic_store_n(&batch, next, __ATOMIC_RELEASE);
        return take_ahead(next, offset);
    }
    small_rings++;
    return extend(bytes, offset);
}

static void wait_for_rings(uint32_t round)
{
    __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    dft_futex_wait(&rounds, round);
    __atomic_sub_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
}

static void *take_small(uint64_t *offset)
{
    for (;;) {
        uint32_t round = __atomic_load_n(&rounds, __ATOMIC_SEQ_CST);
        void *at = take_ahead(__atomic_load_n(&batch, __ATOMIC_ACQUIRE), offset);

        if (at)
            return at;
        if (dft_spin_try(&making)) {
            at = take_ahead(batch, offset); /* another thread may have made one meanwhile */
            if (!at)
                at = make_ahead(offset);
            unlock_rings(AHEAD_MOST + 1);
            return at;
        }
        wait_for_rings(round);
    }
}

static void *take_large(size_t bytes, uint64_t *offset)
{
    void *at;

    dft_spin_lock(&making);
    at = extend(bytes, offset);
    unlock_rings(1);
    return at;
}

/* `may_be_plain`: also where there is a file that has no room. */
static struct dft_ring *make_ring(uint32_t slots, uint32_t tid, uint64_t base, int may_be_plain)
{
    size_t bytes = whole_pages(dft_ring_bytes(slots));
    uint64_t offset = 0;
    struct dft_ring *ring = slots == DFT_FIRST_SLOTS ? take_small(&offset) : take_large(bytes, &offset);

    if (!ring) {
        offset = 0;
        if (dft_livefile_path[0] && !may_be_plain)
            return NULL;
        if (dft_livefile_path[0])
            dft_process_note(DFT_NOTE_PLAIN_RINGS);
        ring = map_plain(bytes);
    }
    if (!ring)
        return NULL;
    ring->stream = __atomic_fetch_add(&streams, 1, __ATOMIC_RELAXED);
    ring->tid = tid;
    ring->capacity = slots;
    ring->shift = (uint32_t)__builtin_ctz(slots);
    ring->base = base;
    ring->offset = offset;
    atomic_store(&ring->head, base);
    atomic_store(&ring->tail, base);
    __atomic_store_n(&ring->magic, DFT_RING_MAGIC, __ATOMIC_RELEASE);
    return ring;
}

struct dft_ring *dft_livefile_ring(uint32_t slots, uint32_t tid, uint64_t base)
{
    return make_ring(slots, tid, base, 1);
}

struct dft_ring *dft_livefile_lasting_ring(uint32_t slots, uint32_t tid, uint64_t base)
{
    return make_ring(slots, tid, base, 0);
}

void dft_livefile_ring_idle(struct dft_ring *ring)
{
    char *slots = (char *)ring + DFT_LIVE_PAGE;
    size_t bytes = dft_ring_bytes(ring->capacity) - DFT_LIVE_PAGE;

    if (!ring->offset || DFT_SYS(madvise, slots, bytes, MADV_REMOVE, 0, 0, 0) < 0)
        DFT_SYS(madvise, slots, bytes, MADV_DONTNEED, 0, 0, 0);
}

/* Of kernels before 5.14. */
static int write_again(const struct dft_ring *ring, size_t bytes)
{
    int fd, result = -EBADF;

    dft_spin_lock(&making);
    fd = open_for(0, 0);
    if (fd >= 0) {
        result = write_zeros(fd, ring->offset + DFT_LIVE_PAGE, bytes);
        close_ours(fd);
    }
    unlock_rings(1);
    return result;
}

int dft_livefile_ring_again(struct dft_ring *ring)
{
    char *slots = (char *)ring + DFT_LIVE_PAGE;
    size_t bytes = dft_ring_bytes(ring->capacity) - DFT_LIVE_PAGE;
    int result;
    long at;

    if (!ring->offset)
        return 0;
    result = (int)DFT_SYS(madvise, slots, bytes, MADV_POPULATE_WRITE, 0, 0, 0);
    if (result == -EINVAL)
        result = write_again(ring, bytes);
    if (!result)
        return 0;
    at = DFT_SYS(mmap, slots, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (at < 0 && at > -4096)
        return (int)at;
    ring->offset = 0;
    return 0;
}

void dft_livefile_ring_detach(struct dft_ring *ring)
{
    uint32_t capacity = ring->capacity, shift = ring->shift;
    long at = DFT_SYS(mmap, ring, dft_ring_bytes(capacity), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

    if (at == (long)ring) {
        ring->capacity = capacity;
        ring->shift = shift;
    }
}

void dft_livefile_remove(void)
{
    if (dft_livefile_path[0])
        DFT_SYS(unlinkat, AT_FDCWD, dft_livefile_path, 0, 0, 0, 0);
    dft_livefile_path[0] = 0;
}

void dft_livefile_forget(void)
{
    if (dft_live)
        DFT_SYS(mmap, dft_live, DFT_LIVE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    dft_live = NULL;
    dft_livefile_path[0] = 0;
    streams = nbatches = small_rings = 0;
    batch = NULL;
    making.held = waiting = 0;
}
