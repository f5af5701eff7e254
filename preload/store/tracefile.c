/* SPDX-License-Identifier: MIT */
/* Owns the trace file: creates it, hides its descriptor, appends to it. tracefile_move.c moves it,
 * tracefile_number.c chooses the descriptor's number.
 *
 * Each writer thread is counted as a user. step_aside waits until
 * there are no users, so a write never meets the program's descriptor. Each write first compares
 * device and inode: a raw close or dup2 of the program may have taken the number. */
#include "store/tracefile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "os/bulk.h"
#include "format/crc32c.h"
#include "format/format.h"
#include "settings/config.h"
#include "os/secure.h"
#include "os/self.h"
#include "os/ourfile.h"
#include "tables/fd_progress.h"
#include "os/sys.h"
#include "store/tracefile_inside.h"
#include "store/tracename.h"

#define NUMBER_MAX   (1 << 24)
#define PAGE         4096u /* the kernel completes a write to one page, even of a killed thread */
#define HEADER       sizeof(struct dft_block_header)
#define REPLACED_MAX 2u

__thread int dft_tracefile_shared __attribute__((tls_model("initial-exec")));
char dft_tracefile_name[DFT_TRACEFILE_ROOM] DFT_BULK;
#define path dft_tracefile_name
int dft_tracefile_fd = -1; /* atomic */
#define trace_fd dft_tracefile_fd
int dft_tracefile_exists; /* the file was created; trace_fd may still be -1 */
static struct dft_ourfile ours;
uint64_t dft_tracefile_bytes;
static uint32_t users;  /* atomic: number of writer threads at work */
static uint32_t moving; /* atomic: 1 keeps new writer threads out */
static int fails;       /* atomic: the last write failed */
/* atomic: how often another file was found on our number, put there past the wrappers */
static uint32_t replaced;

/* --- creation --------------------------------------------------------------------------------- */

/* A staged file is read again when it is moved. */
static int mode_of_access(void)
{
    return dft_tracefile_is_staged() ? O_RDWR : O_WRONLY;
}

/* Who runs a program with the rights of another one has also set its umask. */
static long create_file(void)
{
    const mode_t mode = (mode_t)dft_config.mode;

    return dft_tracename_create(path, mode_of_access(), mode || !dft_is_secure() ? mode : 0600, &ours);
}

int dft_tracefile_create_file(void)
{
    long fd, unmade = 0;

    dft_tracefile_make_path();
    fd = create_file();
    if (fd == -ENOENT) {
        unmade = dft_tracename_make_directories(path, 0777);
        fd = create_file();
    }
    if (fd < 0)
        return (int)(fd == -ENOENT && unmade ? unmade : fd); /* the first cause tells more */
    __atomic_store_n(&dft_tracefile_bytes, 0, __ATOMIC_RELAXED);
    dft_tracefile_exists = 1;
    replaced = 0;
    __atomic_store_n(&trace_fd, dft_tracefile_move_up(&ours, (int)fd), __ATOMIC_RELEASE);
    dft_ourfile_close(&ours, (int)fd);
    return 0;
}

void dft_tracefile_begin_move(void)
{
    uint32_t there;

    while (__atomic_exchange_n(&moving, 1, __ATOMIC_SEQ_CST))
        dft_futex_wait(&moving, 1);
    while ((there = __atomic_load_n(&users, __ATOMIC_SEQ_CST)))
        dft_futex_wait(&users, there);
}

void dft_tracefile_end_move(void)
{
    __atomic_store_n(&moving, 0, __ATOMIC_SEQ_CST);
    dft_futex_wake(&moving, INT32_MAX);
}

int dft_tracefile_is_used(void)
{
    return __atomic_load_n(&users, __ATOMIC_SEQ_CST) || dft_tracefile_is_moving();
}

int dft_tracefile_is_moving(void)
{
    return __atomic_load_n(&moving, __ATOMIC_RELAXED) != 0;
}

/* Other threads may ask which number is ours, and learn meanwhile that there is none. */
void dft_tracefile_replace(const struct dft_ourfile *file, int fd)
{
    dft_ourfile_close(&ours, __atomic_exchange_n(&trace_fd, -1, __ATOMIC_ACQ_REL));
    ours = *file;
    replaced = 0;
    __atomic_store_n(&trace_fd, fd, __ATOMIC_RELEASE);
}

