/* SPDX-License-Identifier: MIT */
/* Calls on files of all classes, one after the other and back and forth, and of each what it must be marked with. Prints
 * for each event, in order: name, class, access (- none), turn (0, 1). */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char bytes[8192];
static char path[4096];

static void check(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

/* Makes a call and says what its event is. */
#define TELL(call, name, class, access, turn)                                                                          \
    do {                                                                                                               \
        check((call) >= 0, #call);                                                                                     \
        printf("%s %s %s %d\n", name, class, access, turn);                                                            \
    } while (0)

static const char *below(const char *folder, const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_at(int fd, const char *access, off_t at, int turn)
{
    TELL(pwrite(fd, bytes, 100, at), "pwrite", "write", access, turn);
}

static void read_at(int fd, const char *access, off_t at, int turn)
{
    TELL(pread(fd, bytes, 100, at), "pread", "read", access, turn);
}

/* Where accesses lie. */
static void places(const char *folder)
{
    struct stat status;
    int fd, twin;

    TELL(fd = open(below(folder, "data"), O_RDWR | O_CREAT, 0600), "open", "meta", "-", 0);
    TELL(write(fd, bytes, 4096), "write", "write", "consecutive", 0); /* the first one begins where the file does */
    TELL(write(fd, bytes, 4096), "write", "write", "consecutive", 0);
    write_at(fd, "consecutive", 8192, 0);
    write_at(fd, "sequential", 9000, 0);
    write_at(fd, "sequential", 10000, 0); /* 808, then 1,000 */
    write_at(fd, "strided", 11000, 0);
    write_at(fd, "strided", 12000, 0);
    write_at(fd, "consecutive", 12100, 0);
    write_at(fd, "consecutive", 12200, 0); /* as far as before, too */
    write_at(fd, "random", 0, 0);
    read_at(fd, "sequential", 5000, 1);
    read_at(fd, "random", 4000, 0);
    read_at(fd, "strided", 3000, 0); /* backwards by 1,000 twice */
    read_at(fd, "strided", 2000, 0);
    read_at(fd, "random", 2000, 0);
    read_at(fd, "strided", 2000, 0); /* the same place again and again: 0 twice */
    TELL(pread(fd, bytes, 100, 1 << 20), "pread", "read", "sequential", 0); /* behind the end: moves nothing, */
    read_at(fd, "consecutive", 2100, 0);                                    /* so the one before is the last one */
    TELL(twin = dup(fd), "dup", "meta", "-", 0);
    write_at(twin, "consecutive", 2200, 1); /* the same open file description */
    TELL(close(twin), "close", "meta", "-", 0);
    check(pwrite(fd, bytes, 1, -2) == -1 && errno == EINVAL, "an offset below 0");
    printf("pwrite write - 0\n"); /* a failure is no access */
    TELL(fstat(fd, &status), "fstat", "meta", "-", 0);
    TELL(fsync(fd), "fsync", "sync", "-", 0);
    TELL(flock(fd, LOCK_EX), "flock", "wait", "-", 0);
    TELL(fcntl(fd, F_SETLKW, &(struct flock){.l_type = F_WRLCK}), "fcntl", "wait", "-", 0);
    TELL(fcntl(fd, F_SETLK, &(struct flock){.l_type = F_RDLCK}), "fcntl", "meta", "-", 0); /* does not wait */
    TELL(fcntl(fd, F_SETLK, &(struct flock){.l_type = F_UNLCK}), "fcntl", "wait", "-", 0); /* as LOCK_UN */
    TELL(close(fd), "close", "meta", "-", 0);
}

#define SEEK(fd, at, whence)  TELL(lseek(fd, at, whence), "lseek", "meta", "-", 0)
#define READ(fd, access)      TELL(read(fd, bytes, 100), "read", "read", access, 0)
#define CLOSE(fd)             TELL(close(fd), "close", "meta", "-", 0)
#define OPEN(fd, name, flags) TELL(fd = open(below(folder, name), flags, 0600), "open", "meta", "-", 0)

/* First accesses of open files, of which there is none before. The file has 1,000 bytes. */
static void firsts(const char *folder)
{
    int fd;

    OPEN(fd, "data", O_RDONLY);
    READ(fd, "consecutive");
    SEEK(fd, 0, SEEK_SET);
    READ(fd, "random"); /* the same again: a jump back */
    CLOSE(fd);
    OPEN(fd, "data", O_RDONLY);
    read_at(fd, "random", 500, 0);
    read_at(fd, "sequential", 700, 0);
    CLOSE(fd);
    OPEN(fd, "data", O_RDWR);
    SEEK(fd, 0, SEEK_END); /* how large is it? */
    SEEK(fd, 0, SEEK_SET);
    READ(fd, "consecutive");
    CLOSE(fd);
    OPEN(fd, "data", O_RDWR);
    SEEK(fd, -100, SEEK_END);
    READ(fd, "random");
    CLOSE(fd);
    OPEN(fd, "data", O_WRONLY);
    SEEK(fd, 0, SEEK_END);
    TELL(write(fd, bytes, 100), "write", "write", "consecutive", 0);
    CLOSE(fd);
    OPEN(fd, "data", O_WRONLY | O_APPEND);
    TELL(write(fd, bytes, 100), "write", "write", "consecutive", 0);
    TELL(write(fd, bytes, 100), "write", "write", "consecutive", 0);
    CLOSE(fd);
    OPEN(fd, "data", O_RDWR | O_APPEND);
    read_at(fd, "random", 500, 0);
    CLOSE(fd);
    OPEN(fd, "none", O_RDONLY | O_CREAT);
    READ(fd, "consecutive"); /* at its start and its end */
    CLOSE(fd);
}

#define STREAM(call, name, access)                                                                                     \
    do {                                                                                                               \
        check(call, #call);                                                                                            \
        if (*(name))                                                                                                   \
            printf("%s read %s 0\n", name, access);                                                                    \
    } while (0)

/* Bursts of calls on a stream whose file has 9,000 bytes in lines of 100. All calls of a burst have one access. */
static void bursts(const char *folder)
{
    FILE *stream = fopen(below(folder, "data"), "r");
    char line[200];

    printf("fopen meta - 0\n");
    for (int i = 0; i < 70; i++)
        STREAM(fgets(line, sizeof line, stream) != NULL, i ? "" : "fgets", "consecutive"); /* of several buffers */
    for (int i = 0; i < 200; i++)
        STREAM(getc(stream) != EOF, i ? "" : "getc", "consecutive");
    for (int i = 0; i < 5; i++)
        STREAM(fgets(line, sizeof line, stream) != NULL, i ? "" : "fgets", "consecutive");
    check(!fseek(stream, 200, SEEK_SET), "fseek");
    printf("fseek meta - 0\n");
    for (int i = 0; i < 9; i++)
        STREAM(getc(stream) != EOF, i < 2 ? "getc" : "", i ? "consecutive" : "random");
    rewind(stream);
    printf("rewind meta - 0\n");
    STREAM(fgets(line, sizeof line, stream) != NULL, "fgets", "random");
    STREAM(fread(line, 1, 100, stream) == 100, "fread", "consecutive");
    check(!fclose(stream), "fclose");
    printf("fclose meta - 0\n");
}

/* Reads and writes in turn. */
static void turns(const char *folder)
{
    int fd;

    TELL(fd = open(below(folder, "data"), O_RDWR), "open", "meta", "-", 0);
    TELL(read(fd, bytes, 100), "read", "read", "consecutive", 0);
    TELL(write(fd, bytes, 100), "write", "write", "consecutive", 1);
    TELL(read(fd, bytes, 100), "read", "read", "consecutive", 1);
    TELL(read(fd, bytes, 100), "read", "read", "consecutive", 0);
    TELL(lseek(fd, 0, SEEK_END), "lseek", "meta", "-", 0);
    TELL(read(fd, bytes, 100), "read", "read", "sequential", 0); /* at the end: moves nothing */
    TELL(write(fd, bytes, 100), "write", "write", "sequential", 1);
    TELL(read(fd, bytes, 100), "read", "read", "consecutive", 0);
    TELL(write(fd, bytes, 100), "write", "write", "consecutive", 0);
    TELL(close(fd), "close", "meta", "-", 0);
}

/* A library: looked at, read, and written. */
static void library(const char *folder)
{
    struct stat status;
    FILE *stream;
    int fd;

    TELL(fd = open(below(folder, "libmine.so.1.2"), O_RDWR | O_CREAT, 0600), "open", "meta", "-", 0);
    TELL(write(fd, bytes, 8192), "write", "write", "consecutive", 0);
    TELL(fchmod(fd, 0644), "fchmod", "meta", "-", 0);
    TELL(close(fd), "close", "meta", "-", 0);
    TELL(stat(path, &status), "stat", "startup", "-", 0);
    TELL(access(path, R_OK), "access", "startup", "-", 0);
    TELL(fd = open(path, O_RDONLY), "open", "startup", "-", 0);
    TELL(read(fd, bytes, 832), "read", "startup", "consecutive", 0);
    TELL(pread(fd, bytes, 64, 832), "pread", "startup", "consecutive", 0);
    TELL(lseek(fd, 0, SEEK_SET), "lseek", "startup", "-", 0);
    TELL(close(fd), "close", "startup", "-", 0);
    check((stream = fopen(path, "r")) != NULL, "fopen");
    printf("fopen startup - 0\n");
    check(fread(bytes, 1, 10, stream) == 10, "fread");
    printf("fread startup consecutive 0\n");
    check(getc(stream) != EOF && getc(stream) != EOF, "getc");
    printf("getc startup consecutive 0\n"); /* both of them */
    TELL(fclose(stream), "fclose", "startup", "-", 0);
    TELL(chmod(path, 0600), "chmod", "meta", "-", 0);
    TELL(unlink(path), "unlink", "meta", "-", 0);
}

/* Memory that processes share. */
static void memory(const char *name)
{
    void *mapped;
    int fd;

    TELL(fd = open(name, O_RDWR | O_CREAT, 0600), "open", "meta", "-", 0);
    TELL(ftruncate(fd, 4096), "ftruncate", "meta", "-", 0);
    TELL(write(fd, bytes, 100), "write", "write", "consecutive", 0);
    TELL(read(fd, bytes, 100), "read", "read", "consecutive", 1);
    check((mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0)) != MAP_FAILED, "mmap");
    printf("mmap wait - 0\n");
    TELL(close(fd), "close", "wait", "-", 0);
    TELL(munmap(mapped, 4096), "munmap", "wait", "-", 0);
    TELL(unlink(name), "unlink", "meta", "-", 0);
    name = strrchr(name, '/'); /* made to be shared */
    TELL(fd = shm_open(name, O_RDWR | O_CREAT, 0600), "shm_open", "wait", "-", 0);
    TELL(ftruncate(fd, 4096), "ftruncate", "wait", "-", 0);
    TELL(close(fd), "close", "wait", "-", 0);
    TELL(shm_unlink(name), "shm_unlink", "wait", "-", 0);
}

/* Of a library, by a child that has its descriptor, and asynchronously. */
static void handed_on(const char *folder)
{
    const struct aiocb *list[1];
    struct aiocb request = {.aio_nbytes = 100, .aio_buf = bytes, .aio_offset = 300};
    int fd;
    pid_t child;

    check((fd = open(below(folder, "lib.so"), O_RDWR | O_CREAT | O_TRUNC, 0600)) >= 0 && write(fd, bytes, 8192) == 8192,
          path);
    printf("open meta - 0\nwrite write consecutive 0\n");
    TELL(close(fd), "close", "meta", "-", 0);
    TELL(fd = open(path, O_RDONLY), "open", "startup", "-", 0);
    TELL(read(fd, bytes, 100), "read", "startup", "consecutive", 0);
    fflush(stdout);
    check((child = fork()) >= 0, "fork");
    if (!child)
        _exit(read(fd, bytes, 200) != 200);
    check(waitpid(child, NULL, 0) == child, "waitpid");
    printf("read startup consecutive 0\n"); /* the child's */
    request.aio_fildes = fd;
    list[0] = &request;
    check(!aio_read(&request), "aio_read");
    while (aio_error(&request) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    check(aio_return(&request) == 100, "aio_return");
    printf("aio_read startup sequential 0\n"); /* what the child does is not known here */
    TELL(close(fd), "close", "startup", "-", 0);
}

/* Is killed while a library is open, in the middle of a run of getc. */
static void killed(const char *folder)
{
    FILE *stream = fopen(below(folder, "lib.so"), "r");

    printf("fopen startup - 0\n");
    check(stream && getc(stream) != EOF && getc(stream) != EOF && getc(stream) != EOF, "getc");
    printf("getc startup consecutive 0\n");
    fflush(stdout);
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";

    if (!strcmp(what, "places"))
        places(argv[2]);
    else if (!strcmp(what, "firsts"))
        firsts(argv[2]);
    else if (!strcmp(what, "bursts"))
        bursts(argv[2]);
    else if (!strcmp(what, "turns"))
        turns(argv[2]);
    else if (!strcmp(what, "library"))
        library(argv[2]);
    else if (!strcmp(what, "memory"))
        memory(argv[2]);
    else if (!strcmp(what, "handed_on"))
        handed_on(argv[2]);
    else if (!strcmp(what, "killed"))
        killed(argv[2]);
    else
        return 2;
    return fflush(stdout) != 0;
}
