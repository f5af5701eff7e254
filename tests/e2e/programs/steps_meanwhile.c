/* SPDX-License-Identifier: MIT */
/* Preloaded: files change while they are read. STEPS has a line for each step: the number of the look, what is renamed,
 * and its new name; or the number, and a file that is removed. Looks are opens and stats of files in STEPS_IN. Each
 * counts twice, before and after. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int looks;

static void step(const char *path)
{
    const char *in = getenv("STEPS_IN"), *steps = getenv("STEPS");
    char from[1024], to[1024];
    int now, at, got;

    if (!in || !steps || strncmp(path, in, strlen(in)) != 0)
        return;
    now = ++looks;
    for (; *steps; steps += strcspn(steps, "\n") + (strchr(steps, '\n') != NULL)) {
        char line[2100];

        snprintf(line, sizeof line, "%.*s", (int)strcspn(steps, "\n"), steps);
        got = sscanf(line, "%d %1023s %1023s", &at, from, to);
        if (got >= 2 && at == now && (got == 3 ? rename(from, to) : unlink(from)))
            abort();
    }
}

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    va_list arguments;
    mode_t mode;
    int fd;

    va_start(arguments, flags);
    mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    step(path);
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    step(path);
    return fd;
}

__attribute__((visibility("default"))) int stat(const char *path, struct stat *st)
{
    int rc;

    step(path);
    rc = fstatat(AT_FDCWD, path, st, 0);
    step(path);
    return rc;
}
