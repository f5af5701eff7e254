/* SPDX-License-Identifier: MIT */
/* Five troubles: slow DIRECTORY. An fsync every 20 records of 120 B; 300,000 reads of one byte; a
 * configuration file read 10,000 times; 20,000 stats of missing plug-ins; 20,000 files of 200 B. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_file(const char *path, size_t bytes)
{
    static char data[1 << 16];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    for (size_t at = 0; at < bytes; at += sizeof data)
        (void)!write(fd, data, bytes - at < sizeof data ? bytes - at : sizeof data);
    close(fd);
}

static void journal(void)
{
    char record[120] = "";
    int fd = open("out/journal.log", O_WRONLY | O_CREAT | O_APPEND, 0644);

    for (int i = 1; i <= 10000; i++) {
        (void)!write(fd, record, sizeof record);
        if (i % 20 == 0)
            fsync(fd);
    }
    close(fd);
}

static void bytes_one_by_one(void)
{
    char c;
    int fd = open("in/table.bin", O_RDONLY);

    while (read(fd, &c, 1) == 1)
        ;
    close(fd);
}

static void configure(void)
{
    char text[64];

    for (int i = 0; i < 10000; i++) {
        int fd = open("etc/app.conf", O_RDONLY);

        while (read(fd, text, sizeof text) > 0)
            ;
        close(fd);
    }
}

static void look_for_plugins(void)
{
    static const char *const directories[] = {"etc", "plugins", "lib/plugins", "opt/plugins"};
    struct stat st;
    char path[128];

    for (int i = 0; i < 20000; i++) {
        snprintf(path, sizeof path, "%s/plugin_%d.so", directories[i % 4], i);
        stat(path, &st);
    }
}

static void read_many(void)
{
    char path[128], data[4096];
    struct stat st;

    for (int i = 0; i < 20000; i++) {
        int fd;

        snprintf(path, sizeof path, "in/many/f_%d.txt", i);
        fd = open(path, O_RDONLY);
        fstat(fd, &st);
        while (read(fd, data, sizeof data) > 0)
            ;
        close(fd);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3 || chdir(argv[1]))
        return 1;
    if (!strcmp(argv[2], "prepare")) {
        char path[128];

        mkdir("in", 0755), mkdir("in/many", 0755), mkdir("out", 0755), mkdir("etc", 0755);
        write_file("in/table.bin", 300000);
        write_file("etc/app.conf", 8);
        for (int i = 0; i < 20000; i++) {
            snprintf(path, sizeof path, "in/many/f_%d.txt", i);
            write_file(path, 200);
        }
        return 0;
    }
    journal();
    bytes_one_by_one();
    configure();
    look_for_plugins();
    read_many();
    return 0;
}
