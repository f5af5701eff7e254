/* SPDX-License-Identifier: MIT */
/* Owns the walk over all open descriptors. */
#include "tables/fd_list.h"

#include <fcntl.h>
#include <stdint.h>

#include "os/sys.h"
#include "tables/fd_progress.h"

struct entry { /* the layout of getdents64 */
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

static int number_of(const char *name)
{
    int number = 0;

    for (; *name >= '0' && *name <= '9'; name++)
        number = number * 10 + (*name - '0');
    return *name ? -1 : number;
}

void dft_fd_list(int (*each)(int list, const char *name, int number))
{
    _Alignas(8) char text[512];
    long fd = dft_fd_progress_open_proc("fd", O_RDONLY | O_DIRECTORY), n;
    int more = 1;

    if (fd < 0)
        return;
    while (more && (n = DFT_SYS(getdents64, fd, text, sizeof text, 0, 0, 0)) > 0)
        for (long at = 0; more && at < n;) {
            const struct entry *entry = (const struct entry *)(text + at);
            int number = number_of(entry->name);

            if (number >= 0 && number != fd)
                more = each((int)fd, entry->name, number);
            at += entry->length;
        }
    dft_fd_progress_close_brief(fd);
}
