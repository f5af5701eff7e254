/* SPDX-License-Identifier: MIT */
/* Preloaded: a traced process ends while its files are read. ENDS_LIVE is its live file, ENDS_TRACE
 * its trace and ENDS_WHOLE what is in that when it has ended, and ENDS_AT says the how manieth time
 * the live file is opened all this has just happened. With READY_MAGIC, eight bytes in hexadecimal,
 * it has just begun instead: they are stored at the head of the live file. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void begin(const char *live, const char *magic)
{
    unsigned long long word = strtoull(magic, NULL, 16);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, live, O_WRONLY, 0);

    if (fd < 0 || pwrite(fd, &word, sizeof word, 0) != sizeof word || close(fd))
        abort();
}

static void end(const char *live)
{
    const char *trace = getenv("ENDS_TRACE"), *whole = getenv("ENDS_WHOLE");

    if (!trace || !whole || rename(whole, trace) || unlink(live))
        abort();
}

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    static int times;
    const char *live = getenv("ENDS_LIVE"), *at = getenv("ENDS_AT");
    va_list arguments;
    mode_t mode;

    va_start(arguments, flags);
    mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (live && at && !strcmp(path, live) && ++times == atoi(at))
        getenv("READY_MAGIC") ? begin(live, getenv("READY_MAGIC")) : end(live);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
