/* SPDX-License-Identifier: MIT */
/* A library whose constructor writes 10 bytes to the file in LEAVES_EARLY, and leaves: by
 * quick_exit if LEAVES_QUICKLY is set, else by exit. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void leaves_early(void);
void leaves_early(void) {}

__attribute__((constructor)) static void leave(void)
{
    int fd = open(getenv("LEAVES_EARLY"), O_WRONLY | O_CREAT | O_TRUNC, 0644);

    if (fd < 0 || write(fd, "0123456789", 10) != 10)
        _exit(99);
    close(fd);
    if (getenv("LEAVES_QUICKLY"))
        quick_exit(4);
    exit(3);
}
