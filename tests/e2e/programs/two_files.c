/* SPDX-License-Identifier: MIT */
/* Every call that moves bytes from one descriptor to another, in regions, threads and a child,
 * among calls of other kinds.
 *
 *   two_files copy FROM TO    copies by sendfile, and says how many calls that took
 *   two_files all DIRECTORY   prints for each call and class "CALL CLASS COUNT ERRORS BYTES": of the calls between two descriptors
 *                             alone, as their events must add up */
#include <aio.h>
#include <dftrace/dftrace.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 100000

enum call { SENDFILE, COPY_FILE_RANGE, SPLICE, CALLS };
static const char *const names[CALLS] = {"sendfile", "copy_file_range", "splice"};
static struct sums {
    atomic_long count, errors, bytes;
} sums[CALLS][2]; /* read, written */

static void need(int fine, const char *what)
{
    if (!fine) {
        perror(what);
        exit(3);
    }
}

static void add(struct sums *to, int counts, ssize_t result)
{
    to->count += counts;
    to->errors += counts && result < 0;
    to->bytes += result > 0 ? result : 0;
}

/* from, to: is it a file there, or a pipe, which is not traced? */
static void did(enum call call, int from, int to, ssize_t result)
{
    if (from)
        add(&sums[call][0], 1, result);
    if (to && (result >= 0 || !from))
        add(&sums[call][1], !from, result);
}

static void print_sums(void)
{
    for (int call = 0; call < CALLS; call++)
        for (int class = 0; class < 2; class ++)
            printf("%s %s %ld %ld %ld\n", names[call], class ? "write" : "read", (long)sums[call][class].count,
                   (long)sums[call][class].errors, (long)sums[call][class].bytes);
    fflush(stdout);
}

static int open_file(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT, 0600);

    need(fd >= 0, name);
    return fd;
}

static void send_files(int from, int to)
{
    off_t at = 10;

    DFTRACE_REGION("sending");
    did(SENDFILE, 1, 1, sendfile(to, from, NULL, 5000));
    did(SENDFILE, 1, 1, sendfile(to, from, &at, 700));
    did(SENDFILE, 1, 1, syscall(SYS_sendfile, to, from, NULL, 30));
    at = BYTES;
    did(SENDFILE, 1, 1, sendfile(to, from, &at, 700)); /* at the end of the file: 0 */
    at = -1;
    did(SENDFILE, 1, 1, sendfile(to, from, &at, 700)); /* EINVAL */
}

static void copy_ranges(int from, int to)
{
    off_t in = 20, out = 50000;

    DFTRACE_REGION("copying");
    did(COPY_FILE_RANGE, 1, 1, copy_file_range(from, NULL, to, NULL, 3000, 0));
    did(COPY_FILE_RANGE, 1, 1, copy_file_range(from, &in, to, &out, 400, 0));
    did(COPY_FILE_RANGE, 1, 1, copy_file_range(from, &in, to, NULL, 50, 0));
    did(COPY_FILE_RANGE, 1, 1, syscall(SYS_copy_file_range, from, NULL, to, &out, 6, 0));
    in = 0, out = 60000;
    did(COPY_FILE_RANGE, 1, 1, copy_file_range(from, &in, from, &out, 7000, 0)); /* within one file */
    did(COPY_FILE_RANGE, 1, 1, copy_file_range(from, NULL, to, NULL, 3000, 1));  /* EINVAL */
}

static void through_pipes(int from, int to)
{
    struct iovec memory = {.iov_base = (char[100]){0}, .iov_len = 100};
    int one[2], two[2];
    off_t at = 40;

    DFTRACE_REGION("piping");
    need(!pipe(one) && !pipe(two), "pipe");
    did(SPLICE, 1, 0, splice(from, NULL, one[1], NULL, 1000, 0));
    did(SPLICE, 1, 0, splice(from, &at, one[1], NULL, 200, 0));
    did(SPLICE, 0, 1, splice(one[0], NULL, to, NULL, 1100, 0));
    at = 70000;
    did(SPLICE, 0, 1, splice(one[0], NULL, to, &at, 100, 0));
    did(SPLICE, 1, 1, splice(from, NULL, to, NULL, 1000, 0)); /* EINVAL: neither is a pipe */
    need(vmsplice(one[1], &memory, 1, 0) == 100 && tee(one[0], two[1], 100, 0) == 100, "vmsplice, tee");
    for (int i = 0; i < 2; i++)
        need(!close(one[i]) && !close(two[i]), "close");
}

/* Everything that a thread or a child does, on files of its own. */
static void *work(void *name)
{
    char from_name[64], to_name[64];
    int from, to;

    snprintf(from_name, sizeof from_name, "%s.from", (char *)name);
    snprintf(to_name, sizeof to_name, "%s.to", (char *)name);
    from = open_file(from_name);
    to = open_file(to_name);
    need(!ftruncate(from, BYTES), "ftruncate");
    for (int i = 0; i < 3; i++) {
        send_files(from, to);
        copy_ranges(from, to);
        through_pipes(from, to);
        usleep(15000); /* more than one bucket */
    }
    need(!close(from) && !close(to), "close");
    return NULL;
}

/* What is not between two descriptors. */
static void other_calls(void)
{
    char text[64] = "a line\n", *map;
    int fd = open_file("others");
    struct aiocb request = {.aio_fildes = fd, .aio_buf = text, .aio_nbytes = 7, .aio_offset = 8192};
    const struct aiocb *list[] = {&request};
    FILE *stream = fopen("stream", "w+");

    DFTRACE_REGION("others");
    need(stream && pwrite(fd, text, 7, 4096) == 7 && !aio_write(&request), "write");
    while (aio_error(&request) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    need(aio_return(&request) == 7, "aio_write");
    for (int i = 0; i < 1000; i++)
        putc('a' + i % 26, stream);
    rewind(stream);
    while (getc(stream) != EOF)
        ;
    need(fprintf(stream, "%s", text) == 7 && !fclose(stream), "stream");
    map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    need(map != MAP_FAILED && !msync(map, 4096, MS_SYNC) && !munmap(map, 4096), "mmap");
    need(open("no/such/file", O_RDONLY) == -1 && mkdir("others", 0700) == -1, "what fails");
    need(!rename("stream", "renamed") && !link("renamed", "linked") && !symlink("linked", "soft"), "names");
    need(!close(fd), "close");
}

static int copy(const char *from_name, const char *to_name)
{
    int from = open_file(from_name), to = open_file(to_name);
    ssize_t n;

    do
        did(SENDFILE, 1, 1, n = sendfile(to, from, NULL, 1000000));
    while (n > 0);
    print_sums();
    return n < 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    pid_t child;

    if (argc == 4 && !strcmp(argv[1], "copy"))
        return copy(argv[2], argv[3]);
    if (argc != 3 || strcmp(argv[1], "all"))
        return 2;
    need(!chdir(argv[2]), argv[2]);
    child = fork();
    need(child >= 0, "fork");
    if (!child) {
        work("child");
        print_sums();
        exit(0);
    }
    need(waitpid(child, NULL, 0) == child, "waitpid");
    need(!pthread_create(&threads[0], NULL, work, "one") && !pthread_create(&threads[1], NULL, work, "two"), "threads");
    other_calls();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    print_sums();
    return 0;
}
