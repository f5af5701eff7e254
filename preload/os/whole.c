/* SPDX-License-Identifier: MIT */
/* Owns the reading of whole files. */
#include "os/whole.h"

#include <sys/stat.h>

#include "os/sys.h"

/* A pipe without a writer must not hold the program up, and to open a device may have effects. */
static long open_regular(const char *path)
{
    struct stat st;
    long fd = DFT_SYS(newfstatat, AT_FDCWD, path, &st, 0, 0, 0);

    if (!fd && !S_ISREG(st.st_mode))
        fd = S_ISDIR(st.st_mode) ? -EISDIR : -ENODEV;
    if (!fd)
        fd = dft_sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
    return fd;
}

long dft_whole_read(const char *path, size_t most, char **bytes)
{
    long fd = open_regular(path), n = 1;
    size_t used = 0;

    *bytes = NULL;
    if (fd < 0)
        return fd;
    *bytes = dft_sys_map(most + 1);
    while (*bytes && n > 0 && used <= most) {
        n = dft_sys_read((int)fd, *bytes + used, most + 1 - used);
        used += n > 0 ? (size_t)n : 0;
    }
    dft_sys_close((int)fd);
    return !*bytes ? -ENOMEM : n < 0 ? n : used > most ? -EFBIG : (long)used;
}
