/* SPDX-License-Identifier: MIT */
/* Finds out which rank of a job ends last.
 *
 * The ranks of a node share a file in the memory of the node. A byte of it is a rank: written when
 * the rank begins, and locked while the rank lives. The kernel takes the lock away when a rank is
 * killed. Who ends and sees no lock is the last of its node, and knows how many ranks were there.
 * If these are not all, the last of each node leaves that number in the directory of the traces, as
 * the name of a file. Who finds that the numbers make the whole job takes them away; only one can.
 * What jobs have left in the memory of the node whose ranks were all killed, the last rank of the
 * next job removes. */
#include "dftrun/dftrun_ranks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "base/open_regular.h"
#include "dftrun/dftrun_folder.h"
#include "dftrun/dftrun_own.h"
#include "format/hash.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#define MUTEX       ((off_t)1 << 40)     /* this byte is locked while a rank looks at the others */
#define PATIENCE_NS UINT64_C(5000000000) /* a rank that is stopped may hold the mutex */

static int lock_bytes(int fd, short type, off_t start, off_t length)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};

    return fcntl(fd, F_OFD_SETLK, &lock) < 0 ? -errno : 0;
}

static int any_alive(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = MUTEX};

    return fcntl(fd, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}

static int take_mutex(int fd)
{
    const struct timespec pause = {0, 10000000};
    const uint64_t end_ns = dft_now_ns() + PATIENCE_NS;
    int error;

    while ((error = lock_bytes(fd, F_WRLCK, MUTEX, 1)) && (error == -EAGAIN || error == -EACCES) &&
           dft_now_ns() < end_ns)
        nanosleep(&pause, NULL);
    return error;
}

static uint64_t id_of(const struct dft_launch *launch)
{
    return dft_name_id(launch->id, strlen(launch->id));
}

static const char *shared_place(void)
{
    return access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
}

/* Opens the file of this node, and takes the mutex. Returns the descriptor or -errno. */
static int open_shared(struct dft_ranks *ranks, const struct dft_launch *launch)
{
    struct stat st;
    int error = 0, fd;

    snprintf(ranks->path, sizeof ranks->path, "%s/dftrun-%u-%016llx", shared_place(), (unsigned)geteuid(),
             (unsigned long long)id_of(launch));
    for (;;) {
        fd = dft_own_open(AT_FDCWD, ranks->path, O_CREAT);
        if (fd < 0)
            return fd;
        error = take_mutex(fd);
        if (!error && fstat(fd, &st) < 0)
            error = -errno;
        if (!error && st.st_nlink)
            return fd;
        close(fd); /* the last of earlier ranks has removed it meanwhile */
        if (error)
            return error;
    }
}

void dft_ranks_begin(struct dft_ranks *ranks, const struct dft_launch *launch)
{
    int fd;

    *ranks = (struct dft_ranks){.file = -1, .why = "the launcher does not name the job, or not its size"};
    if (launch->rank < 0 || launch->size == 1 || launch->rank >= launch->size || !*launch->id)
        return;
    fd = open_shared(ranks, launch);
    ranks->why = "the ranks of a node cannot share a file in /dev/shm or /tmp";
    if (fd < 0)
        return;
    if (!any_alive(fd) && ftruncate(fd, 0) < 0) /* left by ranks that were all killed */
        goto no;
    if (lock_bytes(fd, F_WRLCK, launch->rank, 1)) {
        ranks->nested = 1;
        goto no;
    }
    if (pwrite(fd, "1", 1, launch->rank) != 1)
        goto no;
    lock_bytes(fd, F_UNLCK, MUTEX, 1);
    ranks->file = fd;
    return;
no:
    close(fd);
}

/* How many ranks were on this node, and was rank 0 one of them? */
static int count_ranks(int fd, int *has_first)
{
    char bytes[4096];
    off_t at = 0;
    ssize_t n;
    int count = 0;

    *has_first = 0;
    while ((n = pread(fd, bytes, sizeof bytes, at)) > 0) {
        *has_first |= !at && bytes[0];
        for (ssize_t i = 0; i < n; i++)
            count += bytes[i] != 0;
        at += n;
    }
    return count;
}

/* Removes the files of this user's jobs in which no rank lives. A rank that begins has the
 * mutex. */
