/* SPDX-License-Identifier: MIT */
/* Every call on mappings of files, those that fail among them, in a fixed order: mappings
 * DIRECTORY. Ends with 1 and a word where something did not go as it should; what the calls did to
 * the files' bytes is checked too. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul

static char name[4200];

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    _exit(1);
}

static int file(const char *directory, const char *file, unsigned pages)
{
    char block[PAGE];
    int fd;

    snprintf(name, sizeof name, "%s/%s", directory, file);
    fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (unsigned i = 0; i < pages; i++) {
        memset(block, 'a' + (int)i % 26, sizeof block);
        check(write(fd, block, sizeof block) == sizeof block, name);
    }
    return fd;
}

static char *map(int fd, size_t length, off_t offset)
{
    char *at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

    check(at != MAP_FAILED, "mmap");
    return at;
}

static char *anonymous(size_t length)
{
    char *at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    check(at != MAP_FAILED, "anonymous mmap");
    return at;
}

static void fails(long result, int error, const char *what)
{
    check(result == -1 && errno == error, what);
}

/* --- one mapping ------------------------------------------------------------------------------ */

static void whole(int fd)
{
    char *at = map(fd, 10 * PAGE, 0), *odd = map(fd, 100, 3 * (off_t)PAGE);

    check(at[5 * PAGE] == 'f' && odd[0] == 'd', "bytes");
    at[0] = 'Z';
    check(!msync(at, 10 * PAGE, MS_SYNC) && !msync(at + PAGE, 10, MS_ASYNC), "msync");
    check(!madvise(at + 2 * PAGE, 3 * PAGE, MADV_WILLNEED) && !madvise(odd, 100, MADV_RANDOM), "madvise");
    check(!posix_madvise(at, 4 * PAGE, POSIX_MADV_SEQUENTIAL), "posix_madvise");
    check(!mlock(at, PAGE) && !munlock(at, PAGE) && !mlock2(at + PAGE, 5, MLOCK_ONFAULT) && !munlock(at, 2 * PAGE),
          "mlock");
    check(!munmap(odd, 100) && !munmap(at, 10 * PAGE), "munmap");
}

/* A hole, the rest from both sides, and the calls that find nothing there. */
static void in_pieces(int fd)
{
    char *at = map(fd, 16 * PAGE, 0);

    check(!munmap(at + 6 * PAGE, 2 * PAGE) && !munmap(at, PAGE) && !munmap(at + 15 * PAGE, PAGE), "parts");
    fails(msync(at, 16 * PAGE, MS_ASYNC), ENOMEM, "msync over holes");
    fails(madvise(at + 5 * PAGE, 2 * PAGE, MADV_WILLNEED), ENOMEM, "madvise over a hole");
    check(!msync(at + 2 * PAGE, PAGE, MS_ASYNC), "msync of a part");
    check(!munmap(at, 16 * PAGE), "the rest"); /* two parts of one file in one call */
    fails(msync(at, PAGE, MS_SYNC), ENOMEM, "msync of nothing");
    check(!munmap(at, 16 * PAGE), "nothing");
}

/* --- replacing -------------------------------------------------------------------------------- */

