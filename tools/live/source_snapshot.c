/* SPDX-License-Identifier: MIT */
/* Live files of processes that go on while these files are read.
 *
 * The copy comes first. The trace is scanned again if it has grown since. A drain frees slots only
 * after their records stand in the trace. So a record is in the copy, in the trace, or in both. A
 * slot may be filled anew while it is copied. The trace then holds the number of its old record. So
 * the copy's version of that record is passed over. Processes begin and end meanwhile. New files
 * beside the inputs, and files that have gone cause another round. The last round may leave no trace
 * with a PROCESS whose live file was not looked for since. */
#include "live/source_snapshot.h"

#include "object/source_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/calls.h"
#include "format/live_read.h"
#include "format/live_table.h"
#include "base/bus_error.h"
#include "base/open_regular.h"
#include "base/work.h"
#include "live/source_beside.h"
#include "live/source_life.h"
#include "live/file.h"
#include "live/paths.h"
#include "object/source_notes.h"

#define SCANS_MAX     20
#define SCAN_EVERY_NS 2000000
#define ROUNDS_MAX    8
#define COPIES_MAX    16

/* Copies one slot: its marker before its contents, and once more behind them. */
static void copy_slot(struct dft_slot *to, const struct dft_slot *from)
{
    uint32_t marker = atomic_load_explicit(&((struct dft_slot *)(uintptr_t)from)->marker, memory_order_acquire);

    memcpy((char *)to + sizeof marker, (const char *)from + sizeof marker, sizeof *to - sizeof marker);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&((struct dft_slot *)(uintptr_t)from)->marker, memory_order_relaxed) != marker)
        marker = (marker & ~3u) | DFT_SLOT_BUSY;
    atomic_store_explicit(&to->marker, marker, memory_order_relaxed);
}

/* A table that cannot be had in a consistent form is empty in the copy, and makes no sense: its
 * reader counts it. Returns its length; 0: here is none. */
static size_t copy_table(char *to, const char *from, size_t left)
{
    const struct dft_live_table *table = (const struct dft_live_table *)(const void *)from;
    struct dft_live_table *copy = (struct dft_live_table *)(void *)to;

    if (left < DFT_LIVE_TABLE_BYTES || __atomic_load_n(&table->magic, __ATOMIC_ACQUIRE) != DFT_LIVE_TABLE_MAGIC ||
        table->bytes != DFT_LIVE_TABLE_BYTES)
        return 0;
    if (dft_live_table_copy(copy, table, left)) {
        memset(copy, 0, DFT_LIVE_TABLE_BYTES);
        copy->magic = DFT_LIVE_TABLE_MAGIC;
        copy->bytes = DFT_LIVE_TABLE_BYTES;
    }
    return DFT_LIVE_TABLE_BYTES;
}

/* Where the data go on at or behind a page. A hole is not read: that would take room on a tmpfs. */
static size_t next_data(int fd, size_t at, size_t bytes, size_t *end)
{
    off_t hole;

    if (fd < 0 || at < *end)
        return at;
    at = (size_t)dft_data_from(fd, at, bytes) / DFT_LIVE_PAGE * DFT_LIVE_PAGE;
    hole = lseek(fd, (off_t)at, SEEK_HOLE);
    *end = hole <= (off_t)at ? bytes : (size_t)hole;
    return at;
}

/* Outside of rings, pages of 64-byte pieces do as well. */
void dft_live_copy(char *to, const char *from, size_t bytes, int fd)
{
    size_t at = 0, end = 0, length;

    for (; at + sizeof(struct dft_slot) <= bytes; at += sizeof(struct dft_slot)) {
        if (!(at % DFT_LIVE_PAGE) && (at = next_data(fd, at, bytes, &end)) + sizeof(struct dft_slot) > bytes)
            break;
        if (!(at % DFT_LIVE_PAGE) && (length = copy_table(to + at, from + at, bytes - at)))
            at += length - sizeof(struct dft_slot);
        else if (at % DFT_LIVE_PAGE ||
                 __atomic_load_n(&((const struct dft_ring *)(const void *)(from + at))->magic, __ATOMIC_ACQUIRE) !=
                     DFT_RING_MAGIC ||
                 bytes - at < DFT_LIVE_PAGE) {
            copy_slot((struct dft_slot *)(void *)(to + at), (const struct dft_slot *)(const void *)(from + at));
        } else {
            dft_live_copy_head((struct dft_ring *)(void *)(to + at),
                               (const struct dft_ring *)(const void *)(from + at));
            at += DFT_LIVE_PAGE - sizeof(struct dft_slot);
        }
    }
    if (at < bytes)
        memcpy(to + at, from + at, bytes - at);
}

