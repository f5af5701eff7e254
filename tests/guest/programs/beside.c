/* SPDX-License-Identifier: MIT */
/* What other tools wrap, a known number of times: memory, files, durability, owners, times, threads, forks, an exec.
 *
 *   beside           all of it, in the working directory; the exit code is 7
 *   beside step N    only the files of worker N
 *   beside wait      as without an argument, once a line has come on standard input
 *
 * Its output is the same in each run. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS  60
#define SYNCS   5
#define BLOCK   64
#define CODE    7

extern char **environ;

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "beside: %s: %s\n", what, strerror(errno));
    _exit(2);
}

/* Memory of all sizes and kinds, written and given back; the sum tells whether it was kept. A debugger stops here. */
__attribute__((noinline)) unsigned beside_round(unsigned round)
{
    size_t size = (size_t)1 << (round % 18);
    unsigned char *some = malloc(size), *zero = calloc(size, 2), *more = NULL;
    void *aligned = NULL;
    unsigned sum;

    must(some && zero && posix_memalign(&aligned, 4096, size) == 0, "memory");
    must((uintptr_t)aligned % 4096 == 0 && zero[2 * size - 1] == 0, "memory is as it was asked for");
    memset(some, (int)round, size);
    more = realloc(some, 3 * size);
    must(more != NULL, "more memory");
    sum = more[size - 1] + round;
    free(more);
    free(zero);
    free(aligned);
    return sum;
}

static unsigned blocks(int fd)
{
    char block[BLOCK];
    unsigned sum = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        sum += beside_round(i);
        memset(block, 'a' + (int)(i % 26), sizeof(block));
        must(write(fd, block, sizeof(block)) == BLOCK, "write");
        must(pread(fd, block, sizeof(block), (off_t)i * BLOCK) == BLOCK, "pread");
        sum += (unsigned char)block[BLOCK - 1];
    }
    for (unsigned i = 0; i < SYNCS; i++)
        must(fsync(fd) == 0 && fdatasync(fd) == 0, "fsync");
    return sum;
}

static unsigned mapped(int fd)
{
    unsigned sum = 0;
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    must(map != MAP_FAILED, "mmap");
    for (unsigned i = 0; i < BLOCK; i++)
        sum += (unsigned char)map[i];
    must(msync(map, 4096, MS_SYNC) == 0 && munmap(map, 4096) == 0, "msync");
    return sum;
}

static unsigned worker(unsigned number)
{
    char name[32], other[32];
    struct stat status;
    unsigned sum;
    int fd;

    snprintf(name, sizeof(name), "file%u", number);
    snprintf(other, sizeof(other), "other%u", number);
    fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0640);
    must(fd >= 0, name);
    sum = blocks(fd) + mapped(fd);
    must(lseek(fd, 0, SEEK_SET) == 0 && ftruncate(fd, 1000) == 0, "lseek");
    must(fstat(fd, &status) == 0 && status.st_size == 1000, "fstat");
    must(close(fd) == 0 && rename(name, other) == 0 && chmod(other, 0600) == 0, "rename");
    must(stat(other, &status) == 0 && (status.st_mode & 0777) == 0600, "stat");
    must(unlink(name) < 0 && errno == ENOENT && access(name, F_OK) < 0, "what is gone");
    return sum;
}

static void *thread(void *argument)
{
    return (void *)(uintptr_t)worker((unsigned)(uintptr_t)argument);
}

static void threads(void)
{
    pthread_t all[THREADS];
    unsigned sum = 0;
    void *result;

    for (unsigned i = 0; i < THREADS; i++)
        must(pthread_create(&all[i], NULL, thread, (void *)(uintptr_t)i) == 0, "thread");
    for (unsigned i = 0; i < THREADS; i++) {
        must(pthread_join(all[i], &result) == 0, "join");
        sum += (unsigned)(uintptr_t)result;
    }
    printf("threads %u\n", sum);
    fflush(stdout);
}

static void ended(const char *what, pid_t child)
{
    int status = 0;

    must(child > 0 && waitpid(child, &status, 0) == child, what);
    printf("%s %d\n", what, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    fflush(stdout);
}

static void children(char *self)
{
    char *arguments[] = {self, "step", "11", NULL};
    pid_t child = fork();

    if (child == 0)
        _exit((int)(worker(10) % 100));
    ended("fork", child);
    must(posix_spawn(&child, self, NULL, NULL, arguments, environ) == 0, "spawn");
    ended("spawn", child);
}

static void streams(void)
{
    FILE *file = fopen("stream", "w+");
    char line[64];
    unsigned lines = 0;

    must(file != NULL, "fopen");
    for (unsigned i = 0; i < ROUNDS; i++)
        must(fprintf(file, "line %u of the stream\n", i) > 0, "fprintf");
    rewind(file);
    while (fgets(line, sizeof(line), file))
        lines++;
    must(fclose(file) == 0, "fclose");
    printf("lines %u\n", lines);
    fflush(stdout);
}

static void directory(void)
{
    DIR *here = opendir(".");
    unsigned entries = 0;

    must(here != NULL, "opendir");
    while (readdir(here))
        entries++;
    must(closedir(here) == 0, "closedir");
    printf("entries %u\n", entries);
    fflush(stdout);
}

/* What fakeroot and libfaketime answer in the kernel's place. */
static void owner_and_time(void)
{
    int fd = open("owned", O_CREAT | O_WRONLY | O_SYNC, 0600);
    struct stat status;
    time_t now = time(NULL);
    struct tm date;

    must(fd >= 0 && close(fd) == 0, "owned");
    fd = chown("owned", 1234, 2345);
    must(stat("owned", &status) == 0 && gmtime_r(&now, &date) != NULL, "stat");
    printf("owner %d %u:%u\n", fd, status.st_uid, status.st_gid);
    printf("year %s\n", date.tm_year == 101 ? "2001" : "now");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char line[16];

    if (argc == 3 && strcmp(argv[1], "step") == 0)
        return (int)(worker((unsigned)atoi(argv[2])) % 100);
    if (argc == 2 && strcmp(argv[1], "wait") == 0)
        must(fgets(line, sizeof(line), stdin) != NULL, "a line");
    threads();
    streams();
    children(argv[0]);
    directory();
    owner_and_time();
    return CODE;
}
