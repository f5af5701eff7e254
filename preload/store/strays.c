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
#include "store/process.h"
#include "store/tracefile.h"
#include "store/tracename.h"
#include "tables/fd_progress.h"

struct entry { /* the layout of getdents64 */
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

struct moment {
    uint32_t begun;
    int busy;
};

static __thread struct moment before __attribute__((tls_model("initial-exec")));
static char text[DFT_TRACENAME_ROOM] DFT_BULK;

void dft_strays_forking(void)
{
    before.begun = dft_fd_progress_begun();
    before.busy = dft_tracefile_is_used() || dft_livefile_is_locked() ||
                  __atomic_load_n(&dft_process_lock.held, __ATOMIC_SEQ_CST);
}

/* A file with the name that the parent's have, whatever stands behind it (.dft, .dft.live, .dft.moving). */
static int has_our_name(int directory, const char *entry)
{
    const char *name = dft_tracename_base + dft_tracename_directory, *slash;
    long n = DFT_SYS(readlinkat, directory, entry, text, sizeof text - 1, 0, 0);

    if (n <= 0 || !*name)
        return 0;
    text[n] = 0;
    slash = strrchr(text, '/');
    return slash && !strncmp(slash + 1, name, strlen(name));
}

/* The program may look into its own trace. It hardly opens the trace as the library does. */
static int is_opened_as_ours(int fd)
{
    const long ours = O_NOFOLLOW | O_NONBLOCK, flags = DFT_SYS(fcntl, fd, F_GETFL, 0, 0, 0, 0);

    return flags >= 0 && (flags & ours) == ours && DFT_SYS(fcntl, fd, F_GETFD, 0, 0, 0, 0) == FD_CLOEXEC;
}

static int number_of(const char *name)
{
    int number = 0;

    for (; *name >= '0' && *name <= '9'; name++)
        number = number * 10 + (*name - '0');
    return *name ? -1 : number;
}

static void search(void)
{
    _Alignas(8) char capacity[512];
    long fd = dft_fd_progress_open("/proc/self/fd", O_RDONLY | O_DIRECTORY, 0), n;

    if (fd < 0)
        return;
    while ((n = DFT_SYS(getdents64, fd, capacity, sizeof capacity, 0, 0, 0)) > 0)
        for (long at = 0; at < n;) {
            const struct entry *entry = (const struct entry *)(capacity + at);
            int number = number_of(entry->name);

            if (number >= 0 && has_our_name((int)fd, entry->name) && is_opened_as_ours(number))
                dft_sys_close(number);
            at += entry->length;
        }
    dft_sys_close((int)fd);
}

void dft_strays_forked(void)
{
    if (!dft_tracefile_shared && (before.busy || before.begun != dft_fd_progress_begun()))
        search();
}
