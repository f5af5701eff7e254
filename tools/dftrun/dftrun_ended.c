/* SPDX-License-Identifier: MIT */
/* Owns what dftrun records of the end of its program. A process that is killed can write nothing of it, and only its
 * parent learns of it: dftrun writes what it has waited for into a file beside the traces. */
#include "dftrun/dftrun_ended.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dftrun/dftrun_launch.h"
#include "dftrun/dftrun_own.h"
#include "dftrun/dftrun_stage.h"
#include "format/encode.h"

#define LIVE ".dft.live"

/* The key in "<run>-<program>-<host>-<pid>-<start>-<key>.dft.live" of an image of this process; 0: it is of
 * another one. */
static uint64_t key_of(const struct dft_run *run, const char *name, pid_t pid)
{
    size_t length = strlen(name), tail = strlen(LIVE);
    char text[NAME_MAX + 1], *key, *start, *number;

    if (length <= tail || length > NAME_MAX || strcmp(name + length - tail, LIVE) != 0 || !dft_run_has(run, name))
        return 0;
    memcpy(text, name, length - tail);
    text[length - tail] = 0;
    key = strrchr(text, '-');
    *key = 0;
    start = strrchr(text, '-');
    if (!start)
        return 0;
    *start = 0;
    number = strrchr(text, '-');
    return number && strtoll(number + 1, NULL, 10) == (long long)pid ? strtoull(key + 1, NULL, 16) : 0;
}

/* A file for each image: two dftruns on two hosts may have the same prefix. What lies there already is another's. */
static void write_end(const struct dft_run *run, const struct dft_outcome *outcome, uint64_t key, void *memory)
{
    const struct dft_end end = {
        .key = key, .exit_kind = DFT_ENDING_WAITED, .status = outcome->waited, .time_ns = outcome->waited_ns};
    const mode_t mode = dft_own_mode();
    char path[PATH_MAX + 32];
    const void *block;
    long length = dft_encode_end(dft_encoder_init(memory), &end, &block);
    int fd;

    snprintf(path, sizeof path, "%s-%llx-ended.dft", run->prefix, (unsigned long long)key);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode ? mode : 0666);
    if (fd < 0)
        return;
    if ((mode && fchmod(fd, mode)) || (length > 0 && write(fd, block, (size_t)length) != length))
        unlink(path);
    close(fd);
}

static void tell(const struct dft_run *run, const struct dft_outcome *outcome, const char *directory, void *memory)
{
    DIR *dir = opendir(directory);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        uint64_t key = key_of(run, entry->d_name, outcome->pid);

        if (key)
            write_end(run, outcome, key, memory);
    }
    if (dir)
        closedir(dir);
}

void dft_ended_write(const struct dft_run *run, const struct dft_outcome *outcome)
{
    const char *live = dft_run_variable("DFTRACER_LIVE_DIR");
    void *memory;

    if (!outcome->status || outcome->error)
        return;
    memory = mmap(NULL, dft_encoder_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return;
    tell(run, outcome, run->place, memory);
    if (live)
        tell(run, outcome, live, memory);
    munmap(memory, dft_encoder_bytes());
}
