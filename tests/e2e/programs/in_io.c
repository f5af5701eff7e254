/* SPDX-License-Identifier: MIT */
/* One of several ranks: I/O of every class, and waits that are none: for a lock, for a child, in a file of shared
 * memory. All within a region, one call after the other.
 *
 * usage: in_io FOLDER */
#include <dftrace/dftrace.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int check(int result)
{
    if (result < 0)
        exit(1);
    return result;
}

/* A child holds the lock for a while. */
static void wait_for_lock_and_child(const char *path)
{
    int ready[2], fd = check(open(path, O_RDWR | O_CREAT, 0644));
    char byte = 0;
    pid_t child;

    check(pipe(ready));
    child = check(fork());
    if (!child) {
        int own = check(open(path, O_RDWR));

        check(flock(own, LOCK_EX));
        check((int)write(ready[1], &byte, 1));
        usleep(100000);
        check(flock(own, LOCK_UN));
        usleep(100000);
        _exit(0);
    }
    check((int)read(ready[0], &byte, 1));
    check(flock(fd, LOCK_EX));
    check(waitpid(child, NULL, 0));
    close(fd);
}

static void work(const char *folder)
{
    char path[4096], buffer[4096] = {0};
    struct stat status;
    int fd;

    snprintf(path, sizeof path, "%s/data.%d", folder, (int)getpid());
    fd = check(open(path, O_RDWR | O_CREAT, 0644));
    for (int i = 0; i < 50; i++)
        check((int)pwrite(fd, buffer, sizeof buffer, (off_t)i * 4096));
    check(fsync(fd));
    for (int i = 0; i < 50; i++)
        check((int)pread(fd, buffer, sizeof buffer, (off_t)i * 4096));
    close(fd);
    stat("/no/such/file", &status);
}

/* As programs look for a library when they start, and as ranks of a node meet. */
static void look_and_meet(const char *name)
{
    char buffer[4096] = {0};
    int fd;

    if (open("/no/such/library.so", O_RDONLY) >= 0)
        exit(1);
    fd = check(shm_open(name, O_RDWR | O_CREAT, 0600));
    check((int)write(fd, buffer, sizeof buffer));
    close(fd);
    shm_unlink(name);
}

int main(int argc, char **argv)
{
    char name[64];

    if (argc != 2)
        return 2;
    snprintf(name, sizeof name, "/dft-in-io-%d", (int)getpid());
    DFTRACE_BEGIN("all");
    look_and_meet(name);
    work(argv[1]);
    snprintf(name, sizeof name, "%s/lock.%d", argv[1], (int)getpid());
    wait_for_lock_and_child(name);
    DFTRACE_END("all");
    return 0;
}
