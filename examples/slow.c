/* SPDX-License-Identifier: MIT */
/* A program with four usual faults of I/O: docs/tutorial.md finds them, examples/fast.c is the same
 * without them. Usage: slow FOLDER */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORDS     4000
#define TABLE_BYTES 200000

static int threshold(void)
{
    char text[64] = "";
    int fd = open("app.conf", O_RDONLY), value = 0;

    if (read(fd, text, sizeof text - 1) > 0)
        sscanf(text, "threshold=%d", &value);
    close(fd);
    return value;
}

static long sum_table(void)
{
    int fd = open("table.bin", O_RDONLY);
    long sum = 0;
    char byte;

    while (read(fd, &byte, 1) == 1)
        sum += byte;
    close(fd);
    return sum;
}

static int find_plugin(int number)
{
    static const char *const folders[] = {"plugins", "/opt/app/plugins", "/usr/local/lib/app", "/usr/lib/app"};
    char path[128];
    struct stat status;

    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/filter%d.so", folders[i], number % 10);
        if (!stat(path, &status))
            return 1;
    }
    return 0;
}

static void write_journal(long sum)
{
    int fd = open("journal.log", O_CREAT | O_TRUNC | O_WRONLY, 0644);
    char record[120];

    for (int i = 0; i < RECORDS; i++) {
        memset(record, ' ', sizeof record);
        snprintf(record, sizeof record, "record %d of sum %ld: threshold %d, plug-in %d", i, sum, threshold(),
                 find_plugin(i));
        record[sizeof record - 1] = '\n';
        if (write(fd, record, sizeof record) < 0)
            perror("journal.log");
        if (i % 20 == 0)
            fsync(fd);
    }
    close(fd);
}

static void make_inputs(void)
{
    static char table[TABLE_BYTES];
    int conf = open("app.conf", O_CREAT | O_TRUNC | O_WRONLY, 0644);
    int data = open("table.bin", O_CREAT | O_TRUNC | O_WRONLY, 0644);

    if (write(conf, "threshold=7\n", 12) < 0 || write(data, table, sizeof table) < 0)
        perror("inputs");
    close(conf);
    close(data);
}

int main(int argc, char **argv)
{
    if (argc != 2 || chdir(argv[1])) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    make_inputs();
    write_journal(sum_table());
    return 0;
}
