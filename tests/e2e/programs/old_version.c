/* SPDX-License-Identifier: MIT */
/* A library that has fsync in an old version only, as libattr has fsetxattr (OLD_VERSION), and a
 * program that is linked with it and calls the C library's. */
#include <stdio.h>
#include <unistd.h>

#ifdef OLD_VERSION
#include <sys/syscall.h>

int calls_of_old_version;
int fsync_old(int fd);

int fsync_old(int fd)
{
    calls_of_old_version++;
    return (int)syscall(SYS_fsync, fd);
}
__asm__(".symver fsync_old, fsync@OLD_1.0");
#else
extern int calls_of_old_version;

int main(void)
{
    int failed = fsync(fileno(stdin)) < 0;

    printf("%d %d\n", failed, calls_of_old_version);
    return 0;
}
#endif
