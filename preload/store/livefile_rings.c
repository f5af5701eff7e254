/* SPDX-License-Identifier: MIT */
/* Owns the rings of the live file, and its lock.
 *
 * Small rings are made ahead in batches. The more small rings exist, the larger is the next batch.
 * One thread that finds no ring extends the file and maps the batch, under a lock. Other threads
 * that begin take a ring of the latest batch by one atomic addition, without the lock. So thousands
 * of threads that begin at once extend and map one file some dozens of times. No thread sleeps
 * while a large ring is made. Rings of other sizes are made one by one. A ring that was made ahead
 * and not used is a hole of zeros to readers. */
#include "store/livefile_rings.h"

#include <errno.h>
#include <sys/mman.h>

#include "os/bulk.h"
#include "os/memory.h"
#include "format/live_table.h"
#include "store/livefile.h"
#include "store/notes.h"
#include "os/sys.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define AHEAD_SHARE 4u /* 1/4 of the number in use is made ahead */
#define AHEAD_MAX   64u

static struct dft_spin making; /* guards the choice of file, its size, and the state below */
static uint32_t streams;       /* atomic */

/* Small rings that are mapped. A batch is filled in under the lock, and then published through
 * `batch`. Its entry is never used again. */
#define BATCHES_MAX 512u
static struct batch {
    char *at;
    uint64_t offset;
    uint32_t count;
    uint32_t taken; /* atomic; may exceed `count`, by threads that came too late */
} batches[BATCHES_MAX] DFT_BULK;
static struct batch *batch; /* atomic: the latest batch; NULL: this file has none */
static uint32_t nbatches;   /* with the lock */
/* atomic: number of unlocks; threads that wait for a ring sleep on this word */
static uint32_t rounds;
static uint32_t waiting;     /* atomic: number of threads that wait */
static uint32_t small_rings; /* made so far; under the lock all but the latest batch are in use */

void dft_livefile_lock(void)
{
    dft_spin_lock(&making);
}

int dft_livefile_is_locked(void)
{
    return __atomic_load_n(&making.held, __ATOMIC_SEQ_CST) != 0;
}

void dft_livefile_unlock(uint32_t most)
{
    dft_spin_unlock(&making);
    __atomic_add_fetch(&rounds, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST))
        dft_futex_wake(&rounds, most);
}

/* Extends the file by this many bytes and maps them at *offset. NULL: the file has no space for
 * them. */
static void *extend(size_t bytes, uint64_t *offset)
{
    void *at;

    *offset = atomic_load(&dft_live->size);
    at = dft_livefile_map(bytes, *offset);
    if (at)
        atomic_store(&dft_live->size, *offset + bytes);
    return at;
}

/* Takes the batch's next ring. NULL: none is left. */
static void *take_ahead(struct batch *from, uint64_t *offset)
{
    const size_t bytes = dft_livefile_pages(dft_ring_bytes(DFT_FIRST_SLOTS));
    uint32_t i = from ? __atomic_fetch_add(&from->taken, 1, __ATOMIC_RELAXED) : 0;

    if (!from || i >= from->count)
        return NULL;
    *offset = from->offset + i * bytes;
    return from->at + i * bytes;
}

/* Lets threads take the batch's rings, under the lock. */
static void publish(struct batch *next, uint32_t count)
{
    next->count = count;
    next->taken = 0;
    nbatches++;
    small_rings += count;
    __atomic_store_n(&batch, next, __ATOMIC_RELEASE);
}

/* Makes a batch and takes its first ring, under the lock. NULL: no space. */
static void *make_ahead(uint64_t *offset)
{
    const size_t bytes = dft_livefile_pages(dft_ring_bytes(DFT_FIRST_SLOTS));
    uint32_t more = small_rings / AHEAD_SHARE < AHEAD_MAX ? small_rings / AHEAD_SHARE : AHEAD_MAX;
    struct batch *next = &batches[nbatches];

    if (more > 1 && nbatches < BATCHES_MAX && (next->at = extend(more * bytes, &next->offset))) {
        publish(next, more);
        return take_ahead(next, offset);
    }
    small_rings++;
    return extend(bytes, offset);
}

static void wait_for_rings(uint32_t round)
{
    __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    dft_futex_wait(&rounds, round);
    __atomic_sub_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
}

static void *take_small(uint64_t *offset)
{
    for (;;) {
        uint32_t round = __atomic_load_n(&rounds, __ATOMIC_SEQ_CST);
        void *at = take_ahead(__atomic_load_n(&batch, __ATOMIC_ACQUIRE), offset);

        if (at)
            return at;
        if (dft_spin_try(&making)) {
            at = take_ahead(batch, offset); /* another thread may have made a batch meanwhile */
            if (!at)
                at = make_ahead(offset);
            dft_livefile_unlock(AHEAD_MAX + 1);
            return at;
        }
        wait_for_rings(round);
    }
}

static void *take_large(size_t bytes, uint64_t *offset)
{
    void *at;

    dft_livefile_lock();
    at = extend(bytes, offset);
    dft_livefile_unlock(1);
    return at;
}