static void remove_dead(void)
{
    const char *place = shared_place();
    DIR *dir = opendir(place);
    struct dirent *entry;
    char start[32];

    snprintf(start, sizeof start, "dftrun-%u-", (unsigned)geteuid());
    while (dir && (entry = readdir(dir))) {
        int fd = strncmp(entry->d_name, start, strlen(start)) ? -1 : dft_own_open(dirfd(dir), entry->d_name, 0);

        if (fd >= 0 && !lock_bytes(fd, F_WRLCK, MUTEX, 1) && !any_alive(fd))
            dft_own_remove(dirfd(dir), entry->d_name, fd);
        if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
}

/* --- several nodes ---------------------------------------------------------------------------- */

static int is_local(const char *directory)
{
    struct statfs st;

    if (statfs(directory, &st) < 0)
        return 0;
    return st.f_type == TMPFS_MAGIC || st.f_type == EXT4_SUPER_MAGIC || st.f_type == XFS_SUPER_MAGIC ||
           st.f_type == BTRFS_SUPER_MAGIC || st.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* Leaves the number of ranks as a file in `marks`. Another rank may take the directory away meanwhile.
 * Returns the open directory, or -errno. */
static int leave_mark(const char *marks, const char *host, int count)
{
    char name[128];
    int fd = -1, directory = -ENOENT;

    snprintf(name, sizeof name, "%s-%d=%d", host, (int)getpid(), count);
    for (int i = 0; fd < 0 && i < 3; i++) {
        if (directory >= 0)
            close(directory);
        dft_folder_make_one(marks, 0700);
        directory = dft_own_directory(marks);
        fd = directory < 0 ? -1 : openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    if (fd >= 0) {
        close(fd);
    } else if (directory >= 0) {
        close(directory);
        directory = -ENOENT;
    }
    return directory;
}

/* Adds up all marks; with `removing`, they go. */
static long add_marks(int marks, int removing)
{
    const int fd = openat(marks, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    long sum = 0;

    while (dir && (entry = readdir(dir))) {
        const char *number = strrchr(entry->d_name, '=');

        sum += number ? atol(number + 1) : 0;
        if (number && removing)
            unlinkat(fd, entry->d_name, 0);
    }
    if (dir)
        closedir(dir);
    return sum;
}

static enum dft_ends end_node(const struct dft_launch *launch, const char *directory, int count)
{
    char host[65] = "", marks[PATH_MAX], mine[PATH_MAX];
    enum dft_ends ends = DFT_ENDS_BEFORE;
    int fd;

    gethostname(host, sizeof host - 1);
    snprintf(marks, sizeof marks, "%.*s/.dftrun-%016llx", PATH_MAX - 256, directory, (unsigned long long)id_of(launch));
    dft_folder_make(marks);
    fd = leave_mark(marks, host, count);
    if (fd < 0)
        return ends;
    snprintf(mine, sizeof mine, "%.*s.%s-%d", PATH_MAX - 128, marks, host, (int)getpid());
    /* where another rank was faster, the name leads nowhere, or to other marks */
    if (add_marks(fd, 0) >= launch->size && dft_own_is_directory(marks, fd) && !rename(marks, mine)) {
        add_marks(fd, 1);
        rmdir(mine);
        ends = DFT_ENDS_LAST;
    }
    close(fd);
    return ends;
}

enum dft_ends dft_ranks_end(struct dft_ranks *ranks, const struct dft_launch *launch, const char *directory)
{
    int alive, count, has_first;

    if (launch->rank < 0 || launch->size == 1)
        return DFT_ENDS_LAST;
    if (ranks->file < 0 || take_mutex(ranks->file))
        return ranks->nested || launch->rank ? DFT_ENDS_BEFORE : DFT_ENDS_UNKNOWN;
    lock_bytes(ranks->file, F_UNLCK, launch->rank, 1);
    alive = any_alive(ranks->file);
    count = count_ranks(ranks->file, &has_first);
    if (!alive)
        dft_own_remove(AT_FDCWD, ranks->path, ranks->file);
    close(ranks->file); /* and the mutex with it */
    if (!alive)
        remove_dead();
    if (alive)
        return DFT_ENDS_BEFORE;
    if (count == launch->size)
        return DFT_ENDS_LAST;
    if (count != launch->local_size || !is_local(directory)) {
        ranks->why = "not all ranks of this node have run under dftrun so far";
        if (end_node(launch, directory, count) == DFT_ENDS_LAST)
            return DFT_ENDS_LAST;
        return has_first && count < launch->local_size ? DFT_ENDS_UNKNOWN : DFT_ENDS_BEFORE;
    }
    ranks->why = "the nodes of the job do not share the directory of the traces";
    return has_first ? DFT_ENDS_UNKNOWN : DFT_ENDS_BEFORE;
}
