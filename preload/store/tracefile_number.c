/* SPDX-License-Identifier: MIT */
/* Owns the number of the trace's descriptor.
 *
 * The program gets the lowest free number, so ours is the highest below min(RLIMIT_NOFILE, 1024):
 * higher numbers make fork slow. When the program comes near, our descriptor moves out of its way: higher
 * up, below where the program is, or above the limit, where the program cannot come. Else the descriptor
 * is given up, and each write opens the file by its name. So the program sees the numbers that it would
 * see alone, and never gets EMFILE because of us. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "os/ourfile.h"
#include "os/self.h"
#include "os/shared_tls.h"
#include "os/sys.h"
#include "store/tracefile.h"
#include "store/tracefile_inside.h"
#include "tables/fd_progress.h"

#define LOWEST_FD  256
#define HIGHEST_FD 65536 /* a table of descriptors has 8 bytes a number, and each fork copies it */
#define ABOVE      64    /* how far above the limit a number may lie */

struct limit {
    uint64_t soft, hard;
};

static int end = 1024; /* atomic: our number lies below. Grows with the program's numbers */
static int gives_up;   /* atomic: there is no number of our own */

static int exchange_limit(const struct limit *next, struct limit *before)
{
    return (int)DFT_SYS(prlimit64, 0, RLIMIT_NOFILE, next, before, 0, 0);
}

/* The program's numbers lie below. */
static int program_end(void)
{
    struct limit limit;

    return exchange_limit(NULL, &limit) < 0 || limit.soft > HIGHEST_FD ? HIGHEST_FD : (int)limit.soft;
}

/* Our numbers lie below. */
static int our_end(void)
{
    int theirs = program_end(), ours = __atomic_load_n(&end, __ATOMIC_RELAXED);

    return theirs < ours ? theirs : ours;
}

/* Makes a copy on a number from `lowest` to below `highest`, if the copy is ours: it may show any file. */
static int copy_to(const struct dft_ourfile *file, int fd, int lowest, int highest)
{
    int number = (int)dft_fd_progress_copy(fd, lowest);

    if (number < 0 || (number < highest && dft_ourfile_has(file, number)))
        return number;
    dft_ourfile_close(file, number);
    return -1;
}

/* The highest free numbers are tried, in growing distances. The look comes first, because a copy to the next
 * free number might make the kernel enlarge its table. */
static int copy_below(const struct dft_ourfile *file, int fd, int highest, int program)
{
    for (int down = 1; highest - down >= LOWEST_FD; down *= 2) {
        int at = highest - down, number = -1;

        if (!dft_tracefile_is_near(at, program) && DFT_SYS(fcntl, at, F_GETFD, 0, 0, 0, 0) == -EBADF)
            number = copy_to(file, fd, at, at + 1);
        if (number >= 0)
            return number;
    }
    return -1;
}

/* The limit is raised for two system calls. Another thread may change it meanwhile: then that holds. */
static int copy_above(const struct dft_ourfile *file, int fd)
{
    struct limit before, raised, seen;
    uint64_t lowest;
    int number;

    if (exchange_limit(NULL, &before) < 0)
        return -1;
    lowest = before.soft < LOWEST_FD ? LOWEST_FD : before.soft;
    if (before.hard <= lowest || lowest >= HIGHEST_FD)
        return -1;
    raised = (struct limit){before.hard < lowest + ABOVE ? before.hard : lowest + ABOVE, before.hard};
    if (exchange_limit(&raised, &before) < 0)
        return -1;
    number = copy_to(file, fd, (int)lowest, (int)raised.soft);
    if (!exchange_limit(&before, &seen) && (seen.soft != raised.soft || seen.hard != raised.hard))
        exchange_limit(&seen, NULL);
    return number;
}

/* `program`: the program is at this number; -1: it is far away. Where the program's calls are not traced,
 * nobody sees it come. */
static int copy_away(const struct dft_ourfile *file, int fd, int program)
{
    int number = -1;

    if (dft_on & DFT_ON_POSIX && !__atomic_load_n(&gives_up, __ATOMIC_RELAXED)) {
        number = copy_below(file, fd, our_end(), program);
        if (number < 0)
            number = copy_above(file, fd);
    }
    if (number < 0)
        __atomic_store_n(&gives_up, 1, __ATOMIC_RELAXED);
    return number;
}

int dft_tracefile_move_up(const struct dft_ourfile *file, int fd)
{
    return copy_away(file, fd, -1);
}

void dft_tracefile_number_forked(void)
{
    gives_up = 0;
}

void dft_tracefile_number_prepare(void)
{
    int highest = our_end() - 1;
    long fd, high;

    if (highest < LOWEST_FD)
        return;
    /* No file of the program's: a close of a copy would give up its locks. */
    fd = dft_sys_openat(AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    high = DFT_SYS(fcntl, fd, F_DUPFD_CLOEXEC, highest, 0, 0, 0);
    if (high >= 0)
        dft_sys_close((int)high);
    dft_sys_close((int)fd);
}

/* A child in its parent's memory has its own numbers, and its parent's descriptor stays. A child that
 * also shares the descriptors moves ours away. */
static int may_move(void)
{
    return (!dft_in_vfork_child() || dft_shared_tls_has_descriptors()) && *dft_generation;
}

static void move(int program)
{
    struct dft_signals before = dft_signals_block();
    int fd;

    dft_tracefile_begin_move();
    fd = dft_tracefile_fd;
    if (dft_tracefile_is(fd)) {
        __atomic_store_n(&dft_tracefile_fd, copy_away(dft_tracefile_identity(), fd, program), __ATOMIC_RELEASE);
        dft_ourfile_close(dft_tracefile_identity(), fd);
    }
    dft_tracefile_end_move();
    dft_signals_restore(before);
}

void dft_tracefile_make_way(int fd)
{
    int ours = __atomic_load_n(&end, __ATOMIC_RELAXED);

    if (!may_move() || dft_is_sandboxed() || dft_tracefile_number() >= program_end())
        return;
    while (ours < HIGHEST_FD && ours - 1 - fd <= DFT_TRACEFILE_NEAR)
        ours *= 2;
    __atomic_store_n(&end, ours, __ATOMIC_RELAXED);
    move(fd);
}

/* A number that was made past the wrappers can be next to ours. And where we have none, another thread may be
 * opening the trace just now. */
int dft_tracefile_let_go(int before)
{
    int ours = dft_tracefile_number(), again = __atomic_load_n(&gives_up, __ATOMIC_RELAXED) && !dft_is_single();

    if (ours >= 0) {
        dft_tracefile_make_way(ours - 1);
        again = dft_tracefile_number() != ours;
    }
    errno = again ? before : EMFILE;
    return again;
}

void dft_tracefile_step_aside(int fd)
{
    if (!may_move() || !dft_tracefile_is(fd))
        return;
    if (dft_is_sandboxed()) /* a thread that may write finds the file by its name */
        __atomic_store_n(&dft_tracefile_fd, -1, __ATOMIC_RELEASE);
    else
        move(-1);
}
