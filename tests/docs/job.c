/* SPDX-License-Identifier: MIT */
/* What pages call ./app: phases, entities, layers and calls, for commands to ask about. With RUN_ON it goes on until it is killed. */
#include <dftrace/dftrace.h>
#include <dftrace/entity.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void load(void)
{
    char block[4096];
    int fd = open("data.h5", O_RDONLY);
    if (fd >= 0) {
        while (read(fd, block, sizeof block) > 0) {
        }
        close(fd);
    }
}

static void save(const char *name)
{
    static const char text[] = "a line of the checkpoint\n";
    int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (fd >= 0) {
        for (int i = 0; i < 8; i++) {
            if (write(fd, text, sizeof text - 1) < 0) {
                break;
            }
        }
        fsync(fd);
        close(fd);
    }
}

static void step(int number)
{
    DFTRACE_BEGIN("step");
    DFTRACE_ARG_INT("step", number);
    DFTRACE_BEGIN_CAT("TORCH", "fetch");
    DFTRACE_BEGIN_CAT("FSSPEC", "open");
    load();
    DFTRACE_END_CAT("FSSPEC", "open");
    DFTRACE_END_CAT("TORCH", "fetch");
    DFTRACE_BEGIN("train:forward");
    usleep(500);
    DFTRACE_END("train:forward");
    DFTRACE_END("step");
}

static void epoch(int number, const char *checkpoint)
{
    char key[24];
    snprintf(key, sizeof key, "epoch-%d", number);
    DFTRACE_BEGIN("epoch");
    DFTRACE_ARG_INT("epoch", number);
    DFTRACE_USES("shard", "train-0007");
    for (int i = 0; i < 2; i++) {
        step(2 * number + i);
    }
    save(checkpoint);
    DFTRACE_GENERATES("checkpoint", key);
    DFTRACE_END("epoch");
}

int main(void)
{
    char checkpoint[32];
    snprintf(checkpoint, sizeof checkpoint, "checkpoint.%d", (int)getpid());
    DFTRACE_BEGIN_CAT("MPI", "MPI_Init");
    DFTRACE_END_CAT("MPI", "MPI_Init");
    for (int number = 1; number <= 3 || getenv("RUN_ON"); number++) {
        epoch(number, checkpoint);
    }
    unlink(checkpoint);
    return 0;
}
