/* One file that all ranks of dftmerge-mpi write: rank 0 has made it, under its temporary name. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/comm.h"
#include "base/outfile.h"

int dft_outfile_join(const struct dft_outfile *file, int *fd)
{
    size_t length = dft_comm_rank() ? 0 : strlen(file->temporary) + 1;
    char *path;
    int rc;

    dft_comm_broadcast(&length, sizeof length);
    path = malloc(length + 1);
    rc = dft_comm_agree(path ? 0 : -ENOMEM);
    if (!rc) {
        if (!dft_comm_rank())
            memcpy(path, file->temporary, length);
        dft_comm_broadcast(path, length);
        *fd = dft_comm_rank() ? open(path, O_WRONLY | O_CLOEXEC) : fileno(dft_outfile_below(file));
        rc = dft_comm_agree(*fd < 0 ? -errno : 0);
    }
    free(path);
    return rc;
}

int dft_outfile_leave(int *fd, int rc, int sync)
{
    if (!dft_comm_rank() || *fd < 0)
        return rc;
    if (sync && !rc && fsync(*fd) < 0 && errno != EINVAL)
        rc = -errno;
    if (close(*fd) < 0 && !rc)
        rc = -errno;
    *fd = -1;
    return rc;
}

int dft_outfile_put(int fd, const void *bytes, size_t length, uint64_t at)
{
    size_t done = 0;

    while (done < length) {
        ssize_t n = pwrite(fd, (const char *)bytes + done, length - done, (off_t)(at + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        done += (size_t)n;
    }
    return 0;
}

/* It is no error where there are no locks. */
static void lock(int fd, short type, size_t length, uint64_t at)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = (off_t)length};

    fcntl(fd, F_OFD_SETLKW, &range);
}

/* A network file system that knows of no bytes before these in the file may take them for zeros, and write these over what
 * another rank has written, unless locks tell it that there are others. */
int dft_outfile_put_beside(int fd, const void *bytes, size_t length, uint64_t at)
{
    int rc;

    if (!length)
        return 0;
    if (dft_comm_size() == 1)
        return dft_outfile_put(fd, bytes, length, at);
    lock(fd, F_WRLCK, length, at);
    rc = dft_outfile_put(fd, bytes, length, at);
    lock(fd, F_UNLCK, length, at);
    return rc;
}
