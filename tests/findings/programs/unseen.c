/* SPDX-License-Identifier: MIT */
/* Does what a trace cannot tell, or what a page must not call good: one step an argument, behind the name of a file of
 * 4 MiB. Ends with 77 where the kernel refuses rings. */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 4194304
#define PAGE  4096

static char buffer[65536];

/* A system call by the instruction. Returns -errno. */
static long raw(long number, long a, long b, long c, long d, long e, long f)
{
#if defined __x86_64__
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#endif
}

#define CALL(...) (is_raw ? raw(__VA_ARGS__) : syscall(__VA_ARGS__))

static void *mapped(int is_raw, size_t bytes, int ring, long offset)
{
    long at = CALL(SYS_mmap, 0L, (long)bytes, (long)(PROT_READ | PROT_WRITE), (long)MAP_SHARED, (long)ring, offset);

    return (void *)at;
}

/* Reads all of the file through a ring. */
static void ring(int fd, int is_raw)
{
    struct io_uring_params params = {0};
    long ring = CALL(SYS_io_uring_setup, 8L, (long)&params, 0L, 0L, 0L, 0L);
    unsigned *tail, *array, *head, *end;
    struct io_uring_sqe *entries;
    char *submit, *complete;

    if (ring < 0)
        exit(77);
    submit = mapped(is_raw, params.sq_off.array + params.sq_entries * sizeof *array, (int)ring, IORING_OFF_SQ_RING);
    complete = mapped(is_raw, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), (int)ring,
                      IORING_OFF_CQ_RING);
    entries = mapped(is_raw, params.sq_entries * sizeof *entries, (int)ring, IORING_OFF_SQES);
    tail = (unsigned *)(submit + params.sq_off.tail);
    array = (unsigned *)(submit + params.sq_off.array);
    head = (unsigned *)(complete + params.cq_off.head);
    end = (unsigned *)(complete + params.cq_off.tail);
    for (long at = 0; at < BYTES; at += PAGE) {
        unsigned place = *tail & (params.sq_entries - 1);

        entries[place] = (struct io_uring_sqe){
            .opcode = IORING_OP_READ, .fd = fd, .addr = (unsigned long)buffer, .len = PAGE, .off = (unsigned long)at};
        array[place] = place;
        __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
        CALL(SYS_io_uring_enter, ring, 1L, 1L, (long)IORING_ENTER_GETEVENTS, 0L, 0L);
        __atomic_store_n(head, __atomic_load_n(end, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
    }
}

static void faults(int fd)
{
    const volatile char *at = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    long sum = 0;

    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    madvise((void *)(unsigned long)at, BYTES, MADV_RANDOM);
    for (long i = 0; i < BYTES; i += PAGE)
        sum += at[i];
    munmap((void *)(unsigned long)at, (size_t)BYTES + (sum == 1));
}

/* Starts a program with this environment, by posix_spawn or by fork and exec. */
static void start(char *path, char **with, int by_fork)
{
    char *words[] = {path, NULL};
    pid_t pid = 0;

    if (!by_fork) {
        posix_spawn(&pid, path, NULL, NULL, words, with);
    } else if (!fork()) {
        execve(path, words, with);
        _exit(1);
    }
    wait(NULL);
}

static void step(const char *name, const char *path, int fd)
{
    static char *nothing[] = {NULL};
    int only_read = open(path, O_RDONLY), only_write = open(path, O_WRONLY);
    ssize_t sum = 0;

    if (!strcmp(name, "ring") || !strcmp(name, "raw-ring"))
        ring(fd, *name != 'r' || name[1] == 'a');
    for (long at = 0; !strcmp(name, "raw") && at < BYTES; at += PAGE)
        raw(SYS_pread64, fd, (long)buffer, PAGE, at, 0, 0);
    for (long i = 0; !strcmp(name, "raw-bytes") && i < 2000; i++)
        raw(SYS_pread64, fd, (long)buffer, 1, i, 0, 0);
    if (!strcmp(name, "faults"))
        faults(fd);
    if (!strcmp(name, "fork"))
        start((char[]){"/bin/true"}, nothing, 1);
    if (!strcmp(name, "true"))
        start((char[]){"/bin/true"}, environ, 1);
    if (!strcmp(name, "spawn") || !strcmp(name, "exec"))
        start((char[]){"./static"}, environ, *name == 'e');
    for (int i = 0; !strcmp(name, "good") && i < 8; i++)
        sum += read(fd, buffer, sizeof buffer);
    for (int i = 0; !strcmp(name, "bytes") && i < 60000; i++)
        sum += pread(fd, buffer, 1, i);
    for (int i = 0; !strcmp(name, "writes") && i < 2000; i++)
        sum += write(only_read, buffer, PAGE);
    for (int i = 0; !strcmp(name, "reads") && i < 20; i++)
        sum += read(only_write, buffer, PAGE);
    for (int i = 0; !strcmp(name, "lookups") && i < 20; i++)
        sum += access("nosuch", R_OK);
    for (int i = 0; !strcmp(name, "answers") && i < 2000; i++) {
        sum += readlink(path, buffer, PAGE) + lseek(fd, BYTES, SEEK_DATA) + rmdir("..");
        sum += !i ? read(open(".", O_RDONLY), buffer, PAGE) + fsync(open("/dev/null", O_WRONLY)) : 0;
    }
    if (!strcmp(name, "forbidden") && (geteuid() || !seteuid(65534))) {
        for (int i = 0; i < 2000; i++)
            sum += mkdir("/unseen", 0700);
        sum += seteuid(getuid());
    }
    close(only_read);
    close(only_write);
    if (!strcmp(name, "segv"))
        *(volatile int *)sum = raise(SIGSEGV);
    if (!strcmp(name, "kill"))
        raise(SIGKILL);
}

int main(int argc, char **argv)
{
    int fd = open(argv[1], O_RDWR);

    for (int i = 2; i < argc; i++)
        step(argv[i], argv[1], fd);
    return 0;
}
