/* SPDX-License-Identifier: MIT */
/* Owns the search for descriptors that a fork has caught open.
 *
 * Nothing locks, so the child finds out whether there can be one: in the kernel the child gets the descriptors
 * before the memory. So no mark that the child sees is true of its descriptors, but what was true before the
 * fork, and that nothing was opened since. The search costs some microseconds. */
#include "store/strays.h"

#include <fcntl.h>
#include <string.h>

#include "os/bulk.h"
#include "os/sys.h"
#include "store/livefile.h"
#include "store/tracefile.h"
#include "store/tracename.h"
#include "tables/fd_list.h"
#include "tables/fd_progress.h"

struct before {
    uint32_t moment;
    int busy;
};

static __thread struct before before __attribute__((tls_model("initial-exec")));
static char text[DFT_TRACENAME_ROOM] DFT_BULK;

void dft_strays_forking(void)
{
    before.moment = dft_fd_progress_moment();
    before.busy = dft_tracefile_is_used() || dft_livefile_is_locked() || dft_fd_progress_is_brief() ||
                  __atomic_load_n(&dft_process_lock.held, __ATOMIC_SEQ_CST);
}

/* A file of /proc, or one with the name that the parent's have, whatever stands behind it (.dft, .dft.live,
 * .dft.moving). */
static int has_our_name(int directory, const char *entry)
{
    const char *name = dft_tracename_base + dft_tracename_directory, *slash;
    long n = DFT_SYS(readlinkat, directory, entry, text, sizeof text - 1, 0, 0);

    if (n <= 0)
        return 0;
    text[n] = 0;
    slash = strrchr(text, '/');
    return !strncmp(text, "/proc/", sizeof "/proc/" - 1) || (slash && *name && !strncmp(slash + 1, name, strlen(name)));
}

/* The program may look into its own trace, or into /proc. It hardly opens these as the library does. */
static int is_opened_as_ours(int fd)
{
    const long ours = O_NOFOLLOW | O_NONBLOCK, flags = DFT_SYS(fcntl, fd, F_GETFL, 0, 0, 0, 0);

    return flags >= 0 && (flags & ours) == ours && DFT_SYS(fcntl, fd, F_GETFD, 0, 0, 0, 0) == FD_CLOEXEC;
}

static int close_stray(int list, const char *name, int number)
{
    if (has_our_name(list, name) && is_opened_as_ours(number))
        dft_sys_close(number);
    return 1;
}

void dft_strays_forked(void)
{
    if (!dft_tracefile_shared && (before.busy || dft_fd_progress_since(before.moment)))
        dft_fd_list(close_stray);
}
