/* SPDX-License-Identifier: MIT */
/* Does a known number of each call, from several threads and generations of forked processes, and
 * prints its own counts.
 *
 * usage: known_calls DIRECTORY GENERATIONS THREADS ROUNDS Output: one JSON object, call -> {calls,
 * errors, bytes}. Processes fork two children each, while their own threads are at work; half of
 * them end by _exit. Counts lie in memory that all share. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* clang-format off */
#define CALLS(X) \
    X(open) X(openat) X(creat) X(close) X(read) X(write) X(pread) X(pwrite) X(readv) X(writev) \
    X(preadv) X(pwritev) X(lseek) X(stat) X(lstat) X(fstat) X(fstatat) X(statx) X(fsync) \
    X(fdatasync) X(ftruncate) X(unlink) X(unlinkat) X(mkdir) X(mkdirat) X(rename) X(renameat) \
    X(opendir) X(fdopendir) X(readdir) X(closedir) X(dup) X(dup2) X(fcntl) X(fopen) X(fdopen) \
    X(freopen) X(fclose) X(fread) X(fwrite) X(fgets) X(fputs) X(fgetc) X(getc) X(fputc) X(putc) \
    X(getline) X(fseek) X(fseeko) X(ftell) X(ftello) X(rewind) X(fflush) X(fprintf) X(dprintf) \
    X(fork)
/* clang-format on */

enum number {
#define X(name) N_##name,
    CALLS(X)
#undef X
        N_COUNT
};

static const char *const names[] = {
#define X(name) #name,
    CALLS(X)
#undef X
};

static struct count {
    _Atomic long calls, errors, bytes;
} * counts;

/* No fork falls into another thread's use of streams. dprintf keeps one on its thread's stack and
 * in the C library's list of all streams: in a child it would stay there after the stack is used
 * again (glibc 2.36: the list becomes a ring, and exit spins in it, without any tracer as well). */
static pthread_rwlock_t stdio = PTHREAD_RWLOCK_INITIALIZER;

static const char *root;
static int threads, rounds, generation;

static int done(enum number number, long result, long bytes)
{
    atomic_fetch_add(&counts[number].calls, 1);
    if (result < 0)
        atomic_fetch_add(&counts[number].errors, 1);
    if (bytes > 0)
        atomic_fetch_add(&counts[number].bytes, bytes);
    return (int)result;
}

/* A call that moves no bytes, one whose result is the bytes it moved, and one that returns a
 * pointer. */
