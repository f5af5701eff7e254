/* SPDX-License-Identifier: MIT */
/* Owns the count of descriptors that the library is opening. */
#include "tables/fd_progress.h"

#include <fcntl.h>

#include "os/proc.h"
#include "os/sys.h"

static uint32_t begun,
    /* Atomic. Every descriptor that a dup2 met had begun before the dup2 failed. Such a descriptor
     * had not ended before the dup2 began. */
    ended;
static uint32_t brief; /* files of /proc that are open; atomic */

long dft_fd_progress_open(const char *path, int flags, int mode)
{
    long fd;

    __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
    fd = dft_sys_openat(AT_FDCWD, path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
    __atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
    return fd;
}

long dft_fd_progress_open_brief(const char *path, int flags)
{
    long fd;

    __atomic_add_fetch(&brief, 1, __ATOMIC_SEQ_CST);
    fd = dft_fd_progress_open(path, flags, 0);
    if (fd < 0)
        __atomic_sub_fetch(&brief, 1, __ATOMIC_SEQ_CST);
    return fd;
}

long dft_fd_progress_open_proc(const char *file, int flags)
{
    char name[DFT_PROC_ROOM];
    long fd = -ENOENT;

    for (int turn = 0; turn < DFT_PROC_TURNS && fd == -ENOENT; turn++) {
        dft_proc_name(name, file, turn);
        fd = dft_fd_progress_open_brief(name, flags);
    }
    return fd;
}

void dft_fd_progress_close_brief(long fd)
{
    dft_sys_close((int)fd);
    __atomic_sub_fetch(&brief, 1, __ATOMIC_SEQ_CST);
}

int dft_fd_progress_is_brief(void)
{
    return __atomic_load_n(&brief, __ATOMIC_SEQ_CST) != 0;
}

long dft_fd_progress_copy(int fd, int lowest)
{
    long copy;

    __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
    copy = DFT_SYS(fcntl, fd, F_DUPFD_CLOEXEC, lowest, 0, 0, 0);
    __atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
    return copy;
}

uint32_t dft_fd_progress_moment(void)
{
    return __atomic_load_n(&ended, __ATOMIC_SEQ_CST);
}

int dft_fd_progress_since(uint32_t moment)
{
    return __atomic_load_n(&begun, __ATOMIC_SEQ_CST) != moment;
}

void dft_fd_progress_forked(void)
{
    __atomic_store_n(&ended, begun, __ATOMIC_SEQ_CST);
    __atomic_store_n(&brief, 0, __ATOMIC_SEQ_CST);
}
