/* SPDX-License-Identifier: MIT */
/* Owns where the trace file lies: in the stage or in its place, and its moves.
 *
 * Within a file system a move is a rename. Elsewhere it is a copy under a name that readers take for
 * no trace. Only the whole copy gets the name of a trace, and only then the first file goes. So a
 * process may be killed at any instant, and leaves at least one whole file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "format/live_format.h"
#include "os/bulk.h"
#include "settings/message.h"
#include "os/line.h"
#include "os/self.h"
#include "os/proc.h"
#include "os/sys.h"
#include "store/notes.h"
#include "store/tracefile.h"
#include "store/tracefile_inside.h"

#define path       dft_tracefile_name
#define PIECE_ROOM 65536u
#define ALL_MODES  07777u
#define MOVING     ".moving" /* at the end of the name of a copy */

static const char *stage = "";
static int staged; /* atomic; changes within a move */
static int stuck;  /* atomic: a full stage could not be left */
/* Where a staged file belongs. */
static char target[DFT_TRACEFILE_ROOM] DFT_BULK;
static char from[DFT_TRACEFILE_ROOM] DFT_BULK;
static char unfinished[DFT_TRACEFILE_ROOM] DFT_BULK;
static char piece[PIECE_ROOM] DFT_BULK;
/* What is copied to. Changes within a move; a forked child may be born in the middle of it. */
static struct dft_ourfile copy;
static int copy_fd = -1;

void dft_tracefile_stage(const char *directory)
{
    stage = directory;
}

int dft_tracefile_is_staged(void)
{
    return __atomic_load_n(&staged, __ATOMIC_RELAXED);
}

const char *dft_tracefile_target(void)
{
    return target;
}

/* Each path has the same room. One that is cut has a name that no file system takes. */
static void join(char to[DFT_TRACEFILE_ROOM], const char *first, const char *second, const char *third)
{
    const char *const parts[] = {first, second, third};
    size_t used = 0;

    for (size_t i = 0; i < 3; i++)
        for (const char *at = parts[i]; *at && used < DFT_TRACEFILE_ROOM - 1; at++)
            to[used++] = *at;
    to[used] = 0;
}

void dft_tracefile_make_path(void)
{
    dft_tracename_make();
    if (dft_tracefile_is_staged()) {
        join(target, dft_tracename_base, ".dft", "");
        join(path, stage, dft_tracename_base + dft_tracename_directory, ".dft");
    } else {
        join(path, dft_tracename_base, ".dft", "");
    }
}

/* A copy needs a longer name. */
static int name_is_short(void)
{
    dft_tracename_make();
    return strlen(dft_tracename_base + dft_tracename_directory) + strlen(".dft" MOVING) <= NAME_MAX;
}

int dft_tracefile_create(void)
{
    int result = -ENAMETOOLONG;

    stuck = 0;
    __atomic_store_n(&staged, *stage && name_is_short(), __ATOMIC_RELAXED);
    if (staged)
        result = dft_tracefile_create_file();
    if (result) {
        staged = 0;
        if (*stage) /* full, or gone since the start */
            dft_process_note(DFT_NOTE_NOT_STAGED);
        result = dft_tracefile_create_file();
    }
    return result;
}

/* --- copies ----------------------------------------------------------------------------------- */

/* Each piece is written right after a look at the number, as in tracefile.c. */
static int put_piece(int fd, size_t length, uint64_t at)
{
    for (size_t done = 0; done < length;) {
        long n = dft_ourfile_has(&copy, fd) ? dft_sys_pwrite(fd, piece + done, length - done, at + done) : -EBADF;

        if (n == -EINTR)
            continue;
        if (n <= 0)
            return n ? (int)n : -EIO;
        done += (size_t)n;
    }
    return 0;
}

