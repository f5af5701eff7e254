/* SPDX-License-Identifier: MIT */
/* Waits for a lock on the file `lock`, and says who waits and who holds it: locks WAY END.
 *
 * WAY  flock, lockf, fcntl, ofd, syscall: how both get it
 * END  unlock, close, exit: how the holder gives it back after a fifth of a second; alone: nobody else wants it */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMES   5000
#define HELD_US 200000

static const char *way;

static int is_way(const char *name)
{
    return !strcmp(way, name);
}

static int by_record(int fd, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    int waits = type != F_UNLCK;

    if (is_way("syscall"))
        return (int)syscall(SYS_fcntl, fd, waits ? F_SETLKW : F_SETLK, &lock);
    if (is_way("ofd"))
        return fcntl(fd, waits ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    return fcntl(fd, waits ? F_SETLKW : F_SETLK, &lock);
}

static void get(int fd)
{
    int failed = is_way("flock") ? flock(fd, LOCK_EX) : is_way("lockf") ? lockf(fd, F_LOCK, 0) : by_record(fd, F_WRLCK);

    if (failed)
        exit(3);
}

static void give(int fd)
{
    int failed = is_way("flock")   ? flock(fd, LOCK_UN)
                 : is_way("lockf") ? lockf(fd, F_ULOCK, 0)
                                   : by_record(fd, F_UNLCK);

    if (failed)
        exit(4);
}

static void hold(const char *end, int to)
{
    int fd = open("lock", O_RDWR | O_CREAT, 0600);

    get(fd);
    if (write(to, "x", 1) != 1)
        exit(5);
    usleep(HELD_US);
    if (!strcmp(end, "unlock"))
        give(fd);
    else if (!strcmp(end, "close"))
        close(fd);
    else
        exit(0);
    usleep(HELD_US);
    exit(0);
}

int main(int argc, char **argv)
{
    int fd, ends[2];
    pid_t holder;
    char c;

    if (argc != 3)
        return 2;
    way = argv[1];
    fd = open("lock", O_RDWR | O_CREAT, 0600);
    if (!strcmp(argv[2], "alone")) {
        for (int i = 0; i < TIMES; i++) {
            get(fd);
            give(fd);
        }
        return 0;
    }
    if (pipe(ends))
        return 6;
    holder = fork();
    if (!holder)
        hold(argv[2], ends[1]);
    if (read(ends[0], &c, 1) != 1)
        return 7;
    get(fd);
    give(fd);
    printf("%d %d\n", getpid(), holder);
    while (wait(NULL) > 0)
        ;
    return 0;
}
