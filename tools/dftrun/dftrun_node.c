/* SPDX-License-Identifier: MIT */
/* The process that samples the node, and the file that it writes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dftrun/dftrun.h"
#include "dftrun/dftrun_folder.h"
#include "dftrun/dftrun_node.h"
#include "dftrun/dftrun_node_read.h"
#include "dftrun/dftrun_node_samples.h"
#include "dftrun/dftrun_own.h"
#include "format/encode.h"

#define MOMENTS 10 /* of a block */

struct sampler {
    struct dft_node_samples *samples;
    struct dft_encoder *encoder;
    uint64_t key, width_ns;
    int file;
    char host[65], boot_id[40];
};

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void put(const struct sampler *sampler, const void *block, long length)
{
    if (length > 0 && write(sampler->file, block, (size_t)length) != length)
        _exit(1); /* what is cut is no block */
}

static void put_process(const struct sampler *sampler)
{
    const char *job = getenv("DFTRACER_JOB_ID"), *run = getenv("DFTRACER_RUN_ID");
    const uint64_t clocks[1][2] = {{now_ns(CLOCK_MONOTONIC), now_ns(CLOCK_REALTIME)}};
    const struct dft_process process = {.key = sampler->key,
                                        .pid = (uint32_t)getpid(),
                                        .rank = -1,
                                        .local_rank = -1,
                                        .start_ns = clocks[0][1],
                                        .clock_offset = (int64_t)(clocks[0][1] - clocks[0][0]),
                                        .host = dft_text_from(sampler->host),
                                        .boot_id = dft_text_from(sampler->boot_id),
                                        .job_id = dft_text_from(job),
                                        .run_id = dft_text_from(run),
                                        .role = {"node", 4}};
    const void *block;

    put(sampler, block, dft_encode_process(sampler->encoder, &process, &block));
    put(sampler, block, dft_encode_clock(sampler->encoder, sampler->key, clocks, 1, &block));
}

static void put_samples(const struct sampler *sampler)
{
    struct dft_counters counters = dft_node_counters(sampler->samples);
    const void *block;
    long length = counters.count ? dft_encode_counters(sampler->encoder, &counters, &block) : 0;

    put(sampler, block, length);
    dft_node_sent(sampler->samples);
}

/* Samples until a SIGTERM. Everything else of the terminal is for the program. */
static void work(struct sampler *sampler)
{
    const char *root = getenv("DFT_NODE_ROOT"); /* tests have a tree of their own */
    const struct dft_end end = {.key = sampler->key, .exit_kind = 1 /* DFT_ENDING_EXIT */};
    struct dft_end ended = end;
    sigset_t term;
    const void *block;
    int last = 0;

    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    for (int moments = 0; !last; moments++) {
        uint64_t left_ns = sampler->width_ns - now_ns(CLOCK_REALTIME) % sampler->width_ns;
        const struct timespec most = {(time_t)(left_ns / 1000000000), (long)(left_ns % 1000000000)};

        last = moments && sigtimedwait(&term, NULL, &most) == SIGTERM;
        dft_node_begin(sampler->samples, now_ns(CLOCK_REALTIME));
        dft_node_read(sampler->samples, root ? root : "");
        dft_node_read_gpus(sampler->samples);
        if (last || moments % MOMENTS == MOMENTS - 1)
            put_samples(sampler);
    }
    ended.time_ns = now_ns(CLOCK_REALTIME);
    put(sampler, block, dft_encode_end(sampler->encoder, &ended, &block));
}

/* --- start and end ------------------------------------------------------------------------------ */

static void read_boot_id(char *text, size_t size)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (file && !fgets(text, (int)size, file))
        *text = 0;
    if (file)
        fclose(file);
    text[strcspn(text, "\n")] = 0;
}

/* Takes the lock of this node in this directory. Returns its descriptor, -EWOULDBLOCK: another
 * process has it, or -errno. The lock goes with its holder. */
static int take_lock(const struct sampler *sampler, const char *directory, char *path, size_t size)
{
    int fd;

    snprintf(path, size, "%s/.node-%s-%s.lock", directory, sampler->host, sampler->boot_id);
    fd = dft_own_open(AT_FDCWD, path, O_CREAT);
    if (fd < 0)
        return fd;
    if (!flock(fd, LOCK_EX | LOCK_NB))
        return fd;
    close(fd);
    return -EWOULDBLOCK;
}

static int open_file(struct sampler *sampler, const char *directory)
{
    const mode_t mode = dft_own_mode();
    char path[PATH_MAX];

    if (getrandom(&sampler->key, sizeof sampler->key, 0) != sizeof sampler->key)
        return -EIO;
    snprintf(path, sizeof path, "%s/node-%s-%d-%016llx.dft", directory, sampler->host, (int)getpid(),
             (unsigned long long)sampler->key);
    sampler->file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, mode ? mode : 0666);
    return sampler->file < 0 || (mode && fchmod(sampler->file, mode)) ? -errno : 0;
}

static void run(struct sampler *sampler, const char *directory, const char *lock, int held)
{
    const char *interval = getenv("DFTRACER_TRACE_INTERVAL_MS");
    long ms = interval ? atol(interval) : 0;
    void *memory = mmap(NULL, dft_encoder_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    sampler->width_ns = (uint64_t)(ms > 0 && ms <= 3600000 ? ms : 1000) * 1000000;
    if (memory == MAP_FAILED || open_file(sampler, directory))
        _exit(1);
    sampler->encoder = dft_encoder_init(memory);
    sampler->samples = dft_node_create(sampler->key);
    if (!sampler->samples)
        _exit(1);
    put_process(sampler);
    work(sampler);
    dft_own_remove(AT_FDCWD, lock, held);
    _exit(0);
}

pid_t dft_node_start(const char *directory)
{
    static struct sampler sampler;
    char lock[PATH_MAX];
    sigset_t all, before;
    int fd;
    pid_t parent = getpid(), pid;

    gethostname(sampler.host, sizeof sampler.host - 1);
    read_boot_id(sampler.boot_id, sizeof sampler.boot_id);
    snprintf(lock, sizeof lock, "%s/", directory);
    dft_folder_make(lock);
    fd = take_lock(&sampler, directory, lock, sizeof lock);
    if (fd < 0)
        return fd == -EWOULDBLOCK ? 0 : fd;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() == parent)
            run(&sampler, directory, lock, fd);
        _exit(1);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(fd);
    return pid < 0 ? -errno : pid;
}

void dft_node_stop(pid_t pid)
{
    if (pid <= 0)
        return;
    kill(pid, SIGTERM);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
