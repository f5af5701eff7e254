/* SPDX-License-Identifier: MIT */
/* Uses descriptors that the library meets late, where their names cannot be had by /proc/self: the first
 * thread has ended, there is no /proc, the root is another one. unnamed HOW; the working directory is
 * written to, and descriptor 1 is a file. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int folder, file, ends[2], known;
static pthread_t first;

/* Past the wrappers: nothing is known of the descriptor. */
static long raw(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;

    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
                     x3 __asm__("x3") = d;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
#endif
}

static void use(void)
{
    char bytes[8];
    struct stat st;
    int fd, status;

    for (int i = 0; i < 10; i++) {
        if (write(1, "line\n", 5) != 5 || pread(file, bytes, 4, 0) != 0)
            exit(4);
        fd = openat(folder, "below", O_WRONLY | O_CREAT | O_APPEND, 0644);
        if (write(fd, "xy", 2) != 2 || close(fd) || fstatat(folder, "below", &st, 0))
            exit(5);
        if (write(ends[1], "abc", 3) != 3)
            exit(6);
    }
    if (!fork()) {
        if (write(1, "child\n", 6) != 6 || write(known, "child\n", 6) != 6)
            _exit(7);
        _exit(0);
    }
    if (wait(&status) < 0 || status)
        exit(8);
    exit(3);
}

static void *leave_to(void *how)
{
    if (!strcmp(how, "exits"))
        pthread_join(first, NULL);
    usleep(50000);
    use();
    return NULL;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    pthread_t thread;

    if (mkdir("folder", 0755) || pipe(ends) || (known = open("known", O_WRONLY | O_CREAT, 0644)) < 0)
        return 1;
    close(open("file", O_WRONLY | O_CREAT, 0644));
    folder = (int)raw(SYS_openat, AT_FDCWD, (long)"folder", O_RDONLY | O_DIRECTORY, 0);
    file = (int)raw(SYS_openat, AT_FDCWD, (long)"file", O_RDWR, 0);
    if (!strcmp(how, "without") && (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
                                    mount("none", "/proc", "tmpfs", 0, NULL)))
        return 77;
    if (!strcmp(how, "chroot") && (chroot(".") || chdir("/")))
        return 77;
    if (!strcmp(how, "without") || !strcmp(how, "chroot") || !strcmp(how, "plain"))
        use();
    first = pthread_self();
    if (pthread_create(&thread, NULL, leave_to, (void *)how))
        return 2;
    if (!strcmp(how, "exits"))
        pthread_exit(NULL);
    raw(SYS_exit, 0, 0, 0, 0);
}
