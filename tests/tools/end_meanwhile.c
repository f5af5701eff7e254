/* Preloaded: a traced process ends while its files are read. ENDS_LIVE is its live file, ENDS_TRACE its trace and ENDS_WHOLE what is in
 * that when it has ended, and ENDS_AT says the how manieth time the live file is opened all this has just happened. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
        end(live);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
