/* SPDX-License-Identifier: MIT */
/* Decides whether a number still shows a file of ours. */
#include "os/ourfile.h"

#include "os/sys.h"

int dft_ourfile_has(const struct dft_ourfile *ours, int fd)
{
    struct stat st;

    return fd >= 0 && DFT_SYS(fstat, fd, &st, 0, 0, 0, 0) == 0 && dft_ourfile_is(ours, &st);
}

void dft_ourfile_close(const struct dft_ourfile *ours, int fd)
{
    if (dft_ourfile_has(ours, fd))
        dft_sys_close(fd);
}
