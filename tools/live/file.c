/* SPDX-License-Identifier: MIT */
/* Reads a live file that nobody writes to any more. */
#include "live/file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/open_regular.h"
#include "format/live_format.h"

/* 16,000 threads at once, each with a ring of the largest size */
#define BYTES_MAX    (UINT64_C(1) << 32)
/* looked at for rings, of a file whose head was not written */
#define HEADLESS_MAX (UINT64_C(64) << 20)

int dft_live_length(int fd, const struct stat *st, size_t *length, uint64_t *cut)
{
    uint64_t bytes = (uint64_t)st->st_size, used;
    struct dft_live head;
    ssize_t n = pread(fd, &head, sizeof head, 0);

    if (n < 0)
        return -errno;
    used = n == (ssize_t)sizeof head && head.magic == DFT_LIVE_MAGIC ? atomic_load(&head.size) : 0;
    if (cut)
        *cut = used > bytes ? used - bytes : 0;
    if (used >= DFT_LIVE_PAGE)
        bytes = used < bytes ? used : bytes;
    else
        bytes = bytes < HEADLESS_MAX ? bytes : HEADLESS_MAX;
    *length = (size_t)bytes;
    return bytes > BYTES_MAX ? -EFBIG : 0;
}

char *dft_live_bytes(int fd, size_t length, uint64_t *unread)
{
    char *bytes = calloc(1, length);

    *unread = 0;
    for (size_t at = 0, end; bytes && (at = dft_data_from(fd, at, length)) < length; at = end) {
        off_t hole = lseek(fd, (off_t)at, SEEK_HOLE);

        end = hole < 0 || (size_t)hole > length ? length : (size_t)hole;
        while (at < end) {
            ssize_t n = pread(fd, bytes + at, end - at, (off_t)at);
            size_t page = DFT_LIVE_PAGE - at % DFT_LIVE_PAGE;

            if (n < 0 && errno == EINTR)
                continue;
            if (!n) /* the file has become shorter */
                return bytes;
            *unread += n < 0 ? page : 0;
            at += n < 0 ? page : (size_t)n;
        }
    }
    return bytes;
}
