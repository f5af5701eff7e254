/* SPDX-License-Identifier: MIT */
/* Paths of calls in flight. The library touches no pointer of the program before the real call, so a call that
 * waits on a path has none in the live file. The kernel tells the arguments of a thread that waits in a system
 * call to those who may trace it; nobody is stopped for that. */
#include "live/paths.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "format/hash.h"
#include "format/live_read.h"
#include "format/slot_event.h"

/* Where a system call has its path. */
struct shape {
    long number;
    int directory; /* the argument with the descriptor that the path is relative to; -1: none */
    int path;
};

static const struct shape shapes[] = {
    {SYS_openat, 0, 1},    {SYS_openat2, 0, 1},    {SYS_newfstatat, 0, 1}, {SYS_statx, 0, 1},
    {SYS_faccessat, 0, 1}, {SYS_faccessat2, 0, 1}, {SYS_readlinkat, 0, 1}, {SYS_unlinkat, 0, 1},
    {SYS_mkdirat, 0, 1},   {SYS_renameat2, 0, 1},  {SYS_renameat, 0, 1},   {SYS_fchmodat, 0, 1},
    {SYS_fchownat, 0, 1},  {SYS_utimensat, 0, 1},  {SYS_truncate, -1, 0},  {SYS_statfs, -1, 0},
    {SYS_chdir, -1, 0},    {SYS_execve, -1, 0},
#ifdef SYS_open
    {SYS_open, -1, 0},     {SYS_creat, -1, 0},     {SYS_stat, -1, 0},      {SYS_lstat, -1, 0},
    {SYS_access, -1, 0},   {SYS_readlink, -1, 0},  {SYS_unlink, -1, 0},    {SYS_mkdir, -1, 0},
    {SYS_rmdir, -1, 0},    {SYS_rename, -1, 0},    {SYS_chmod, -1, 0},     {SYS_chown, -1, 0},
#endif
};

/* The line of the kernel about a thread that waits in a system call; "": it does not, or we may not know. */
static void read_line(uint32_t pid, uint32_t tid, char *line, int size)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%u/task/%u/syscall", pid, tid);
    file = fopen(path, "re");
    if (!file || !fgets(line, size, file))
        *line = 0;
    if (file)
        fclose(file);
}

static const struct shape *parse(const char *line, unsigned long long arguments[6])
{
    long number;

    if (sscanf(line, "%ld %llx %llx %llx %llx %llx %llx", &number, &arguments[0], &arguments[1], &arguments[2],
               &arguments[3], &arguments[4], &arguments[5]) != 7)
        return NULL;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].number == number)
            return &shapes[i];
    return NULL;
}

/* Reads a string page by page. Returns its length; 0: there is none that fits. */
static size_t read_string(uint32_t pid, uint64_t address, char *to, size_t room)
{
    size_t length = 0;

    while (length < room) {
        size_t page = DFT_LIVE_PAGE - (address + length) % DFT_LIVE_PAGE;
        struct iovec local = {to + length, page < room - length ? page : room - length};
        struct iovec remote = {(void *)(uintptr_t)(address + length), local.iov_len};
        ssize_t n = process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0);
        const char *end = n > 0 ? memchr(to + length, 0, (size_t)n) : NULL;

        if (n <= 0 || end)
            return end ? (size_t)(end - to) : 0;
        length += (size_t)n;
    }
    return 0;
}

/* Puts the directory that a relative path begins in before it. Returns the length of both; 0: it is not known. */
static size_t complete(uint32_t pid, int directory, char *path, size_t length, size_t room)
{
    char link[64], base[PATH_MAX];
    ssize_t n;

    if (*path == '/')
        return length;
    if (directory == AT_FDCWD)
        snprintf(link, sizeof link, "/proc/%u/cwd", pid);
    else
        snprintf(link, sizeof link, "/proc/%u/fd/%d", pid, directory);
    n = readlink(link, base, sizeof base);
    if (n <= 0 || *base != '/' || (size_t)n + 1 + length >= room)
        return 0;
    memmove(path + n + 1, path, length + 1);
    memcpy(path, base, (size_t)n);
    path[n] = '/';
    return (size_t)n + 1 + length;
}

static void look(struct dft_ring *copy, const struct dft_ring *now, uint32_t pid)
{
    char before[256], after[256], *path = dft_flight_path(copy);
    unsigned long long arguments[6];
    const struct shape *shape;
    size_t length;

    read_line(pid, copy->tid, before, sizeof before);
    shape = parse(before, arguments);
    length = shape ? read_string(pid, arguments[shape->path], path, DFT_FLIGHT_PATH_ROOM) : 0;
    length = length ? complete(pid, shape->directory < 0 ? AT_FDCWD : (int)arguments[shape->directory], path, length,
                               DFT_FLIGHT_PATH_ROOM)
                    : 0;
    read_line(pid, copy->tid, after, sizeof after);
    if (!length || strcmp(before, after) != 0 || now->flight_start != copy->flight_start ||
        atomic_load(&((struct dft_ring *)(uintptr_t)now)->flight_call) != atomic_load(&copy->flight_call))
        *path = 0;
    else
        copy->flight_file = dft_name_id(path, length);
}

void dft_live_paths(void *copy, const struct dft_live *now, size_t length)
{
    const struct dft_ring *found;
    size_t offset = 0;

    while ((found = dft_live_ring(copy, length, &offset))) {
        struct dft_ring *ring = (struct dft_ring *)(uintptr_t)found;

        if (dft_slot_is_call(atomic_load(&ring->flight_call)) && !ring->flight_file && ring->flight_fd < 0)
            look(ring, (const void *)((const char *)now + ((const char *)ring - (const char *)copy)), now->pid);
    }
}
