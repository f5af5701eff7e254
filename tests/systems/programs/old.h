/* SPDX-License-Identifier: MIT */
/* What programs for old C libraries share: they are linked with stubs, so that they ask for the oldest
 * versions only. */
#ifndef OLD_H
#define OLD_H

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* The pages that this process has mapped. */
static inline long mapped_pages(void)
{
    char text[64];
    int fd = open("/proc/self/statm", O_RDONLY);
    long n = fd < 0 ? 0 : read(fd, text, sizeof text), pages = 0;

    close(fd);
    for (long i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
        pages = pages * 10 + text[i] - '0';
    return pages;
}

#endif