/* Are the bursts that are open in the copy open still? Else one may be in the copy of a table, too. */
static int bursts_are_open(const void *copy, const char *from, size_t bytes)
{
    const struct dft_ring *ring;
    size_t offset = 0;

    while ((ring = dft_live_ring(copy, bytes, &offset))) {
        const struct dft_ring *now = (const void *)(from + ((const char *)ring - (const char *)copy));

        for (uint32_t i = 0; i < DFT_BURSTS; i++) {
            struct dft_burst *was = (struct dft_burst *)(uintptr_t)&ring->bursts[i];
            struct dft_burst *is = (struct dft_burst *)(uintptr_t)&now->bursts[i];

            if (atomic_load(&was->call) != DFT_CALL_NONE && !atomic_load(&was->record) &&
                (atomic_load(&is->call) != atomic_load(&was->call) || is->start != was->start ||
                 atomic_load(&is->record)))
                return 0;
        }
    }
    return 1;
}

/* Where tables are, the bursts fit them. */
static void copy_live(char *to, const char *from, size_t bytes, int fd)
{
    for (int tries = 0; tries < COPIES_MAX; tries++) {
        size_t offset = 0;

        dft_live_copy(to, from, bytes, fd);
        if (!dft_live_table_find(to, bytes, &offset) || bursts_are_open(to, from, bytes))
            break;
    }
}

static int is_removed(const char *path)
{
    struct stat st;

    return stat(path, &st) && errno == ENOENT;
}

/* Copies the live file of a process that exists or may exist. Its state does not matter: a process
 * that is ending still drains. A live file that has gone was removed behind its trace's END. That
 * trace has everything. A process that is over may have removed its file after the open here. */
static void take(struct dft_source *source, struct dft_source_file *file, struct dft_mapped *mapped)
{
    const unsigned long before = dft_bus_pages();
    struct stat st;
    const struct dft_live *live;
    void *bytes = MAP_FAILED;
    size_t length;
    int fd = dft_open_regular(file->path, O_RDONLY, &st);

    if (fd < 0) {
        file->gone = fd == -ENOENT;
        return;
    }
    if (!dft_live_length(fd, &st, &length, NULL) && length >= DFT_LIVE_PAGE)
        bytes = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED) {
        close(fd);
        return;
    }
    live = bytes;
    if (__atomic_load_n(&live->magic, __ATOMIC_ACQUIRE) == DFT_LIVE_MAGIC) {
        file->key = live->key;
        file->life = (uint8_t)dft_life_of_live(mapped, live, fd);
        file->seen_ns = file->life == DFT_LIFE_RUNNING ? dft_life_now_ns(live) : 0;
        if (file->life != DFT_LIFE_OVER)
            file->snapshot = calloc(1, length);
        else
            file->gone = (uint8_t)is_removed(file->path);
    }
    if (file->snapshot) {
        file->bytes = length;
        copy_live(file->snapshot, bytes, length, fd);
        if (file->seen_ns && dft_life_has_pid(live))
            dft_live_paths(file->snapshot, live, length);
    }
    close(fd);
    munmap(bytes, length);
    if (dft_bus_pages() != before)
        dft_source_note(source, 1, "%s: %lu pages of it cannot be read: it was cut, or its file system is full",
                        file->path, dft_bus_pages() - before);
}

/* Did the process end after the copy was made? The trace then has everything, and the copy's
 * account of the end is old. */
static int has_gone(struct dft_source_file *file)
{
    if (!is_removed(file->path))
        return 0;
    free(file->snapshot);
    file->snapshot = NULL;
    file->gone = 1;
    return 1;
}

static void take_all(struct dft_source *source, struct dft_scanned *scanned)
{
    struct dft_mapped mapped = {0};

    for (uint32_t f = 0; f < source->nfiles; f++) {
        struct dft_source_file *file = &source->files[f];

        if (file->kind != DFT_FILE_LIVE || file->error || file->snapshot || file->gone || file->life == DFT_LIFE_OVER)
            continue;
        take(source, file, &mapped);
        if (file->snapshot || file->gone)
            scanned[f].looked = 0; /* look for its trace */
    }
    free(mapped.list);
}

/* Returns whether any file has gone since it was copied. That is not checked in late rounds: processes
 * that end one after another would make rounds without end. A copy of what has gone since is as
 * good as one of a running process. */
static int let_go(struct dft_source *source, int is_late)
{
    int any = 0;

    for (uint32_t f = 0; f < source->nfiles; f++) {
        struct dft_source_file *file = &source->files[f];

        if (file->kind != DFT_FILE_LIVE)
            continue;
        any |= file->snapshot && !is_late && has_gone(file);
        if (file->gone)
            file->key = 0;
    }
    return any;
}