const char *dft_tracefile_path(void)
{
    return path;
}

const struct dft_ourfile *dft_tracefile_identity(void)
{
    return &ours;
}

void dft_tracefile_remove(void)
{
    dft_tracename_remove(path, &ours);
    dft_tracefile_forget();
}

void dft_tracefile_forget(void)
{
    if (dft_tracefile_shared)
        trace_fd = -1;
    dft_ourfile_close(&ours, __atomic_exchange_n(&trace_fd, -1, __ATOMIC_RELAXED));
    dft_tracefile_forget_copy();
    dft_tracefile_number_forked();
    dft_tracefile_shared = 0;
    dft_tracefile_exists = 0;
    users = moving = 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

void dft_tracefile_release(void)
{
    __atomic_sub_fetch(&users, 1, __ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(&moving, __ATOMIC_SEQ_CST), 0))
        dft_futex_wake(&users, 1);
}

void dft_tracefile_hold(void)
{
    for (;;) {
        __atomic_add_fetch(&users, 1, __ATOMIC_SEQ_CST);
        if (!__atomic_load_n(&moving, __ATOMIC_SEQ_CST))
            return;
        dft_tracefile_release();
        dft_futex_wait(&moving, 1);
    }
}

/* The program keeps the number that it took. A program that takes the number repeatedly might do so
 * between our check and our write. Then nothing more is written. */
