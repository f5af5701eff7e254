/* Live files of processes that go on while they are read.
 *
 * The copy comes first, then the trace is scanned again. A drain frees slots only after their records stand in the trace, so a
 * record is in the copy, in the trace, or in both; and a slot that was filled anew while it was copied had a number that the trace holds,
 * so that what the copy says of it is passed over. */
#include "source_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "live.h"

#define BYTES_MAX     (UINT64_C(1) << 34)
#define SCANS_MOST    20
#define SCAN_EVERY_NS 2000000

/* One slot: its marker before its contents, and once more behind them. */
static void copy_slot(struct dft_slot *to, const struct dft_slot *from)
{
    uint32_t marker = atomic_load_explicit(&((struct dft_slot *)(uintptr_t)from)->marker, memory_order_acquire);

    memcpy((char *)to + sizeof marker, (const char *)from + sizeof marker, sizeof *to - sizeof marker);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&((struct dft_slot *)(uintptr_t)from)->marker, memory_order_relaxed) != marker)
        marker = (marker & ~3u) | DFT_SLOT_BUSY;
    atomic_store_explicit(&to->marker, marker, memory_order_relaxed);
}

/* All of it. Where no ring is, pages of 64 byte pieces do as well. */
static void copy(char *to, const char *from, size_t bytes)
{
    size_t at = 0;

    for (; at + sizeof(struct dft_slot) <= bytes; at += sizeof(struct dft_slot))
        if (at % DFT_LIVE_PAGE || ((const struct dft_ring *)(const void *)(from + at))->magic != DFT_RING_MAGIC ||
            bytes - at < DFT_LIVE_PAGE) {
            copy_slot((struct dft_slot *)(void *)(to + at), (const struct dft_slot *)(const void *)(from + at));
        } else {
            dft_live_copy_head((struct dft_ring *)(void *)(to + at),
                               (const struct dft_ring *)(const void *)(from + at));
            at += DFT_LIVE_PAGE - sizeof(struct dft_slot);
        }
    memcpy(to + at, from + at, bytes - at);
}

/* Returns 1 when its process is running and there is a copy, or when it has gone; 0: it can be read as it is. */
static int take(struct dft_source_file *file)
{
    struct stat st;
    const struct dft_live *live;
    void *bytes = MAP_FAILED;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC), is_running = 0;

    if (fd < 0) {
        file->gone = errno == ENOENT;
        return file->gone;
    }
    if (!fstat(fd, &st) && st.st_size >= (off_t)DFT_LIVE_PAGE && (uint64_t)st.st_size < BYTES_MAX)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return 0;
    live = bytes;
    if (live->magic == DFT_LIVE_MAGIC && atomic_load(&((struct dft_live *)bytes)->state) == DFT_LIVE_RUNNING &&
        dft_pid_is_alive(live->pid, live->start_ns) && (file->snapshot = malloc((size_t)st.st_size))) {
        file->is_snapshot = 1;
        file->bytes = (uint64_t)st.st_size;
        file->key = live->key;
        copy(file->snapshot, bytes, (size_t)st.st_size);
        is_running = 1;
    }
    munmap(bytes, (size_t)st.st_size);
    return is_running;
}

/* Is this the trace of that live file? */
static int belongs(const struct dft_source_file *trace, const struct dft_scanned *scanned,
                   const struct dft_source_file *live)
{
    size_t n = strlen(trace->path);

    if (trace->kind != DFT_FILE_TRACE)
        return 0;
    for (size_t i = 0; live->key && i < scanned->count; i++)
        if (scanned->keys[i] == live->key)
            return 1;
    return !strncmp(live->path, trace->path, n) && !strcmp(live->path + n, ".live");
}

/* A block that is being written is not damaged: it is whole in a moment. */
static int scan_growing(struct dft_source *source, uint32_t file, struct dft_scanned *scanned)
{
    const struct timespec pause = {0, SCAN_EVERY_NS};
    int rc = dft_scan_again(source, file, scanned);

    for (int i = 0; !rc && i < SCANS_MOST && (source->files[file].skipped.damaged || source->files[file].skipped.bytes);
         i++) {
        nanosleep(&pause, NULL);
        rc = dft_scan_again(source, file, scanned);
    }
    return rc;
}

int dft_live_snapshots(struct dft_source *source, struct dft_scanned *scanned)
{
    int rc = 0;

    for (uint32_t f = 0; !rc && f < source->nfiles; f++) {
        struct dft_source_file *live = &source->files[f];

        if (live->kind != DFT_FILE_LIVE || live->error || !take(live))
            continue;
        for (uint32_t trace = 0; !rc && trace < source->nfiles; trace++)
            if (belongs(&source->files[trace], &scanned[trace], live))
                rc = scan_growing(source, trace, &scanned[trace]);
        if (live->gone)
            live->key = 0;
    }
    return rc;
}