/* --- traces that grow ------------------------------------------------------------------------- */

static int has_end(const struct dft_scanned *scanned)
{
    size_t begun = 0, ended = 0;

    for (size_t i = 0; i < scanned->nrecords; i++) {
        begun += scanned->records[i].type == DFT_BLOCK_PROCESS;
        ended += scanned->records[i].type == DFT_BLOCK_END;
    }
    return ended && ended >= begun;
}

/* Is the job over? Nothing is then scanned again. */
static int is_over(const struct dft_source *source, const struct dft_scanned *scanned)
{
    for (uint32_t f = 0; f < source->nfiles; f++)
        if (source->files[f].kind == DFT_FILE_LIVE ||
            (source->files[f].kind == DFT_FILE_TRACE && !source->files[f].error && !has_end(&scanned[f])))
            return 0;
    return 1;
}

static int has_grown(const struct dft_source_file *file)
{
    struct stat st;

    return file->kind == DFT_FILE_TRACE && !file->error && !stat(file->path, &st) &&
           (uint64_t)st.st_size != file->bytes;
}

/* A block that is being written is not damaged: it is whole in a moment. */
static int scan_growing(struct dft_source *source, uint32_t file, struct dft_scanned *scanned)
{
    const struct timespec pause = {0, SCAN_EVERY_NS};
    int rc = dft_scan_again(source, file, scanned);

    for (int i = 0; !rc && i < SCANS_MAX && (source->files[file].skipped.damaged || source->files[file].skipped.bytes);
         i++) {
        nanosleep(&pause, NULL);
        rc = dft_scan_again(source, file, scanned);
    }
    return rc;
}

struct growing {
    struct dft_source *source;
    struct dft_scanned *scanned;
};

static int scan_piece(void *context, unsigned worker, size_t from, size_t to)
{
    struct growing *growing = context;
    int rc = 0;

    (void)worker;
    for (size_t f = from; !rc && f < to; f++)
        if (has_grown(&growing->source->files[f]))
            rc = scan_growing(growing->source, (uint32_t)f, &growing->scanned[f]);
    return rc;
}

/* Scans the traces again whose size has changed. */
static int scan_grown(struct dft_source *source, struct dft_scanned *scanned)
{
    struct growing growing = {source, scanned};

    return is_over(source, scanned) ? 0 : dft_work_run(source->threads, source->nfiles, 1, scan_piece, &growing);
}

int dft_scan_gone(struct dft_source *source, struct dft_scanned *scanned)
{
    int rc = 0;

    for (uint32_t f = 0; !rc && f < source->nfiles; f++) {
        struct dft_source_file *file = &source->files[f];

        if (file->kind != DFT_FILE_LIVE || !file->gone || !file->key)
            continue;
        file->key = 0;
        if (file->trace && has_grown(&source->files[file->trace - 1]))
            rc = scan_growing(source, file->trace - 1, &scanned[file->trace - 1]);
    }
    return rc;
}

/* A trace has grown since files beside it were looked for. Its live file may have appeared, too. A
 * live file that was not there when PROCESS was does not appear any more. */
static int is_unknown(const struct dft_source *source, const struct dft_scanned *scanned)
{
    for (uint32_t f = 0; f < source->nfiles; f++)
        if (source->files[f].kind == DFT_FILE_TRACE && !scanned[f].looked && !source->files[f].has_live &&
            source->files[f].sought < DFT_SOUGHT_MAX && !has_end(&scanned[f]))
            return 1;
    return 0;
}

/* Counts the live files that were made ready between two looks, and so are not copied. */
static uint32_t count_ready(const struct dft_source *source)
{
    uint32_t count = 0;

    for (uint32_t f = 0; f < source->nfiles; f++) {
        const struct dft_source_file *file = &source->files[f];

        count += file->kind == DFT_FILE_LIVE && file->trace && !file->key && !file->gone;
    }
    return count;
}

/* The files that were listed are so many, so rounds come to an end. */
int dft_live_snapshots(struct dft_source *source, struct dft_scanned **scanned)
{
    int rc = 0, again = 1;

    for (int round = 1; !rc && again; round += round < ROUNDS_MAX) {
        uint32_t known = source->nfiles, ready;

        take_all(source, *scanned);
        ready = count_ready(source);
        rc = dft_find_beside(source, scanned);
        again = source->nfiles != known || count_ready(source) > ready;
        if (!rc)
            rc = scan_grown(source, *scanned);
        again |= let_go(source, round == ROUNDS_MAX) || is_unknown(source, *scanned);
    }
    return rc;
}
