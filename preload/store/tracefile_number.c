/* SPDX-License-Identifier: MIT */
/* Owns the number of the trace's descriptor.
 *
 * The program gets the lowest free number, so ours is the highest below min(RLIMIT_NOFILE, 1024):
 * higher numbers make fork slow. When the program comes near, our descriptor moves out of its way: higher
 * up, below where the program is, or above the limit, where the program cannot come. Else the descriptor
 * is given up, and each write opens the file by its name. So the program sees the numbers that it would
 * see alone, and never gets EMFILE because of us.
 *
 * Where the program's calls are not traced, nobody sees it come. Then our number lies above the limit at once. */
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

#define LOWEST_FD  32
#define HIGHEST_FD 65536 /* a table of descriptors has 8 bytes a number, and each fork copies it */
#define UNSEEN_FD  4096  /* the same, where we lie above every number of the program */
/* How far above the limit a number may lie. The program may raise its limit, and is then not near at once. */
#define ABOVE      (DFT_TRACEFILE_NEAR + 64)
#define TOP        64        /* a program that has a number of the last quarter has nearly all */
#define FAR_AWAY   INT32_MAX /* the program is at no number near any of ours */
#define ANYWHERE   (-1)      /* the program may soon be at any number below its limit */

struct limit {
    uint64_t soft, hard;
};

static int end = 1024; /* atomic: our number lies below. Grows with the program's numbers */
static int gives_up;   /* atomic: there is no number of our own */
static int many;       /* atomic: the program's next numbers may be many at once */
int dft_tracefile_near = DFT_TRACEFILE_NEAR;

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

/* Our numbers lie below. Where there are few, the program may come nearer: but for messages it takes one or two
 * at a time. */
static int our_end(void)
{
    int theirs = program_end(), ours = __atomic_load_n(&end, __ATOMIC_RELAXED), near;

    ours = theirs < ours ? theirs : ours;
    near = ours / 2 < DFT_TRACEFILE_NEAR && !__atomic_load_n(&many, __ATOMIC_RELAXED) ? ours / 2 : DFT_TRACEFILE_NEAR;
    __atomic_store_n(&dft_tracefile_near, near, __ATOMIC_RELAXED);
    return ours;
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
static int copy_below(const struct dft_ourfile *file, int fd, int lowest, int highest, int program)
{
    for (int down = 1; highest - down >= lowest; down *= 2) {
        int at = highest - down, number = -1;

        if (!dft_tracefile_is_near(at, program) && DFT_SYS(fcntl, at, F_GETFD, 0, 0, 0, 0) == -EBADF)
            number = copy_to(file, fd, at, at + 1);
        if (number >= 0)
            return number;
    }
    return -1;
}

/* The limit is raised for a few system calls. Another thread may change it meanwhile: then that holds. */
static int copy_above(const struct dft_ourfile *file, int fd)
{
    struct limit before, raised, seen;
    int number;

    if (exchange_limit(NULL, &before) < 0 || before.hard <= before.soft || before.soft >= HIGHEST_FD)
        return -1;
    raised = (struct limit){before.hard < before.soft + ABOVE ? before.hard : before.soft + ABOVE, before.hard};
    if (exchange_limit(&raised, &before) < 0)
        return -1;
    number = copy_below(file, fd, (int)before.soft, (int)raised.soft, FAR_AWAY);
    if (!exchange_limit(&before, &seen) && (seen.soft != raised.soft || seen.hard != raised.hard))
        exchange_limit(&seen, NULL);
    return number;
}

static int copy_unseen(const struct dft_ourfile *file, int fd)
{
    int theirs = program_end(), number = theirs <= UNSEEN_FD ? copy_above(file, fd) : -1;

    return number < 0 ? copy_below(file, fd, LOWEST_FD, theirs < UNSEEN_FD ? theirs : UNSEEN_FD, FAR_AWAY) : number;
}

/* Makes a copy where the program does not come; -1: there is no such number. */
static int copy_away(const struct dft_ourfile *file, int fd, int program)
{
    int number = -1, highest = our_end();

    if (!(dft_on & DFT_ON_POSIX))
        return copy_unseen(file, fd);
    if (program != ANYWHERE)
        number = copy_below(file, fd, LOWEST_FD, highest, program);
    return number < 0 ? copy_above(file, fd) : number;
}

static int copy_or_give_up(const struct dft_ourfile *file, int fd, int program)
{
    int number = __atomic_load_n(&gives_up, __ATOMIC_RELAXED) ? -1 : copy_away(file, fd, program);

    if (number < 0)
        __atomic_store_n(&gives_up, 1, __ATOMIC_RELAXED);
    return number;
}

int dft_tracefile_move_up(const struct dft_ourfile *file, int fd)
{
    return copy_or_give_up(file, fd, FAR_AWAY);
}

/* One call, as the low number is the program's next one: until it is free again, a call on it meets our file. */
int dft_tracefile_lift(const struct dft_ourfile *file, int fd)
{
    int highest = our_end(), number = copy_to(file, fd, highest - (highest < TOP ? highest / 4 : TOP / 4), highest);

    if (number < 0)
        return fd;
    dft_ourfile_close(file, fd);
    return number;
}

void dft_tracefile_number_forked(void)
{
    gives_up = 0;
}

void dft_tracefile_number_prepare(void)
{
    /* No file of the program's: a close of a copy would give up its locks. */
    long fd = dft_sys_openat(AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0);
    struct dft_ourfile root;
    struct stat st;

    if (fd < 0)
        return;
    if (!DFT_SYS(fstat, fd, &st, 0, 0, 0, 0)) {
        root = dft_ourfile_of(&st);
        dft_ourfile_close(&root, copy_away(&root, (int)fd, FAR_AWAY));
    }
    dft_sys_close((int)fd);
}

/* A child in its parent's memory has its own numbers, and its parent's descriptor stays. A child that
 * also shares the descriptors moves ours away. */
static int may_move(void)
{
    return (!dft_has_other_files() || dft_shared_tls_has_descriptors()) && *dft_generation;
}

static void move(int program)
{
    struct dft_signals before = dft_signals_block();
    int fd;

    dft_tracefile_begin_move();
    fd = dft_tracefile_fd;
    if (dft_tracefile_is(fd)) {
        __atomic_store_n(&dft_tracefile_fd, copy_or_give_up(dft_tracefile_identity(), fd, program), __ATOMIC_RELEASE);
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
        move(FAR_AWAY);
}

/* What comes along shows only afterwards, and whether a message may be read is known only to the kernel. */
void dft_tracefile_make_way_for_many(void)
{
    if (!may_move() || dft_is_sandboxed())
        return;
    __atomic_store_n(&many, 1, __ATOMIC_RELAXED);
    if (dft_on & DFT_ON_POSIX && dft_tracefile_number() < program_end())
        move(ANYWHERE);
    __atomic_store_n(&dft_tracefile_near, DFT_TRACEFILE_NEAR, __ATOMIC_RELAXED);
}
