/* SPDX-License-Identifier: MIT */
/* Counts calls on files below a directory, in shared memory that outlives the process: preloaded
 * before the library under test, so that a call counted as returned has been through it. Knows
 * nothing of that library.
 *
 * COUNTING_FILE: the shared memory; COUNTING_BELOW: the directory. One slot for each process
 * image. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define SLOTS 4096u

enum kind { READ, WRITE, PREAD, PWRITE, OPEN, FSYNC, FTRUNCATE, KINDS };

/* What the trace has of a kind is between `returned` and `returned + inside`. */
struct slot {
    _Atomic uint64_t pid;
    _Atomic uint64_t returned[KINDS], inside[KINDS];
    uint64_t pad;
};

struct shared {
    _Atomic uint64_t slots;
    uint64_t pad[7];
    struct slot slot[SLOTS];
};

static struct shared *shared;
static struct slot *own;
static const char *below;

static struct slot *get_slot(void)
{
    uint64_t pid = (uint64_t)syscall(SYS_getpid), number;
    const char *path;
    long fd;

    if (own && atomic_load(&own->pid) == pid)
        return own;
    if (!shared) {
        path = getenv("COUNTING_FILE");
        below = getenv("COUNTING_BELOW");
        fd = path && below ? syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
        if (fd < 0)
            return NULL;
        shared = (struct shared *)syscall(SYS_mmap, NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        syscall(SYS_close, fd);
    }
    number = atomic_fetch_add(&shared->slots, 1);
    if (number >= SLOTS)
        abort();
    atomic_store(&shared->slot[number].pid, pid);
    own = &shared->slot[number];
    return own;
}

/* Is it a file below the directory? */
static int counts(int fd)
{
    char link[32] = "/proc/self/fd/", path[4096];
    size_t length = strlen(below), n = 14;
    char digits[12];
    int i = 0;
    long got;

    if (fd < 0)
        return 0;
    do
        digits[i++] = (char)('0' + fd % 10);
    while (fd /= 10);
    while (i > 0)
        link[n++] = digits[--i];
    got = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path);
    return got > (long)length && !memcmp(path, below, length) && path[length] == '/';
}

#define REAL(name)                                                                                                     \
    static __typeof__(name) *real;                                                                                     \
    if (!real)                                                                                                         \
        real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);

/* Whether a descriptor counts is known before the call; of one that is made, behind it. */
#define COUNTED(kind, type, call, before, after)                                                                       \
    int error_ = errno;                                                                                                \
    struct slot *slot_ = get_slot();                                                                                   \
    int counts_ = slot_ && (before);                                                                                   \
    type result_;                                                                                                      \
                                                                                                                       \
    if (counts_)                                                                                                       \
        atomic_fetch_add(&slot_->inside[kind], 1);                                                                     \
    errno = error_;                                                                                                    \
    result_ = call;                                                                                                    \
    error_ = errno;                                                                                                    \
    if (counts_) {                                                                                                     \
        if (after)                                                                                                     \
            atomic_fetch_add(&slot_->returned[kind], 1);                                                               \
        atomic_fetch_sub(&slot_->inside[kind], 1);                                                                     \
    }                                                                                                                  \
    errno = error_;                                                                                                    \
    return result_

#define ON_FD(kind, type, name, prototype, ...)                                                                        \
    type name prototype;                                                                                               \
    type name prototype                                                                                                \
    {                                                                                                                  \
        REAL(name)                                                                                                     \
        COUNTED(kind, type, real(__VA_ARGS__), counts(fd), 1);                                                         \
    }

ON_FD(READ, ssize_t, read, (int fd, void *buffer, size_t size), fd, buffer, size)
ON_FD(WRITE, ssize_t, write, (int fd, const void *buffer, size_t size), fd, buffer, size)
ON_FD(PREAD, ssize_t, pread, (int fd, void *buffer, size_t size, off_t offset), fd, buffer, size, offset)
ON_FD(PREAD, ssize_t, pread64, (int fd, void *buffer, size_t size, off_t offset), fd, buffer, size, offset)
ON_FD(PWRITE, ssize_t, pwrite, (int fd, const void *buffer, size_t size, off_t offset), fd, buffer, size, offset)
ON_FD(PWRITE, ssize_t, pwrite64, (int fd, const void *buffer, size_t size, off_t offset), fd, buffer, size, offset)
ON_FD(READ, ssize_t, __read_chk, (int fd, void *buffer, size_t size, size_t room), fd, buffer, size, room)
ON_FD(PREAD, ssize_t, __pread_chk, (int fd, void *buffer, size_t size, off_t offset, size_t room), fd, buffer, size,
      offset, room)
ON_FD(PREAD, ssize_t, __pread64_chk, (int fd, void *buffer, size_t size, off_t offset, size_t room), fd, buffer, size,
      offset, room)
ON_FD(FSYNC, int, fsync, (int fd), fd)
ON_FD(FSYNC, int, fdatasync, (int fd), fd)
ON_FD(FTRUNCATE, int, ftruncate, (int fd, off_t size), fd, size)
ON_FD(FTRUNCATE, int, ftruncate64, (int fd, off_t size), fd, size)

#define MODE                                                                                                           \
    va_list list;                                                                                                      \
    mode_t mode;                                                                                                       \
                                                                                                                       \
    va_start(list, flags);                                                                                             \
    mode = va_arg(list, mode_t);                                                                                       \
    va_end(list);
#define OPENS(name, prototype, ...)                                                                                    \
    int name prototype;                                                                                                \
    int name prototype                                                                                                 \
    {                                                                                                                  \
        MODE REAL(name) COUNTED(OPEN, int, real(__VA_ARGS__, mode), 1, counts(result_));                               \
    }

OPENS(open, (const char *path, int flags, ...), path, flags)
OPENS(open64, (const char *path, int flags, ...), path, flags)
OPENS(openat, (int directory, const char *path, int flags, ...), directory, path, flags)
OPENS(openat64, (int directory, const char *path, int flags, ...), directory, path, flags)

/* As compiled with _FORTIFY_SOURCE. */
#define OPENS_PLAIN(name, prototype, ...)                                                                              \
    int name prototype;                                                                                                \
    int name prototype                                                                                                 \
    {                                                                                                                  \
        REAL(name)                                                                                                     \
        COUNTED(OPEN, int, real(__VA_ARGS__), 1, counts(result_));                                                     \
    }

OPENS_PLAIN(__open_2, (const char *path, int flags), path, flags)
OPENS_PLAIN(__open64_2, (const char *path, int flags), path, flags)
OPENS_PLAIN(__openat_2, (int directory, const char *path, int flags), directory, path, flags)
OPENS_PLAIN(__openat64_2, (int directory, const char *path, int flags), directory, path, flags)
