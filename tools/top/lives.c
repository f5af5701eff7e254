/* SPDX-License-Identifier: MIT */
/* Live files: maps each of them once, and copies it when it has changed. */
#include "top/lives.h"
#include "top/known.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/open_regular.h"
#include "format/live_read.h"
#include "format/live_table.h"
#include "live/source_life.h"
#include "live/file.h"
#include "live/source_snapshot.h"
#include "top/find.h"

#define ASK_EVERY_NS UINT64_C(5000000000) /* whether a process runs that has no pidfd */

void dft_top_live_drop(struct dft_top_live *live)
{
    if (live->map)
        munmap((void *)(uintptr_t)live->map, live->bytes);
    if (live->fd >= 0)
        close(live->fd);
    if (live->pidfd >= 0)
        close(live->pidfd);
    free(live->copy);
    live->map = NULL;
    live->copy = NULL;
    live->fd = live->pidfd = -1;
    live->given_up = 1;
}

int dft_top_live_named(struct dft_top_watch *watch, struct dft_text path)
{
    char *name = path.length ? strndup(path.bytes, path.length) : NULL;
    uint32_t before = watch->nlives;
    int rc = 0;

    if (!path.length)
        return 0;
    if (!name)
        return -ENOMEM;
    if (!access(name, F_OK))
        rc = dft_top_add_live(watch, name);
    if (!rc && watch->nlives > before)
        watch->lives[before].is_named = 1;
    free(name);
    return rc;
}

/* --- the process of a live file --------------------------------------------------------------- */

/* A descriptor by which the kernel tells that the process has ended; -1: its pid is none of ours. */
static int pidfd_of(const struct dft_live *head)
{
    struct stat st;

    if (stat("/proc/self/ns/pid", &st) || st.st_ino != head->pid_namespace)
        return -1;
    return (int)syscall(SYS_pidfd_open, (pid_t)head->pid, 0);
}

static void ask_life(struct dft_top_watch *watch, struct dft_top_live *live)
{
    struct dft_mapped mapped = {0};

    live->life = (uint8_t)dft_life_of_live(&mapped, live->map, live->fd);
    live->looked_ns = watch->now_ns;
    free(mapped.list);
}

static int has_ended(struct dft_top_watch *watch, struct dft_top_live *live)
{
    struct pollfd poll_for = {.fd = live->pidfd, .events = POLLIN};

    if (live->life == DFT_LIFE_OVER)
        return 1;
    if (live->pidfd >= 0)
        return poll(&poll_for, 1, 0) > 0;
    if (watch->now_ns - live->looked_ns >= ASK_EVERY_NS)
        ask_life(watch, live);
    return live->life == DFT_LIFE_OVER;
}

/* The trace that a process writes stands elsewhere where its live file has a directory of its own. */
static int find_trace(struct dft_top_watch *watch, const struct dft_live *head)
{
    char from[64], path[4096];
    struct stat st;
    ssize_t n;

    for (int fd = 0; fd < 1024; fd++) {
        snprintf(from, sizeof from, "/proc/%u/fd/%d", head->pid, fd);
        if (stat(from, &st) || st.st_dev != head->trace_device || st.st_ino != head->trace_inode)
            continue;
        n = readlink(from, path, sizeof path - 1);
        if (n <= 0)
            return 0;
        path[n] = 0;
        return access(path, F_OK) ? 0 : dft_top_add_trace(watch, path);
    }
    return 0;
}

static int describe(struct dft_top_watch *watch, struct dft_top_live *live)
{
    const struct dft_live *head = live->map;
    struct dft_top_process *process = dft_top_process_of(watch, head->key);
    int rc = 0;

    if (!process)
        return -ENOMEM;
    live->key = head->key;
    if (!process->pid) {
        process->pid = head->pid;
        process->start_ns = head->start_ns;
    }
    ask_life(watch, live);
    if (live->life != DFT_LIFE_OVER) {
        live->pidfd = pidfd_of(head);
        if (live->pidfd >= 0 && !dft_map_find(&watch->by_inode, dft_map_join(head->trace_device, head->trace_inode)))
            rc = find_trace(watch, head);
    }
    return rc;
}

/* --- mapping ---------------------------------------------------------------------------------- */

/* Maps what the file is now. Returns whether there is anything. */
static int map(struct dft_top_watch *watch, struct dft_top_live *live)
{
    struct stat st;
    size_t length;
    void *map;
    int rc;

    if (fstat(live->fd, &st) || !st.st_nlink)
        return 0;
    rc = dft_live_length(live->fd, &st, &length, NULL);
    if (live->map && length == live->bytes)
        return 1;
    if (rc || length < DFT_LIVE_PAGE)
        return live->map != NULL;
    map = mmap(NULL, length, PROT_READ, MAP_SHARED, live->fd, 0);
    if (map == MAP_FAILED) {
        dft_top_watch_note(watch, 1, "%s: %s", live->path, strerror(errno));
        return 0;
    }
    if (live->map)
        munmap((void *)(uintptr_t)live->map, live->bytes);
    live->map = map;
    live->bytes = length;
    return 1;
}