#define DO(name, ...) done(N_##name, (long)name(__VA_ARGS__), 0)
#define MOVE(name, ...)                                                                                                \
    __extension__({                                                                                                    \
        long moved = (long)name(__VA_ARGS__);                                                                          \
        done(N_##name, moved, moved);                                                                                  \
    })
#define GET(name, ...)                                                                                                 \
    __extension__({                                                                                                    \
        __typeof__(name(__VA_ARGS__)) got = name(__VA_ARGS__);                                                         \
        done(N_##name, got ? 0 : -1, 0);                                                                               \
        got;                                                                                                           \
    })

static void check(int condition, const char *what)
{
    if (!condition) {
        perror(what);
        _exit(99);
    }
}

static void descriptors(const char *path)
{
    char buffer[4096];
    struct iovec iov[2] = {{buffer, 10}, {buffer + 100, 20}};
    struct stat st;
    int copy, fd = DO(open, path, O_RDWR | O_CREAT | O_TRUNC, 0644);

    check(fd >= 0, "open");
    memset(buffer, 'x', sizeof(buffer));
    for (int i = 0; i < 3; i++)
        MOVE(write, fd, buffer, 1000);
    MOVE(pwrite, fd, buffer, 500, 4096);
    MOVE(writev, fd, iov, 2);
    MOVE(pwritev, fd, iov, 2, 8192);
    DO(lseek, fd, 0, SEEK_SET);
    for (int i = 0; i < 2; i++)
        MOVE(read, fd, buffer, 300);
    MOVE(pread, fd, buffer, 100, 50);
    MOVE(readv, fd, iov, 2);
    MOVE(preadv, fd, iov, 2, 8000);
    DO(lseek, fd, 0, SEEK_END);
    MOVE(read, fd, buffer, 10); /* at the end: no bytes, no error */
    DO(fstat, fd, &st);
    check(st.st_size == 8192 + 30, "size");
    DO(ftruncate, fd, 5000);
    DO(fcntl, fd, F_GETFL);
    pthread_rwlock_rdlock(&stdio);
    MOVE(dprintf, fd, "%05d", 7);
    pthread_rwlock_unlock(&stdio);
    copy = DO(dup, fd);
    MOVE(write, copy, buffer, 10);
    DO(dup2, fd, copy);
    MOVE(pread, copy, buffer, 10, 0);
    DO(close, copy);
    DO(close, fd);
    fd = DO(open, path, O_WRONLY | O_APPEND);
    MOVE(write, fd, buffer, 11);
    MOVE(read, fd, buffer, 11); /* EBADF: not open for reading */
    DO(close, fd);
}

static void metadata(const char *directory, const char *path, int dirfd)
{
    char other[600];
    struct statx stx;
    struct stat st;
    int fd;

    snprintf(other, sizeof(other), "%s/other", directory);
    DO(stat, path, &st);
    DO(lstat, path, &st);
    DO(fstatat, dirfd, "file", &st, 0);
    DO(statx, dirfd, "file", 0, STATX_SIZE, &stx);
    DO(stat, other, &st); /* ENOENT */
    DO(open, other, O_RDONLY);
    DO(unlink, other);
    DO(rename, path, other);
    DO(renameat, dirfd, "other", dirfd, "third");
    fd = DO(openat, dirfd, "third", O_RDONLY);
    DO(close, fd);
    fd = DO(creat, other, 0600);
    DO(close, fd);
    DO(unlink, other);
    DO(unlinkat, dirfd, "third", 0);
    DO(mkdirat, dirfd, "sub", 0755);
    DO(mkdirat, dirfd, "sub", 0755); /* EEXIST */
    DO(unlinkat, dirfd, "sub", AT_REMOVEDIR);
}

static void list(DIR *dir)
{
    check(dir != NULL, "opendir");
    while (GET(readdir, dir))
        ;
    atomic_fetch_sub(&counts[N_readdir].errors, 1); /* NULL is the end, not an error */
    DO(closedir, dir);
}

static void write_stream(FILE *stream)
{
    atomic_fetch_add(&counts[N_fwrite].bytes, 21);
    check(DO(fwrite, "0123456789012345678901234567890", 7, 3, stream) == 3, "fwrite");
    DO(fputs, "line\nanother line\n", stream);
    atomic_fetch_add(&counts[N_fputs].bytes, 18);
    DO(fputc, 'a', stream);
    DO(putc, '\n', stream);
    atomic_fetch_add(&counts[N_fputc].bytes, 1);
    atomic_fetch_add(&counts[N_putc].bytes, 1);
    MOVE(fprintf, stream, "%d and %s\n", 12345, "text");
    DO(fflush, stream);
}

static void read_stream(FILE *stream)
{
    char buffer[100], *line = NULL;
    size_t room = 0;

    DO(fread, buffer, 7, 3, stream);
    atomic_fetch_add(&counts[N_fread].bytes, 21);
    GET(fgets, buffer, sizeof(buffer), stream);
    atomic_fetch_add(&counts[N_fgets].bytes, 5);
    MOVE(getline, &line, &room, stream);
    free(line);
    DO(fgetc, stream);
    DO(getc, stream);
    atomic_fetch_add(&counts[N_fgetc].bytes, 1);
    atomic_fetch_add(&counts[N_getc].bytes, 1);
    DO(ftell, stream);
    DO(ftello, stream);
    DO(fseeko, stream, 3, SEEK_SET);
}

static void streams(const char *path)
{
    FILE *stream = GET(fopen, path, "w+");
    int fd;

    check(stream != NULL, "fopen");
    write_stream(stream);
    DO(fseek, stream, 0, SEEK_SET);
    read_stream(stream);
    rewind(stream);
    done(N_rewind, 0, 0);
    stream = GET(freopen, path, "r", stream);
    check(stream != NULL, "freopen");
    read_stream(stream);
    DO(fclose, stream);
    fd = DO(open, path, O_RDONLY);
    stream = GET(fdopen, fd, "r");
    read_stream(stream);
    DO(fclose, stream);
    GET(fopen, "/nonexistent/file", "r");
    atomic_fetch_sub(&counts[N_fopen].calls, 1); /* outside of the directory that is counted */
    atomic_fetch_sub(&counts[N_fopen].errors, 1);
}

static void *work(void *argument)
{
    char directory[512], path[600];
    int dirfd;

    snprintf(directory, sizeof(directory), "%s/p%d-t%d", root, (int)getpid(), (int)(long)argument);
    snprintf(path, sizeof(path), "%s/file", directory);
    check(DO(mkdir, directory, 0755) == 0, "mkdir");
    dirfd = DO(open, directory, O_RDONLY | O_DIRECTORY);
    for (int round = 0; round < rounds; round++) {
        descriptors(path);
        if (round == 0) {
            int fd = DO(open, path, O_WRONLY);

            DO(fsync, fd);
            DO(fdatasync, fd);
            DO(close, fd);
        }
        metadata(directory, path, dirfd);
        pthread_rwlock_rdlock(&stdio);
        streams(path);
        pthread_rwlock_unlock(&stdio);
        list(GET(opendir, directory));
        list(GET(fdopendir, DO(openat, dirfd, ".", O_RDONLY | O_DIRECTORY)));
    }
    DO(close, dirfd);
    return NULL;
}

static void print_counts(void)
{
    printf("{");
    for (int i = 0; i < N_COUNT; i++)
        printf("%s\"%s\": {\"calls\": %ld, \"errors\": %ld, \"bytes\": %ld}", i ? ", " : "", names[i], counts[i].calls,
               counts[i].errors, counts[i].bytes);
    printf("}\n");
}

int main(int argc, char **argv)
{
    pthread_t ids[64];
    pid_t children[2];
    int generations, status, top = 1;

    if (argc != 5)
        return 2;
    root = argv[1];
    generations = atoi(argv[2]);
    threads = atoi(argv[3]);
    rounds = atoi(argv[4]);
    counts = mmap(NULL, sizeof(*counts) * N_COUNT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(counts != MAP_FAILED && threads <= 64, "mmap");
    do {
        for (long i = 0; i < threads; i++)
            check(pthread_create(&ids[i], NULL, work, (void *)i) == 0, "pthread_create");
        children[0] = children[1] = 0;
        for (int i = 0; i < 2 && generation < generations; i++) {
            pthread_rwlock_wrlock(&stdio);
            children[i] = fork();
            if (children[i] == 0)
                pthread_rwlock_init(&stdio, NULL);
            else
                pthread_rwlock_unlock(&stdio);
            check(children[i] >= 0, "fork");
            if (children[i] == 0)
                break;
            done(N_fork, 0, 0);
        }
        if (generation < generations && (children[0] == 0 || children[1] == 0)) {
            generation++;
            top = 0;
            continue;
        }
        break;
    } while (1);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < 2; i++)
        if (children[i] > 0)
            check(waitpid(children[i], &status, 0) == children[i] && status == 0, "waitpid");
    if (!top && getpid() % 2)
        _exit(0);
    if (top)
        print_counts();
    return 0;
}
