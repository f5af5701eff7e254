/* SPDX-License-Identifier: MIT */
/* Owns the live file: chooses its directory, creates it, grows it, removes it.
 *
 * The live file must not lie where stores into a mapping can fail or stall. Copy-on-write file
 * systems raise SIGBUS when they are full, and network file systems wait. So the file lies on ext4,
 * xfs or tmpfs, in DFTRACER_LIVE_DIR or beside the trace. The next choice is /dev/shm, and the last
 * is plain memory. That is the only one where the file would belong to a user who has not all rights of
 * the process: such a user could steer it. */
#include "store/livefile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include "os/bulk.h"
#include "format/calls.h"
#include "os/clock.h"
#include "settings/config.h"
#include "os/memory.h"
#include "tables/maps.h"
#include "store/kept.h"
#include "store/identity.h"
#include "store/notes.h"
#include "os/ourfile.h"
#include "os/secure.h"
#include "os/sys.h"
#include "store/tracefile.h"
#include "store/tracename.h"

#define DIRECTORY_ROOM 4096u

char dft_livefile_path[DIRECTORY_ROOM + 304] DFT_BULK;
uint32_t dft_livefile_number;

static struct dft_ourfile ours;

static uint64_t allocated; /* size of the file in bytes */

/* Rounds up to pages as this machine has them (64 KiB on some). A mapping of a file can begin only
 * at such an offset. */
size_t dft_livefile_pages(size_t bytes)
{
    return dft_maps_range(NULL, bytes).end;
}

/* Size of the head and the first ring. */
static size_t first_bytes(void)
{
    return dft_livefile_pages(DFT_LIVE_PAGE) + dft_livefile_pages(dft_ring_bytes(DFT_FIRST_SLOTS));
}

/* Is this descriptor our file, with at least this length? */
static int has(int fd, uint64_t bytes)
{
    struct stat st;

    return DFT_SYS(fstat, fd, &st, 0, 0, 0, 0) == 0 && dft_ourfile_is(&ours, &st) && (uint64_t)st.st_size >= bytes;
}

static int write_zeros(int fd, uint64_t offset, size_t bytes)
{
    static const char zeros[DFT_LIVE_PAGE];
    struct iovec pages[64];

    for (size_t i = 0; i < 64; i++)
        pages[i] = (struct iovec){(void *)(uintptr_t)zeros, sizeof zeros};
    while (bytes) {
        size_t n = bytes / DFT_LIVE_PAGE < 64 ? bytes / DFT_LIVE_PAGE : 64;
        long done =
            dft_ourfile_has(&ours, fd) ? dft_sys_lengthened(DFT_SYS(pwritev, fd, pages, n, offset, 0, 0)) : -EBADF;

        if (done <= 0 || done % DFT_LIVE_PAGE)
            return done < 0 ? (int)done : -ENOSPC;
        offset += (uint64_t)done;
        bytes -= (size_t)done;
    }
    return 0;
}

/* Makes the file this long. Another thread may put its own file on the number right after our look. So
 * this call can neither cut a file nor write to one: it reserves the last byte. A reserved block costs
 * ext4 more than one that is written, so the others are not reserved. Returns 0 or -errno. */
static int make_long(int fd, uint64_t bytes)
{
    if (has(fd, bytes))
        return 0;
    return dft_ourfile_has(&ours, fd) ? (int)dft_sys_lengthened(DFT_SYS(fallocate, fd, 0, bytes - 1, 1, 0, 0)) : -EBADF;
}

/* Maps our file. NULL: the mapping failed. A process that shares the descriptor may have put its
 * own file on the number. The check comes after the mmap, because from then on our file does not
 * return to the number. The check comes before anything is stored. */