static int copy_bytes(int in, int out)
{
    for (uint64_t at = 0;;) {
        long n = dft_ourfile_has(dft_tracefile_identity(), in) ? dft_sys_pread(in, piece, sizeof piece, at) : -EBADF;
        int result;

        if (n == -EINTR)
            continue;
        if (n <= 0)
            return (int)n;
        result = put_piece(out, (size_t)n, at);
        if (result)
            return result;
        at += (uint64_t)n;
    }
}

/* The descriptor is all that is left of the file, and shows it to write only. */
static int open_nameless(int fd)
{
    const struct dft_ourfile *file = dft_tracefile_identity();
    char shown[DFT_PROC_ROOM];
    long again = -ENOENT;

    if (!dft_ourfile_has(file, fd))
        return -EBADF;
    for (int turn = 0; turn < DFT_PROC_TURNS && again == -ENOENT; turn++) {
        dft_proc_fd_name(shown, (unsigned)fd, turn);
        again = dft_sys_openat(AT_FDCWD, shown, O_RDONLY | O_CLOEXEC, 0); /* it is a link to be followed */
    }
    return again < 0 || dft_ourfile_has(file, (int)again) ? (int)again : -ESTALE;
}

/* A descriptor to read the file from: `path` is where it goes. *own: the caller closes it. */
static int open_source(int *own)
{
    const struct dft_ourfile *file = dft_tracefile_identity();
    int fd = dft_tracefile_number();

    if (!*from) {
        *own = 1;
        return open_nameless(fd);
    }
    *own = !dft_tracefile_is_staged() || !dft_ourfile_has(file, fd); /* what was not staged is open to write only */
    return *own ? (int)dft_tracename_open(from, O_RDONLY, file) : fd;
}

/* Returns the descriptor of the copy, in our range if there is room. Each attempt removes its copy, so what
 * has the name already is not ours. The mode is that of the file, whatever the program's umask is by now. */
static int open_copy(mode_t mode)
{
    long fd = dft_tracename_create(unfinished, O_WRONLY, mode, &copy), high;

    if (fd < 0)
        return (int)fd;
    high = dft_tracefile_move_up(&copy, (int)fd);
    if (high >= 0)
        dft_ourfile_close(&copy, (int)fd);
    else
        high = dft_tracefile_lift(&copy, (int)fd);
    __atomic_store_n(&copy_fd, (int)high, __ATOMIC_RELEASE);
    return 0;
}

/* Fills the copy. A network file system may tell only at a close that there was no room. */
static int fill_copy(void)
{
    int own = 0, in = open_source(&own), result, next, closed;

    result = in < 0 ? in : copy_bytes(in, copy_fd);
    if (in >= 0 && own)
        dft_ourfile_close(dft_tracefile_identity(), in);
    next = result ? -1 : dft_tracefile_move_up(&copy, copy_fd);
    closed = dft_ourfile_has(&copy, copy_fd) ? (int)dft_sys_close(copy_fd) : -EBADF;
    __atomic_store_n(&copy_fd, next, __ATOMIC_RELEASE);
    return result ? result : closed;
}

static int move_by_copy(mode_t mode)
{
    const struct dft_ourfile before = *dft_tracefile_identity();
    int result;

    join(unfinished, path, MOVING, "");
    result = open_copy(mode);
    if (result)
        return result;
    result = fill_copy();
    if (!result)
        result = dft_tracename_rename(unfinished, path, &copy);
    if (result) {
        dft_ourfile_close(&copy, copy_fd);
        copy_fd = -1;
        dft_tracename_remove(unfinished, &copy);
        return result;
    }
    dft_tracefile_replace(&copy, copy_fd);
    copy_fd = -1;
    if (dft_live) { /* so a live file elsewhere is known as this trace's */
        dft_live->trace_device = copy.device;
        dft_live->trace_inode = copy.inode;
    }
    if (*from)
        dft_tracename_remove(from, &before);
    return 0;
}

void dft_tracefile_forget_copy(void)
{
    if (!dft_tracefile_shared)
        dft_ourfile_close(&copy, copy_fd);
    copy_fd = -1;
}

