/* SPDX-License-Identifier: MIT */
/* Temporary files without a name. */
#include "base/spill_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/pread_all.h"

const char *dft_temporary_directory(void)
{
    const char *directory = getenv("TMPDIR");

    return directory && *directory ? directory : "/tmp";
}

int dft_temporary_open(void)
{
    char *path;
    int fd;

    if (asprintf(&path, "%s/dftmerge-XXXXXX", dft_temporary_directory()) < 0)
        return -ENOMEM;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        fd = -errno;
    else
        unlink(path);
    free(path);
    return fd;
}

int dft_spill_file_append(struct dft_spill_file *file, const void *bytes, size_t length, uint64_t *offset)
{
    size_t done = 0;

    if (!file->is_open) {
        file->fd = dft_temporary_open();
        if (file->fd < 0)
            return file->fd;
        file->is_open = 1;
    }
    while (done < length) {
        ssize_t n = pwrite(file->fd, (const char *)bytes + done, length - done, (off_t)(file->end + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        done += (size_t)n;
    }
    *offset = file->end;
    file->end += length;
    return 0;
}

int dft_spill_file_read(const struct dft_spill_file *file, void *bytes, size_t length, uint64_t offset)
{
    return dft_pread_all(file->fd, bytes, length, offset);
}

void dft_spill_file_close(struct dft_spill_file *file)
{
    if (file->is_open)
        close(file->fd);
    *file = (struct dft_spill_file){0};
}
