/* SPDX-License-Identifier: MIT */
/* Troubles with files, and beside each what is done without it: files TROUBLE NUMBER, in the
 * current directory, where the test has put the files. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 4096

static int number;
static char data[1 << 20];

static int name_is(const char *name, const char *wanted)
{
    return !strcmp(name, wanted);
}

static void read_whole(const char *path)
{
    int fd = open(path, O_RDONLY);

    while (fd >= 0 && read(fd, data, PIECE) > 0)
        ;
    close(fd);
}

/* One small file each time, or the same bytes out of one file. */
static void small_files(int apart)
{
    char path[64];
    int fd = apart ? -1 : open("all.bin", O_RDONLY);

    for (int i = 0; i < number; i++) {
        snprintf(path, sizeof path, "many/f_%d.txt", i);
        if (apart)
            read_whole(path);
        else
            (void)!read(fd, data, 200);
    }
}

/* Source files, which no pattern puts together. */
static void tree(void)
{
    char path[64];

    for (int i = 0; i < number; i++) {
        snprintf(path, sizeof path, "tree/%c/%c%c%c.txt", 'a' + i % 5, 'a' + i / 676 % 26, 'a' + i / 26 % 26,
                 'a' + i % 26);
        read_whole(path);
    }
}

static void stats(const char *directory)
{
    char path[64];
    struct stat st;

    for (int i = 0; i < number; i++) {
        snprintf(path, sizeof path, "%s/f_%d.txt", directory, i);
        stat(path, &st);
    }
}

/* What is not there, and made then, under another name first or not: not missing. */
static void create(int under_another)
{
    char path[64];
    struct stat st;

    for (int i = 0; i < number; i++) {
        snprintf(path, sizeof path, "out/f_%d", i);
        if (!stat(path, &st))
            continue;
        close(open(under_another ? "out/new" : path, O_WRONLY | O_CREAT, 0644));
        if (under_another)
            rename("out/new", path);
    }
}

static void configure(int again)
{
    int fd = open("app.conf", O_RDONLY);

    for (int i = 0; i < number; i++)
        if (again)
            read_whole("app.conf");
        else
            (void)!pread(fd, data, 8, 0);
}

static void seek(void)
{
    int fd = open("app.conf", O_RDONLY);

    for (int i = 0; i < number; i++)
        lseek(fd, i % 8, SEEK_SET);
}

static void list(int times)
{
    for (int i = 0; i < times; i++) {
        DIR *directory = opendir("many");
        struct dirent *entry;
        struct stat st;

        while ((entry = readdir(directory)))
            fstatat(dirfd(directory), entry->d_name, &st, 0);
        closedir(directory);
    }
}

/* Reads all.bin so many times; from storage, if the page cache is to drop it. */
static void again(int times, int drop)
{
    int fd = open("all.bin", O_RDWR);

    if (drop && !fsync(fd))
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);

    for (int i = 0; i < times; i++) {
        lseek(fd, 0, SEEK_SET);
        while (read(fd, data, sizeof data) > 0)
            ;
    }
}

static void pieces(int in_order)
{
    int fd = open("all.bin", O_RDONLY), pieces = (int)(lseek(fd, 0, SEEK_END) / PIECE);

    for (int i = 0; i < number; i++)
        (void)!pread(fd, data, PIECE, (off_t)PIECE * ((in_order ? i : rand()) % pieces));
}

/* Reads a piece and writes it again where it was, piece after piece or at random. */
static void in_place(int at_random)
{
    int fd = open("all.bin", O_RDWR), pieces = (int)(lseek(fd, 0, SEEK_END) / PIECE);

    for (int i = 0; i < number; i++) {
        off_t place = (off_t)PIECE * ((at_random ? rand() : i) % pieces);

        (void)!pread(fd, data, PIECE, place);
        (void)!pwrite(fd, data, PIECE, place);
    }
}

/* Pieces behind each other, with a look at the head of the file before each. */
static void behind_head(void)
{
    int fd = open("all.bin", O_RDWR);

    for (int i = 0; i < number; i++) {
        (void)!pread(fd, data, 100, rand() % PIECE);
        (void)!pwrite(fd, data, PIECE, (off_t)PIECE * (i + 1));
    }
}

/* Every other one begins inside a block. */
static void every_other(void)
{
    int fd = open("all.bin", O_RDONLY);

    for (int i = 0; i < number; i++)
        (void)!pread(fd, data, PIECE, (off_t)PIECE * 2 * i + (i % 2 ? 100 : 0));
}

static void map_small(void)
{
    char path[64];

    for (int i = 0; i < number; i++) {
        int fd;
        void *bytes;

        snprintf(path, sizeof path, "many/f_%d.txt", i);
        fd = open(path, O_RDONLY);
        bytes = mmap(NULL, 200, PROT_READ, MAP_PRIVATE, fd, 0);
        *data += *(char *)bytes;
        munmap(bytes, 200);
        close(fd);
    }
}

static void map(void)
{
    int fd = open("all.bin", O_RDONLY);
    size_t size = (size_t)lseek(fd, 0, SEEK_END);
    const char *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

    for (size_t i = 0; i < size; i += PIECE)
        *data += bytes[i];
}

int main(int argc, char **argv)
{
    const char *trouble = argc > 1 ? argv[1] : "";

    number = argc > 2 ? atoi(argv[2]) : 1;
    if (name_is(trouble, "small") || name_is(trouble, "container"))
        small_files(name_is(trouble, "small"));
    else if (name_is(trouble, "tree"))
        tree();
    else if (name_is(trouble, "missing"))
        stats("plugins");
    else if (name_is(trouble, "there"))
        stats("many");
    else if (name_is(trouble, "create") || name_is(trouble, "rename"))
        create(name_is(trouble, "rename"));
    else if (name_is(trouble, "map_small"))
        map_small();
    else if (name_is(trouble, "reopen") || name_is(trouble, "keep"))
        configure(name_is(trouble, "reopen"));
    else if (name_is(trouble, "seek"))
        seek();
    else if (name_is(trouble, "storm"))
        list(number);
    else if (name_is(trouble, "again") || name_is(trouble, "drop"))
        again(number, name_is(trouble, "drop"));
    else if (name_is(trouble, "random") || name_is(trouble, "in_order"))
        pieces(name_is(trouble, "in_order"));
    else if (name_is(trouble, "in_place") || name_is(trouble, "random_in_place"))
        in_place(name_is(trouble, "random_in_place"));
    else if (name_is(trouble, "behind_head"))
        behind_head();
    else if (name_is(trouble, "misaligned"))
        every_other();
    else if (name_is(trouble, "map"))
        map();
    return 0;
}