/* `may_be_plain`: allow plain memory also where a file exists that has no space. */
static struct dft_ring *make_ring(uint32_t slots, uint32_t tid, uint64_t base, int may_be_plain)
{
    size_t bytes = dft_livefile_pages(dft_ring_bytes(slots));
    uint64_t offset = 0;
    struct dft_ring *ring = slots == DFT_FIRST_SLOTS ? take_small(&offset) : take_large(bytes, &offset);

    if (!ring) {
        offset = 0;
        if (dft_livefile_path[0] && !may_be_plain)
            return NULL;
        if (dft_livefile_path[0])
            dft_process_note(DFT_NOTE_PLAIN_RINGS);
        ring = dft_sys_map(bytes);
    }
    if (!ring)
        return NULL;
    ring->stream = __atomic_fetch_add(&streams, 1, __ATOMIC_RELAXED);
    ring->tid = tid;
    ring->capacity = slots;
    ring->shift = (uint32_t)__builtin_ctz(slots);
    ring->base = base;
    ring->offset = offset;
    atomic_store(&ring->head, base);
    /* a thread that begins while there is a request looks at once */
    atomic_store(&ring->tail, offset && dft_control_is_asked(dft_live) ? base | DFT_RING_ASKED : base);
    __atomic_store_n(&ring->magic, DFT_RING_MAGIC, __ATOMIC_RELEASE);
    return ring;
}

struct dft_ring *dft_livefile_ring(uint32_t slots, uint32_t tid, uint64_t base)
{
    return make_ring(slots, tid, base, 1);
}

struct dft_ring *dft_livefile_lasting_ring(uint32_t slots, uint32_t tid, uint64_t base)
{
    return make_ring(slots, tid, base, 0);
}

void dft_livefile_ring_idle(struct dft_ring *ring)
{
    char *slots = (char *)ring + DFT_LIVE_PAGE;
    size_t bytes = dft_ring_bytes(ring->capacity) - DFT_LIVE_PAGE;

    if (!ring->offset || DFT_SYS(madvise, slots, bytes, MADV_REMOVE, 0, 0, 0) < 0)
        DFT_SYS(madvise, slots, bytes, MADV_DONTNEED, 0, 0, 0);
}

/* For kernels before 5.14. */
static int write_again(const struct dft_ring *ring, size_t bytes)
{
    int result;

    dft_livefile_lock();
    result = dft_livefile_write(ring->offset + DFT_LIVE_PAGE, bytes);
    dft_livefile_unlock(1);
    return result;
}

int dft_livefile_ring_again(struct dft_ring *ring)
{
    char *slots = (char *)ring + DFT_LIVE_PAGE;
    size_t bytes = dft_ring_bytes(ring->capacity) - DFT_LIVE_PAGE;
    int result;

    if (!ring->offset)
        return 0;
    result = (int)DFT_SYS(madvise, slots, bytes, MADV_POPULATE_WRITE, 0, 0, 0);
    if (result == -EINVAL)
        result = write_again(ring, bytes);
    if (!result)
        return 0;
    result = (int)dft_memory_replace(slots, bytes);
    if (!result)
        ring->offset = 0;
    return result;
}

void dft_livefile_ring_detach(struct dft_ring *ring)
{
    uint32_t capacity = ring->capacity, shift = ring->shift;

    if (!dft_memory_replace(ring, dft_ring_bytes(capacity))) {
        ring->capacity = capacity;
        ring->shift = shift;
    }
}

struct dft_live_table *dft_livefile_table(void)
{
    uint64_t offset = 0;
    struct dft_live_table *table = take_large(dft_livefile_pages(DFT_LIVE_TABLE_BYTES), &offset);

    if (!table)
        return NULL;
    table->offset = offset;
    table->call_stream = __atomic_fetch_add(&streams, 2, __ATOMIC_RELAXED);
    table->file_stream = table->call_stream + 1;
    return table;
}

/* A step that a handler has interrupted, and forked, ends in the child in an empty table. */
void dft_livefile_table_detach(struct dft_live_table *table)
{
    uint64_t width_ns = table->width_ns;

    if (dft_memory_replace(table, DFT_LIVE_TABLE_BYTES))
        return;
    table->bytes = DFT_LIVE_TABLE_BYTES;
    table->width_ns = width_ns;
    atomic_store(&table->low, DFT_LIVE_ARENA);
    atomic_store(&table->high, DFT_LIVE_TABLE_BYTES / 8);
}

void dft_livefile_ring_ahead(void *at, uint64_t offset)
{
    struct batch *next = &batches[nbatches];

    if (nbatches == BATCHES_MAX)
        return;
    next->at = at;
    next->offset = offset;
    publish(next, 1);
}

void dft_livefile_rings_moved(void)
{
    __atomic_store_n(&batch, NULL, __ATOMIC_RELAXED);
}

void dft_livefile_rings_forget(void)
{
    streams = nbatches = small_rings = 0;
    batch = NULL;
    making.held = waiting = 0;
}