/* --- moves ------------------------------------------------------------------------------------ */

/* A copy has no access list. Where the file has one, its mode shows the most that the list gives to anybody in place
 * of what the group may. */
static mode_t mode_of_copy(const struct stat *st)
{
    long list = DFT_SYS(lgetxattr, from, "system.posix_acl_access", 0, 0, 0, 0);

    return st->st_mode & (list > 0 ? ALL_MODES & ~070u : ALL_MODES);
}

/* Moves the file to `path`. Behind a chroot its name leads elsewhere, and nothing is made there. */
static int move_from(void)
{
    struct stat st;
    int result;

    if (DFT_SYS(newfstatat, AT_FDCWD, from, &st, AT_SYMLINK_NOFOLLOW, 0, 0) < 0 ||
        !dft_ourfile_is(dft_tracefile_identity(), &st))
        return -ESTALE;
    dft_tracename_make_directories(path, 0777);
    result = dft_tracename_rename(from, path, dft_tracefile_identity());
    return result == -EXDEV ? move_by_copy(mode_of_copy(&st)) : result;
}

int dft_tracefile_move(void)
{
    int result;

    if (!dft_tracefile_exists) {
        dft_tracename_init();
        return 0;
    }
    dft_tracefile_begin_move();
    memcpy(from, path, sizeof from);
    dft_tracename_init();
    dft_tracefile_make_path();
    result = move_from();
    if (result < 0)
        memcpy(path, from, sizeof from);
    dft_tracefile_end_move();
    return result;
}

int dft_tracefile_unstage(void)
{
    int result = 0;

    if (!dft_tracefile_exists || !dft_tracefile_is_staged())
        return 0;
    dft_tracefile_begin_move();
    if (dft_tracefile_is_staged()) { /* no other thread was first */
        memcpy(from, path, sizeof from);
        memcpy(path, target, sizeof target);
        result = move_from();
        if (result < 0)
            memcpy(path, from, sizeof from);
        else
            __atomic_store_n(&staged, 0, __ATOMIC_RELAXED);
    }
    dft_tracefile_end_move();
    return result;
}

int dft_tracefile_leave_stage(void)
{
    if (dft_tracefile_is_staged() && !__atomic_load_n(&stuck, __ATOMIC_RELAXED) && dft_tracefile_unstage() < 0)
        __atomic_store_n(&stuck, 1, __ATOMIC_RELAXED);
    return !dft_tracefile_is_staged();
}

/* --- a file that was removed ------------------------------------------------------------------ */

static int is_removed(struct stat *st)
{
    int fd = dft_tracefile_number();

    return dft_tracefile_exists && dft_ourfile_has(dft_tracefile_identity(), fd) &&
           DFT_SYS(fstat, fd, st, 0, 0, 0, 0) == 0 && dft_ourfile_is(dft_tracefile_identity(), st) && !st->st_nlink;
}

/* Returns 0 or -errno. */
static int restore(mode_t mode)
{
    int result;

    if (staged)
        memcpy(path, target, sizeof target);
    *from = 0;
    dft_tracename_make_directories(path, 0777);
    result = move_by_copy(mode & ALL_MODES);
    if (!result)
        __atomic_store_n(&staged, 0, __ATOMIC_RELAXED);
    return result;
}

void dft_tracefile_restore(void)
{
    char text[DFT_ERROR_ROOM];
    struct stat st;
    int result = 0;

    if (!is_removed(&st))
        return;
    dft_tracefile_begin_move();
    if (is_removed(&st)) /* no other thread was first */
        result = restore(st.st_mode);
    dft_tracefile_end_move();
    dft_process_note(DFT_NOTE_REMOVED);
    if (result)
        dft_message(DFT_LOG_ERROR, "the trace was removed while the program ran, and cannot be written again: ",
                    dft_line_error(-result, text), ": ", path, NULL);
}