/* The first look at a file. Its process may just have made it: its magic number comes last. */
static int begin(struct dft_top_watch *watch, struct dft_top_live *live)
{
    const struct dft_live *head;
    const char *reason;
    struct stat st;
    uint64_t *known;

    if (live->fd < 0)
        live->fd = dft_open_regular(live->path, O_RDONLY, NULL);
    if (live->fd < 0) {
        if (live->fd != -ENOENT)
            dft_top_watch_note(watch, 1, "%s: %s", live->path, dft_open_reason(-live->fd));
        live->given_up = 1;
        return 0;
    }
    if (!map(watch, live)) {
        live->given_up |= !fstat(live->fd, &st) && !st.st_nlink;
        return 0;
    }
    head = live->map;
    if (!head->magic)
        return 0;
    known = live->is_named ? dft_map_find(&watch->by_inode, dft_map_join(head->trace_device, head->trace_inode)) : NULL;
    if ((live->is_named && !known) || fstat(live->fd, &st) || !dft_top_is_new_file(watch, st.st_dev, st.st_ino)) {
        dft_top_live_drop(live);
        return 0;
    }
    if (dft_live_check(live->map, live->bytes, &head, &reason)) {
        dft_top_watch_note(watch, 1, "%s: %s", live->path, reason);
        dft_top_live_drop(live);
        return 0;
    }
    return describe(watch, live);
}

/* --- copies ----------------------------------------------------------------------------------- */

/* Changes with whatever the heads of the rings tell. Rings of requests change without it. */
static uint64_t signature_of(const struct dft_top_live *live)
{
    uint64_t sum = live->bytes;
    const struct dft_live_table *table;
    const struct dft_ring *ring;
    size_t offset = 0;

    while ((ring = dft_live_ring(live->map, live->bytes, &offset))) {
        const uint64_t *words = (const uint64_t *)(const void *)ring;
        size_t count = DFT_LIVE_PAGE / sizeof *words;

        if (atomic_load_explicit(&((struct dft_ring *)(uintptr_t)ring)->requests, memory_order_relaxed))
            count += ring->capacity * sizeof(struct dft_slot) / sizeof *words;
        for (size_t i = 0; i < count; i++)
            sum = (sum ^ __atomic_load_n(&words[i], __ATOMIC_RELAXED)) * UINT64_C(0x9e3779b97f4a7c15);
    }
    for (offset = 0; (table = dft_live_table_find(live->map, live->bytes, &offset));)
        sum = (sum ^ atomic_load(&((struct dft_live_table *)(uintptr_t)table)->ticket) ^
               atomic_load(&((struct dft_live_table *)(uintptr_t)table)->calls_first) << 32) *
              UINT64_C(0x9e3779b97f4a7c15);
    return sum ? sum : 1;
}

static int copy(struct dft_top_live *live)
{
    uint64_t signature = signature_of(live);
    char *room;

    if (live->copy && live->copied == live->bytes && live->signature == signature)
        return 0;
    if (!live->copy || live->copied != live->bytes) {
        room = calloc(1, live->bytes); /* zeros stand for holes */
        if (!room)
            return -ENOMEM;
        free(live->copy);
        live->copy = room;
        live->copied = live->bytes;
    }
    dft_live_copy(live->copy, live->map, live->bytes, live->fd);
    live->signature = signature;
    live->is_stale = 1;
    return 0;
}

/* Sets how the process ended, unless its trace says so. */
static void note_end(struct dft_top_watch *watch, struct dft_top_live *live, uint8_t exit_kind)
{
    struct dft_top_process *process = dft_top_process_of(watch, live->key);

    if (process && (process->exit_kind == DFT_ENDING_UNKNOWN || process->exit_kind == DFT_ENDING_RUNNING))
        process->exit_kind = exit_kind;
}

/* A file that has gone was removed behind the last block: the trace has everything. */
static int look(struct dft_top_watch *watch, struct dft_top_live *live)
{
    const struct dft_live *head;
    int rc = 0;

    if (!live->key)
        rc = begin(watch, live);
    if (rc || !live->key)
        return rc;
    if (!map(watch, live)) {
        dft_top_live_drop(live);
        live->is_stale = 1;
        note_end(watch, live, DFT_ENDING_UNKNOWN);
        return 0;
    }
    if (has_ended(watch, live))
        live->life = DFT_LIFE_OVER;
    head = live->map;
    note_end(watch, live,
             live->life == DFT_LIFE_OVER      ? DFT_ENDING_KILLED
             : live->life == DFT_LIFE_RUNNING ? DFT_ENDING_RUNNING
                                              : DFT_ENDING_UNKNOWN);
    if (atomic_load(&((struct dft_live *)(uintptr_t)head)->state) == DFT_LIVE_CLEAN && live->life != DFT_LIFE_OVER)
        live->is_stale = 1;
    return copy(live);
}

int dft_top_lives_copy(struct dft_top_watch *watch)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && i < watch->nlives; i++)
        if (!watch->lives[i].given_up)
            rc = look(watch, &watch->lives[i]);
    return rc;
}