static void replaced(int fd, int fd2)
{
    char *at = map(fd, 8 * PAGE, 4 * (off_t)PAGE), *other;

    other = mmap(at + 2 * PAGE, 3 * PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd2, PAGE);
    check(other == at + 2 * PAGE, "another file in the middle");
    check(mmap(at + 6 * PAGE, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at + 6 * PAGE,
          "nothing in the middle");
    check(!madvise(at, 8 * PAGE, MADV_NORMAL), "advice for all of it");
    fails((long)mmap(at, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0), EEXIST, "no room");
    check(!munmap(at, 8 * PAGE), "munmap of all");
}

static void moved(int fd)
{
    char *at = map(fd, 4 * PAGE, PAGE), *to, *room = anonymous(32 * PAGE), *same;

    to = mremap(at, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room);
    check(to == room && to[4 * PAGE] == 'f', "moved and grown");
    check(mremap(to, 8 * PAGE, 3 * PAGE, 0) == to, "shrunk");
    same = mremap(to + PAGE, 0, 2 * PAGE, MREMAP_MAYMOVE);
    check(same != MAP_FAILED && same[0] == 'c', "the same pages twice");
    check(mremap(to + PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room + 20 * PAGE) == room + 20 * PAGE,
          "a page out of the middle");
    fails((long)mremap(to, PAGE, 2 * PAGE, MREMAP_FIXED, room), EINVAL, "without leave to move");
    check(!msync(room + 20 * PAGE, PAGE, MS_ASYNC), "msync where it is now");
    check(!munmap(same, 2 * PAGE), "the second");
    check(!munmap(room, 32 * PAGE), "all of the room");
#ifdef MREMAP_DONTUNMAP
    at = map(fd, 2 * PAGE, 0);
    to = mremap(at, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
    if (to != MAP_FAILED)
        check(!munmap(to, 2 * PAGE), "the copy");
    check(!munmap(at, 2 * PAGE), "what stayed");
#endif
}

static void rearranged(int fd)
{
    char *at = map(fd, 6 * PAGE, 0);

    check(!remap_file_pages(at + PAGE, 2 * PAGE, 0, 10, 0), "remap_file_pages");
    check(at[PAGE] == 'k', "another page of the file");
    fails(remap_file_pages(at, PAGE, 1, 0, 0), EINVAL, "remap_file_pages with a protection");
    check(!munmap(at + 2 * PAGE, PAGE) && !munmap(at, 6 * PAGE), "munmap");
}

/* --- failures --------------------------------------------------------------------------------- */

static void failures(const char *directory, int fd)
{
    int only;
    char *at;

    snprintf(name, sizeof name, "%s/written", directory);
    only = open(name, O_WRONLY | O_CREAT, 0600);
    fails((long)mmap(NULL, PAGE, PROT_READ, MAP_SHARED, only, 0), EACCES, "mmap of what is not open for reading");
    close(only);
    fails((long)mmap(NULL, 0, PROT_READ, MAP_SHARED, fd, 0), EINVAL, "mmap of nothing");
    fails((long)mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 5), EINVAL, "mmap in the middle of a page");
    fails((long)mmap(NULL, PAGE, PROT_READ, MAP_SHARED, -1, 0), EBADF, "mmap of no descriptor");
    fails((long)mmap(NULL, PAGE, PROT_READ, MAP_SHARED, only, 0), EBADF, "mmap of what is closed");
    at = map(fd, 4 * PAGE, 0);
    fails(munmap(at + 1, PAGE), EINVAL, "munmap in the middle of a page");
    fails(munmap(at, 0), EINVAL, "munmap of nothing");
    fails(msync(at, PAGE, MS_SYNC | MS_ASYNC), EINVAL, "msync both ways");
    fails(msync(at + 1, PAGE, MS_SYNC), EINVAL, "msync in the middle of a page");
    fails(madvise(at, PAGE, 9999), EINVAL, "unknown advice");
    check(posix_madvise(at, PAGE, 9999) == EINVAL, "unknown posix advice");
    fails(mlock2(at, PAGE, 9999), EINVAL, "unknown way to lock");
    check(!munmap(at, 4 * PAGE), "munmap after all that");
}

/* --- other ways ------------------------------------------------------------------------------- */

static void by_number(int fd)
{
    char *at = (char *)syscall(SYS_mmap, NULL, 4 * PAGE, PROT_READ, MAP_SHARED, fd, PAGE);

    check(at != MAP_FAILED, "syscall mmap");
    check(!syscall(SYS_msync, at, PAGE, MS_ASYNC) && !syscall(SYS_madvise, at + PAGE, PAGE, MADV_WILLNEED),
          "syscall msync");
    at = (char *)syscall(SYS_mremap, at, 4 * PAGE, 2 * PAGE, 0, NULL);
    check(at != MAP_FAILED && !syscall(SYS_mlock, at, PAGE) && !syscall(SYS_munlock, at, PAGE), "syscall mremap");
    fails(syscall(SYS_munmap, at + 1, PAGE), EINVAL, "syscall munmap of no page");
    check(!syscall(SYS_munmap, at, 2 * PAGE), "syscall munmap");
}

static void in_children(int fd)
{
    char *at = map(fd, 6 * PAGE, 0);
    pid_t child = fork();

    if (child == 0) {
        check(!msync(at + PAGE, PAGE, MS_ASYNC) && !munmap(at, 2 * PAGE) && !munmap(at, 6 * PAGE), "the child's");
        _exit(0);
    }
    check(waitpid(child, NULL, 0) == child, "fork");
    check(!msync(at, PAGE, MS_ASYNC), "still there for the parent");
    child = vfork(); /* whose address space is the parent's */
    if (child == 0) {
        munmap(at + 4 * PAGE, 2 * PAGE);
        _exit(0);
    }
    check(waitpid(child, NULL, 0) == child, "vfork");
    check(!munmap(at, 6 * PAGE), "what the child left");
}

static volatile char *in_handler;
static volatile int handler_fd;

static void handler(int number)
{
    (void)number;
    in_handler = map(handler_fd, PAGE, 7 * (off_t)PAGE);
}

static void from_handlers(int fd)
{
    handler_fd = fd;
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    check(in_handler[0] == 'h' && !munmap((void *)in_handler, PAGE), "from a handler");
}

int main(int argc, char **argv)
{
    int fd, fd2;

    if (argc != 2)
        return 2;
    fd = file(argv[1], "one", 26);
    fd2 = file(argv[1], "two", 26);
    whole(fd);
    in_pieces(fd);
    replaced(fd, fd2);
    moved(fd);
    rearranged(fd);
    failures(argv[1], fd);
    by_number(fd2);
    from_handlers(fd2);
    in_children(fd);
    close(fd2);
    close(fd);
    return 0;
}