int dft_tracefile_get_fd(int *own)
{
    int fd = __atomic_load_n(&trace_fd, __ATOMIC_ACQUIRE), again, high;
    struct stat st;

    *own = dft_own_files != 0;
    if (dft_ourfile_has(&ours, fd)) {
        *own = 0;
        return fd;
    }
    if (!*own && fd >= 0 && DFT_SYS(fstat, fd, &st, 0, 0, 0, 0) == 0 &&
        __atomic_compare_exchange_n(&trace_fd, &fd, -1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        __atomic_add_fetch(&replaced, 1, __ATOMIC_RELAXED);
        fd = -1;
    }
    if (__atomic_load_n(&replaced, __ATOMIC_RELAXED) > REPLACED_MAX)
        return -EBADF;
    again = (int)dft_tracename_open(path, mode_of_access(), &ours);
    if (again < 0)
        return again;
    high = *own ? -1 : dft_tracefile_move_up(&ours, again); /* the number is that of all threads */
    if (high < 0) {
        *own = 1;
        return dft_tracefile_lift(&ours, again);
    }
    dft_ourfile_close(&ours, again);
    if (__atomic_compare_exchange_n(&trace_fd, &fd, high, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return dft_ourfile_has(&ours, high) ? high : -EBADF;
    dft_ourfile_close(&ours, high); /* another thread was first */
    return dft_ourfile_has(&ours, fd) ? fd : -EBADF;
}

/* Writes all bytes, or returns an error. *done: the number of bytes written. Each piece is written
 * right after a look at the number: a system call past the library may put another file on it.
 * `looked`: the caller has just done so. */
static int write_all(int fd, int looked, const char *bytes, size_t length, uint64_t at, size_t *done)
{
    for (*done = 0; *done < length; looked = 0) {
        long n = looked || dft_ourfile_has(&ours, fd) ? dft_sys_pwrite(fd, bytes + *done, length - *done, at + *done)
                                                      : -EBADF;

        if (n == -EINTR)
            continue;
        if (n <= 0)
            return n ? (int)n : -EIO;
        *done += (size_t)n;
    }
    return 0;
}

/* Writes blocks into their place, right after a look at the number. Another thread or a signal may
 * end this thread between any two pages. Then the place holds zeros, or a block that is marked as
 * unfinished. The file gets its full length first, since other blocks may be appended behind this
 * place. */
static int write_blocks(int fd, const char *blocks, size_t length, uint64_t at, size_t *done)
{
    struct dft_block_header cover = {.magic = DFT_BLOCK_MAGIC,
                                     .type = DFT_BLOCK_UNFINISHED,
                                     .version = DFT_FORMAT_VERSION,
                                     .stored = (uint32_t)(length - HEADER),
                                     .tail = (uint32_t)(length - HEADER),
                                     .key = dft_key};
    size_t more;
    int result;

    if (at / PAGE == (at + length - 1) / PAGE)
        return write_all(fd, 1, blocks, length, at, done);
    cover.header_crc = dft_crc32c(0, &cover, HEADER);
    result = write_all(fd, 1, "", 1, at + length - 1, done);
    *done = 0;
    if (!result)
        result = write_all(fd, 0, (const char *)&cover, HEADER, at, done);
    if (!result) {
        result = write_all(fd, 0, blocks + HEADER, length - HEADER, at + HEADER, &more);
        *done += more;
    }
    return result ? result : write_all(fd, 0, blocks, HEADER, at, &more);
}

/* Reserves a place for this many bytes. Where blocks take more than one page, no page ends within
 * their first header. */
static uint64_t reserve(size_t length)
{
    uint64_t end = __atomic_load_n(&dft_tracefile_bytes, __ATOMIC_RELAXED), at;

    do {
        uint64_t left = PAGE - end % PAGE;

        at = left < length && left < HEADER ? end + left : end;
    } while (
        !__atomic_compare_exchange_n(&dft_tracefile_bytes, &end, at + length, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return at;
}

/* Removes every piece of a write that failed, because all of the write counts as lost. Readers skip
 * zeros. The place is used again where no other write follows it. */
static void take_back(int fd, uint64_t at, size_t done, size_t length)
{
    static const char zeros[4096];
    uint64_t end = at + length;

    if (done && dft_ourfile_has(&ours, fd) &&
        DFT_SYS(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, done, 0, 0) < 0)
        for (size_t i = 0, n; i < done && dft_ourfile_has(&ours, fd); i += n) {
            n = done - i < sizeof zeros ? done - i : sizeof zeros;
            dft_sys_pwrite(fd, zeros, n, at + i);
        }
    __atomic_compare_exchange_n(&dft_tracefile_bytes, &end, at, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static int write_once(const void *bytes, size_t length)
{
    int fd, own, result;
    size_t done;
    uint64_t at;

    dft_tracefile_hold();
    fd = dft_tracefile_get_fd(&own);
    if (fd >= 0) {
        at = reserve(length);
        result = write_blocks(fd, bytes, length, at, &done);
        if (result)
            take_back(fd, at, done, length);
        if (own)
            dft_ourfile_close(&ours, fd);
    } else {
        result = fd;
    }
    dft_tracefile_release();
    return result;
}

int dft_tracefile_write(const void *bytes, size_t length)
{
    int was_staged = dft_tracefile_is_staged(), result;

    if (!dft_tracefile_exists)
        return -EBADF;
    result = write_once(bytes, length);
    if (__builtin_expect(was_staged && (result == -ENOSPC || result == -EDQUOT), 0) && dft_tracefile_leave_stage())
        result = write_once(bytes, length);
    __atomic_store_n(&fails, result != 0, __ATOMIC_RELAXED);
    return result;
}

int dft_tracefile_fails(void)
{
    return __atomic_load_n(&fails, __ATOMIC_RELAXED);
}

/* --- hiding ----------------------------------------------------------------------------------- */

int dft_tracefile_is(int fd)
{
    if (fd < 0 || fd != dft_tracefile_number())
        return 0;
    return dft_is_sandboxed() || dft_ourfile_has(&ours, fd);
}

int dft_tracefile_hides(int fd)
{
    if (!dft_tracefile_is(fd))
        return 0;
    errno = EBADF;
    return 1;
}

int dft_tracefile_is_entry(void *dir, const char *name)
{
    struct stat st;
    int number = 0;

    if (*name < '1' || *name > '9')
        return 0;
    for (const char *at = name; *at; at++) {
        if (*at < '0' || *at > '9' || number > NUMBER_MAX)
            return 0;
        number = 10 * number + *at - '0';
    }
    /* Is the entry a link to our file? Any process's descriptor may be meant. */
    return number == dft_tracefile_number() && DFT_SYS(newfstatat, dirfd(dir), name, &st, 0, 0, 0) == 0 &&
           dft_ourfile_is(&ours, &st);
}
