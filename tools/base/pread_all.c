/* SPDX-License-Identifier: MIT */
/* Reads a range of a file, however many calls that takes. */
#include "base/pread_all.h"

#include <errno.h>
#include <unistd.h>

int dft_pread_all(int fd, void *bytes, size_t length, uint64_t offset)
{
    size_t done = 0;

    while (done < length) {
        ssize_t n = pread(fd, (char *)bytes + done, length - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -ENODATA;
        done += (size_t)n;
    }
    return 0;
}
