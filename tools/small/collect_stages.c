/* SPDX-License-Identifier: MIT */
/* The stages of `dftmerge collect`: each is locked while it is collected. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/now.h"
#include "small/collect_stages.h"

/* how long the lock of a stage is waited for: of another collector of this user, and of anybody */
#define COLLECTOR_NS  UINT64_C(60000000000)
#define STRANGER_NS   UINT64_C(3000000000)
#define LOOK_EVERY_NS 20000000

static int add_stage(struct dft_stages *stages, const char *path, const char *output)
{
    struct stat st, there;
    char *copy = strdup(path);
    const char *directory = copy && !stat(path, &st) && S_ISDIR(st.st_mode) ? copy : copy ? dirname(copy) : NULL;
    int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, rc = directory ? 0 : -ENOMEM;

    if (fd >= 0 && fstat(fd, &st))
        st.st_ino = 0;
    if (fd >= 0 && !stat(output, &there) && there.st_dev == st.st_dev && there.st_ino == st.st_ino) {
        fprintf(stderr, "dftmerge collect: %s is where -o leads: name the directory of DFTRACER_STAGE_DIR\n",
                directory);
        rc = -EINVAL;
    }
    for (size_t i = 0; fd >= 0 && !rc && i < stages->count; i++)
        if (stages->stages[i].device == st.st_dev && stages->stages[i].inode == st.st_ino)
            rc = 1;
    if (!rc && fd >= 0)
        rc = DFT_ARRAY_RESERVE(stages->stages, stages->capacity, stages->count + 1) ? -ENOMEM : 0;
    if (!rc && fd >= 0)
        stages->stages[stages->count++] = (struct dft_stage){fd, st.st_dev, st.st_ino, strdup(directory)};
    else if (fd >= 0)
        close(fd);
    free(copy);
    return rc < 0 ? rc : 0;
}

static int by_inode(const void *left, const void *right)
{
    const struct dft_stage *a = left, *b = right;

    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->inode < b->inode ? -1 : a->inode > b->inode;
}

/* Any user who can read a stage can lock it. Another collector of this user ends some time. */
static uint64_t patience_with(pid_t holder)
{
    char path[64], name[16] = "";
    struct stat st;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/comm", (int)holder);
    file = holder > 0 && !stat(path, &st) && st.st_uid == geteuid() ? fopen(path, "re") : NULL;
    if (file && !fgets(name, sizeof name, file))
        *name = 0;
    if (file)
        fclose(file);
    return strncmp(name, "dftmerge", strlen("dftmerge")) ? STRANGER_NS : COLLECTOR_NS;
}

/* The process that has locked a stage; 0: it cannot be seen. */
static pid_t holder_of(const struct dft_stage *stage)
{
    FILE *file = fopen("/proc/locks", "re");
    unsigned major, minor;
    unsigned long inode;
    char line[256];
    pid_t holder = 0;
    int pid;

    while (!holder && file && fgets(line, sizeof line, file))
        if (sscanf(line, "%*u: FLOCK %*s %*s %d %x:%x:%lu", &pid, &major, &minor, &inode) == 4 && pid > 0 &&
            inode == stage->inode && makedev(major, minor) == stage->device)
            holder = pid;
    if (file)
        fclose(file);
    return holder;
}

/* Returns 0, also on a file system without locks, or -EBUSY. */
static int lock_stage(const struct dft_stage *stage)
{
    const struct timespec pause = {0, LOOK_EVERY_NS};
    uint64_t begin_ns = dft_now_ns(), patience_ns;
    pid_t holder;

    if (!flock(stage->fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
        return 0;
    holder = holder_of(stage);
    patience_ns = patience_with(holder);
    fprintf(stderr, "dftmerge collect: %s is locked by process %d: waiting for %llu s\n", stage->path, (int)holder,
            (unsigned long long)(patience_ns / 1000000000u));
    while (dft_now_ns() - begin_ns < patience_ns) {
        nanosleep(&pause, NULL);
        if (!flock(stage->fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
            return 0;
    }
    fprintf(stderr, "dftmerge collect: %s is still locked: nothing was moved; run it again later\n", stage->path);
    return -EBUSY;
}

int dft_stages_lock(struct dft_stages *stages, const struct dft_source_options *sources, const char *output)
{
    int rc = 0;

    for (int i = 0; !rc && i < sources->npaths; i++)
        rc = add_stage(stages, sources->paths[i], output);
    if (stages->count)
        qsort(stages->stages, stages->count, sizeof *stages->stages, by_inode);
    for (size_t i = 0; !rc && i < stages->count; i++)
        rc = lock_stage(&stages->stages[i]);
    return rc;
}

void dft_stages_unlock(struct dft_stages *stages)
{
    for (size_t i = 0; i < stages->count; i++) {
        close(stages->stages[i].fd);
        free(stages->stages[i].path);
    }
    free(stages->stages);
}
