/* SPDX-License-Identifier: MIT */
/* The calls that a thread makes, counted. */
#include "ends_work.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dftrace/dftrace.h>

#include "../preload/raw.h"

struct ends_shared *ends_shared;
int ends_without_requests;

void ends_need(int condition, const char *what)
{
    if (condition)
        return;
    dprintf(2, "ends: %s: %s\n", what, strerror(errno));
    raw_call(SYS_exit_group, 99, 0, 0);
}

#define COUNTED(slot, kind, call)                                                                                      \
    do {                                                                                                               \
        atomic_fetch_add(&(slot)->started[kind], 1);                                                                   \
        call;                                                                                                          \
        atomic_fetch_add(&(slot)->returned[kind], 1);                                                                  \
    } while (0)

/* By system calls that the library does not see: the file is not the program's. */
void ends_map(const char *path)
{
    long fd = raw_call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC);
    long at;
#if defined(__x86_64__)
    register long r10 __asm__("r10") = MAP_SHARED;
    register long r8 __asm__("r8") = fd;
    register long r9 __asm__("r9") = 0;

    at = SYS_mmap;
    __asm__ volatile("syscall"
                     : "+a"(at)
                     : "D"(0), "S"(sizeof *ends_shared), "d"(PROT_READ | PROT_WRITE), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
#else
    at = (long)mmap(NULL, sizeof *ends_shared, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
#endif
    ends_need(fd >= 0 && (at > 0 || at < -4095), path);
    ends_shared = (struct ends_shared *)at;
    raw_call(SYS_close, fd, 0, 0);
}

static int open_file(uint32_t number, char kind, int flags)
{
    char name[32];
    int fd;

    snprintf(name, sizeof name, "%u.%c", number, kind);
    fd = open(name, flags | O_CREAT | O_CLOEXEC, 0644);
    ends_need(fd >= 0, name);
    return fd;
}

/* Of several kinds, before and behind those of a region that has ended again, and one from within
 * it. */
static void give_arguments(struct ends_worker *worker)
{
    const struct dftrace_api *api = dftrace_get();
    struct dftrace_site outer = {"ends", worker->outer, 0};
    const struct dftrace_arg given = dftrace_double("given", worker->number + 0.5);
    const struct dftrace_arg point = dftrace_int("of the point", 1);

    DFTRACE_ARG_INT("slot", worker->number);
    dftrace_region_begin("ends", "within");
    DFTRACE_ARG_STRING("inner", "not the outer one's");
    if (api)
        api->arg_of(&outer, &given);
    DFTRACE_INSTANT_ARGS("point", &point, 1);
    dftrace_region_end("ends", "within");
    DFTRACE_ARG_STRING("name", worker->outer);
}

void ends_begin(struct ends_worker *worker, uint64_t calls)
{
    char name[32];

    memset(worker, 0, sizeof *worker);
    worker->number = atomic_fetch_add(&ends_shared->slots, 1);
    ends_need(worker->number < ENDS_SLOTS, "slots");
    worker->slot = &ends_shared->slot[worker->number];
    worker->slot->pid = (uint32_t)getpid();
    worker->slot->tid = (uint32_t)gettid();
    worker->calls = calls;
    worker->data = open_file(worker->number, 'w', O_RDWR);
    ends_need(ftruncate(worker->data, 1 << 20) == 0, "ftruncate");
    worker->asynchronous = open_file(worker->number, 'a', O_RDWR);
    snprintf(name, sizeof name, "%u.p", worker->number);
    worker->out = fopen(name, "we");
    snprintf(name, sizeof name, "%u.g", worker->number);
    ends_need(link("input", name) == 0, name);
    worker->in = fopen(name, "re");
    ends_need(worker->out && worker->in, "fopen");
    snprintf(worker->region, sizeof worker->region, "region %u", worker->number);
    snprintf(worker->outer, sizeof worker->outer, "outer %u", worker->number);
    worker->site = (struct dftrace_site){"ends", worker->region, 0};
    dftrace_region_begin("ends", worker->outer);
    give_arguments(worker);
    atomic_fetch_add(&worker->slot->open, 1);
}

static void make_request(struct ends_worker *worker)
{
    struct aiocb *block = &worker->block;
    const struct aiocb *list[] = {block};

    memset(block, 0, sizeof *block);
    block->aio_fildes = worker->asynchronous;
    block->aio_buf = worker->buffer;
    block->aio_nbytes = 8;
    block->aio_offset = (off_t)(8 * worker->requests++);
    ends_need(aio_write(block) == 0, "aio_write");
    while (aio_suspend(list, 1, NULL) && errno == EINTR)
        ;
    ends_need(aio_return(block) == 8, "aio_return");
}

static void use_mapping(struct ends_worker *worker)
{
    char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, worker->data, 0);

    ends_need(at != MAP_FAILED, "mmap");
    at[0] = 'm';
    ends_need(raw_call(SYS_munmap, (long)at, 4096, 0) == 0, "munmap");
}

static void one_region(struct ends_worker *worker, off_t at)
{
    const struct dftrace_arg point = dftrace_string("of the point", "where items of regions are put together");
    const struct dftrace_api *api = dftrace_get();

    if (!api)
        return;
    atomic_fetch_add(&worker->slot->started[ENDS_REGION], 1);
    api->region_begin(&worker->site);
    api->arg_int("at", at);
    COUNTED(worker->slot, ENDS_READ, ends_need(pread(worker->data, worker->buffer, 8, at) == 8, "pread"));
    DFTRACE_INSTANT_ARGS("point", &point, 1);
    api->region_end(&worker->site);
    atomic_fetch_add(&worker->slot->returned[ENDS_REGION], 1);
}

/* About `n` calls. Returns 0 when all that the worker was asked for are made. */
int ends_work(struct ends_worker *worker, uint64_t n)
{
    for (uint64_t end = worker->made + n; worker->made < end && worker->made < worker->calls; worker->made++) {
        uint64_t i = worker->made;
        int c;

        switch (i % 64) {
        case 7:
            one_region(worker, (off_t)(i % 1000));
            break;
        case 21:
            COUNTED(worker->slot, ENDS_MAP, use_mapping(worker));
            break;
        case 63:
            if (i % 512 == 511 && !ends_without_requests)
                COUNTED(worker->slot, ENDS_AIO, make_request(worker));
            break;
        default:
            if (i % 64 >= 48)
                COUNTED(worker->slot, ENDS_PUTC, ends_need(putc('p', worker->out) == 'p', "putc"));
            else if (i % 64 >= 32)
                COUNTED(worker->slot, ENDS_GETC, c = getc(worker->in); if (c == EOF) clearerr(worker->in));
            else
                COUNTED(worker->slot, ENDS_WRITE,
                        ends_need(pwrite(worker->data, "12345678", 8, (off_t)(8 * i)) == 8, "pwrite"));
        }
    }
    return worker->made < worker->calls;
}

void ends_leave(struct ends_worker *worker)
{
    dftrace_region_end("ends", worker->outer);
    atomic_fetch_sub(&worker->slot->open, 1);
}

void ends_late_call(struct ends_worker *worker)
{
    static uint64_t calls;
    uint64_t number = __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);

    COUNTED(worker->slot, ENDS_LATE,
            ends_need(pwrite(worker->data, "late", 4, (off_t)(((off_t)1 << 36) + 4 * number)) == 4, "late pwrite"));
}
