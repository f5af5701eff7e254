/* SPDX-License-Identifier: MIT */
/* A program full of planted names: in paths, regions, arguments, its role, and what it runs. Every one has "Quux" in it.
 *
 * usage: planted FOLDER [killed] */
#include <dftrace/dftrace.h>
#include <dftrace/entity.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {"Quux.h5",          "part-Quux-0001.csv",  "part-Quux-0002.csv", ".Quuxrc",
                                    "Quux.Quuxtension", "libQuux.so.1.2",      "Quux\xff\n\tbytes",  "Quux.tar.gz",
                                    "log.Quux.2024",    "550e8400-Quux.e01",   "ompi.Quux.1000",     "Quux with blanks",
                                    "Quux.123456789",   "site-packages.Quux7", "lib64Quux",          "x.quux"};

static void use_files(const char *folder)
{
    char path[4096];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int fd;

        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        fd = open(path, O_RDWR | O_CREAT, 0644);
        if (fd < 0 || write(fd, "text", 4) != 4)
            exit(1);
        close(fd);
        if (stat(path, &(struct stat){0}))
            exit(1);
    }
    memset(path, 0, sizeof path);
    for (size_t n = 0; n < sizeof path - 6; n += 5)
        memcpy(path + n, "/Quux", 6);
    if (open(path, O_RDONLY) >= 0) /* as long as a path may be, and not there */
        exit(1);
    if (chdir(folder) || mkdir("Quuxdir", 0755) || rename("Quux.h5", "Quuxdir/Quux2.h5") || open("", O_RDONLY) >= 0 ||
        access("Quux/../missing", F_OK) == 0)
        exit(1);
}

static void use_pipes(void)
{
    char text[8];
    int pair[2], ends[2];

    if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || write(ends[1], "text", 4) != 4 ||
        read(ends[0], text, 4) != 4 || write(pair[0], "text", 4) != 4 || read(pair[1], text, 4) != 4)
        exit(1);
}

static void annotate(void)
{
    DFTRACE_METADATA("Quuxkey", "Quuxvalue");
    DFTRACE_BEGIN_CAT("Quuxcategory", "Quuxfetch_it 7");
    DFTRACE_ARG_STRING("Quuxnote", "/home/Quux/secret, Quux");
    DFTRACE_ARG_STRING("epoch", "3");
    DFTRACE_ARG_INT("step", 7);
    DFTRACE_USES("shard", "Quux-1");
    DFTRACE_GENERATES("checkpoint", "Quux-2");
    DFTRACE_COUNTER("Quuxdepth", 3);
    DFTRACE_END_CAT("Quuxcategory", "Quuxfetch_it 7");
    dftrace_set_role("Quux worker 3/8");
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    annotate();
    use_files(argv[1]);
    use_pipes();
    if (system("true Quux --password=Quux"))
        return 1;
    DFTRACE_BEGIN("epoch 1");
    DFTRACE_ARG_STRING("Quuxopen", "Quuxopen");
    if (argc > 2)
        raise(SIGKILL);
    DFTRACE_END("epoch 1");
    return 0;
}