static void *map_shared(int fd, size_t bytes, uint64_t offset)
{
    long at = dft_memory_map(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

    if (at < 0)
        return NULL;
    if (!has(fd, offset + bytes)) { /* make_long(), too, may have met another file */
        DFT_SYS(munmap, at, bytes, 0, 0, 0, 0);
        return NULL;
    }
    return (void *)at;
}

/* Does the work of write_zeros() by stores into a mapping. Whatever file another thread puts on the
 * number meanwhile, that file receives no byte. This takes several times as long. Returns 0,
 * -errno, or -EINVAL when the kernel is older than 5.14. */
static int store_zeros(int fd, uint64_t offset, size_t bytes)
{
    int result = make_long(fd, offset + bytes);
    void *at = result < 0 ? NULL : map_shared(fd, bytes, offset);

    if (!at)
        return result < 0 ? result : -EBADF;
    result = (int)DFT_SYS(madvise, at, bytes, MADV_POPULATE_WRITE, 0, 0, 0);
    DFT_SYS(munmap, at, bytes, 0, 0, 0, 0);
    return result;
}

/* Reserves space for stores into these pages, whatever else fills the disk. The function writes
 * zeros. Zeros reserve as surely as fallocate does: a full disk or quota answers here. A file that
 * is removed before its first write-back costs half of a file with allocated blocks. Returns 0 or
 * -errno. */
static int reserve(int fd, uint64_t offset, size_t bytes)
{
    int result = dft_is_single() ? -EINVAL : store_zeros(fd, offset, bytes);

    return result == -EINVAL ? write_zeros(fd, offset, bytes) : result;
}

/* Other threads may put files on low numbers at any time, right before one of our calls, too. They do not choose high
 * numbers. Returns the number that the file is on now. */
static long lift(long fd)
{
    return fd < 0 || dft_is_single() ? fd : dft_tracefile_lift(&ours, (int)fd);
}

static int is_fit(const char *directory)
{
    struct statfs fs;

    return DFT_SYS(statfs, directory, &fs, 0, 0, 0, 0) >= 0 && dft_live_fits((unsigned long)fs.f_type);
}

/* Appends the name to the directory in dft_livefile_path. */
static void put_name(size_t used)
{
    const char *trace = dft_tracefile_path(), *name = strrchr(trace, '/') + 1;

    if (used && dft_livefile_path[used - 1] != '/')
        dft_livefile_path[used++] = '/';
    while (*name && used < sizeof dft_livefile_path - 16)
        dft_livefile_path[used++] = *name++;
    memcpy(dft_livefile_path + used, ".live", 6);
}

/* Creates the file in a directory whose file system is fit for it. Its owner must have all rights of this
 * process. Returns its descriptor, or -1 with no file left. */
static int create_in(const char *directory, size_t length)
{
    long fd;

    if (length >= DIRECTORY_ROOM)
        return -1;
    memcpy(dft_livefile_path, directory, length);
    dft_livefile_path[length] = 0;
    if (!is_fit(length ? dft_livefile_path : "."))
        return -1;
    put_name(length);
    fd = lift(dft_tracename_create(dft_livefile_path, O_RDWR, 0600, &ours));
    if (fd < 0)
        return -1;
    if (dft_secure_exceeds(ours.owner) || reserve((int)fd, 0, first_bytes()) < 0) {
        dft_ourfile_close(&ours, (int)fd);
        dft_tracename_remove(dft_livefile_path, &ours);
        return -1;
    }
    return (int)fd;
}

static int create_beside(const char *trace)
{
    return create_in(trace, (size_t)(strrchr(trace, '/') + 1 - trace));
}

/* A stage that is full leaves the place of the trace. */
static int create(void)
{
    int fd = -1;

    dft_tracefile_hold();
    if (*dft_config.live_dir)
        fd = create_in(dft_config.live_dir, strlen(dft_config.live_dir));
    if (fd < 0)
        fd = create_beside(dft_tracefile_path());
    if (fd < 0 && dft_tracefile_is_staged())
        fd = create_beside(dft_tracefile_target());
    if (fd < 0)
        fd = create_in("/dev/shm", 8);
    dft_tracefile_release();
    return fd;
}

/* Opens the file and reserves `bytes` at the offset. Returns the descriptor or -1. */
static int open_for(uint64_t offset, size_t bytes)
{
    long fd;

    if (!dft_livefile_path[0])
        return -1;
    fd = lift(dft_tracename_open(dft_livefile_path, O_RDWR, &ours));
    if (fd < 0)
        return -1;
    if (offset + bytes > allocated) {
        if (reserve((int)fd, offset, bytes) < 0) {
            dft_ourfile_close(&ours, (int)fd);
            return -1;
        }
        allocated = offset + bytes;
    }
    return (int)fd;
}

/* Maps the file as map_shared() does, and closes the descriptor. A mapping shows that the number was
 * ours just now. */
static void *map_ours(int fd, size_t bytes, uint64_t offset)
{
    void *at = map_shared(fd, bytes, offset);

    if (at)
        dft_sys_close(fd);
    else
        dft_ourfile_close(&ours, fd);
    return at;
}

/* Opens the file again when another file took the number in between. */
void *dft_livefile_map(size_t bytes, uint64_t offset)
{
    void *at = NULL;

    for (int fd, times = 0; !at && times < 3 && (fd = open_for(offset, bytes)) >= 0; times++)
        at = map_ours(fd, bytes, offset);
    return at;
}

int dft_livefile_write(uint64_t offset, size_t bytes)
{
    int fd = open_for(0, 0), result = -EBADF;

    if (fd >= 0) {
        result = write_zeros(fd, offset, bytes);
        dft_ourfile_close(&ours, fd);
    }
    return result;
}

/* Copies the counters of an earlier live file of this process. */
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
    dft_livefile_rings_moved();
    fd = create();
    if (fd < 0)
        dft_livefile_path[0] = 0;
    allocated = first_bytes();
    live = fd < 0 ? NULL : map_ours(fd, first_bytes(), 0);
    if (!live)
        live = dft_livefile_map(first_bytes(), 0);
    if (live) {
        atomic_store(&live->size, first_bytes());
        dft_livefile_ring_ahead((char *)live + dft_livefile_pages(DFT_LIVE_PAGE), dft_livefile_pages(DFT_LIVE_PAGE));
    } else {
        dft_livefile_remove();
        dft_process_note(DFT_NOTE_NO_LIVEFILE);
        live = dft_sys_map(DFT_LIVE_PAGE);
    }
    if (!live)
        return -ENOMEM;
    if (before)
        take_over(live, before);
    dft_kept_place(live, before);
    live->version = DFT_LIVE_VERSION;
    dft_process_identify(live, &ours, dft_tracefile_identity());
    live->rows_id = dft_call_rows_id();
    live->metric = dft_config.time_metric;
    live->interval_ns = dft_config.trace_interval_ms * 1000000u;
    dft_clock_update(&live->clock);
    atomic_store(&live->state, DFT_LIVE_RUNNING);
    __atomic_store_n(&live->magic, DFT_LIVE_MAGIC, __ATOMIC_RELEASE);
    __atomic_store_n(&dft_live, live, __ATOMIC_RELEASE);
    dft_livefile_number++;
    return 0;
}

int dft_livefile_create(void)
{
    int result;

    dft_livefile_lock();
    result = create_and_map();
    dft_livefile_unlock(1);
    return result;
}

void dft_livefile_remove(void)
{
    if (dft_livefile_path[0])
        dft_tracename_remove(dft_livefile_path, &ours);
    dft_livefile_path[0] = 0;
}

void dft_livefile_forget(void)
{
    if (dft_live)
        dft_memory_replace(dft_live, DFT_LIVE_PAGE);
    dft_live = NULL;
    dft_livefile_path[0] = 0;
    dft_livefile_rings_forget();
}
