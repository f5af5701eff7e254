/* SPDX-License-Identifier: MIT */
/* The live file (.dft.live): the rings of a running process, mapped shared, so that they outlive
 * it.
 *
 * Page 0 is struct dft_live. Rings follow, each struct dft_ring in a page of its own and then its
 * slots; the next begins where the last one ends, or, where the writer's machine has larger pages
 * than the 4,096 bytes meant here, at the next multiple of those; zeros lie between. A ring that
 * could not be had leaves a hole of zeros.
 *
 * A ring has one writer, its thread (and the thread's signal handlers). Slots go FREE -> BUSY ->
 * VALID -> FREE; a continuation of a record goes FREE -> BUSY -> PART -> FREE. A sequence number is
 * a reservation count; the slot's index is its lowest bits, the rest is its lap, kept in the marker
 * beside the state.
 *
 *   who                        may do                                            with whom at the same time
 *   owner, its handlers        reserve (xadd head), FREE -> BUSY -> VALID/PART    each other, one drain
 *   drain (one: lock)          VALID/PART -> FREE, tail                           owner
 *   dftmerge                   read                                              all
 *   dftmerge control           store `request`, set DFT_RING_ASKED in tails      all
 */
#ifndef DFT_FORMAT_LIVE_FORMAT_H
#define DFT_FORMAT_LIVE_FORMAT_H

#include <stdatomic.h>
#include <stddef.h>

#include "format/clock.h"
#include "format/event.h"
#include "format/format.h"

#define DFT_LIVE_MAGIC       UINT64_C(0x0a1a0d766c746664) /* bytes "dftlv\r\x1a\n" */
#define DFT_RING_MAGIC       UINT64_C(0x676e697274666400)
#define DFT_LIVE_VERSION     8
#define DFT_LIVE_PAGE        4096u
#define DFT_RING_SLOTS_MAX   4096u
#define DFT_OPEN_REGIONS     64u /* regions nested deeper are counted, their names are not kept here */
#define DFT_ARGS_BYTES       1024u
#define DFT_RECORD_SLOTS_MAX 200u
#define DFT_BURSTS           4u
#define DFT_BOOT_ID_ROOM     40u
#define DFT_BURST_CALL_BITS  28u
#define DFT_BURST_STREAMS    0x80000000u /* + a ring's stream: where its open runs are read as events */

enum dft_live_state { DFT_LIVE_RUNNING = 1, DFT_LIVE_EXEC = 2, DFT_LIVE_CLEAN = 3, DFT_LIVE_FATAL = 4 };

/* Since when something was kept, and what: a pair of PROCESS's KEPT (kept.h), in a form that a reader can copy
 * meanwhile. */
struct dft_live_kept {
    uint64_t time_ns; /* Unix */
    uint64_t what;    /* the second number of the pair */
};
#define DFT_LIVE_KEPT 64u

struct dft_live {
    uint64_t magic;
    uint32_t version;
    _Atomic uint32_t state;
    uint64_t key;
    uint64_t rows_id;     /* dft_call_rows_id of the writer */
    uint32_t pid, metric; /* metric: enum dft_time_metric */
    uint64_t start_ns;    /* Unix ns of load or fork: a process with this pid that began later is another one */
    uint64_t interval_ns;
    struct dft_clock clock;
    _Atomic uint64_t size;   /* bytes in use: where the next ring goes */
    _Atomic uint64_t events; /* written to blocks */
    _Atomic uint64_t overhead_ns;
    _Atomic uint32_t exit_kind, status; /* enum dft_ending of a process that came to its end, and its status */
    _Atomic uint64_t ended_ns;          /* Unix ns; 0: not yet. Regions that are open then end with it */
    _Atomic uint64_t dropped[DFT_DROP_LAST + 1];
    /* Where `pid` means the process, and what the process has mapped: by these a reader finds out
     * whether it still runs. */
    char boot_id[DFT_BOOT_ID_ROOM]; /* of the machine since its last start, with a NUL; "": not known */
    uint64_t pid_namespace;         /* inode of the PID namespace; 0: not known */
    uint64_t device, inode;         /* of this file, as it was made: a copy has others */
    uint64_t trace_device, trace_inode;
    /* dftmerge control: what is requested, what a thread has begun to do, and what was done. The
     * lowest byte is enum dft_control, enum dft_control and enum dft_controlled; the rest is the
     * number of the request, 0: there was none. */
    _Atomic uint64_t request, taken, answer;
    int64_t clock_offset; /* Unix ns - CLOCK_MONOTONIC ns of the process */
    /* The last pairs of KEPT: PROCESS in the trace lacks some of them. Pair n of `nkept` is at n % DFT_LIVE_KEPT. */
    _Atomic uint64_t nkept;
    struct dft_live_kept kept[DFT_LIVE_KEPT];
};

enum dft_control {
    DFT_CONTROL_EVENTS = 1,
    DFT_CONTROL_AGGREGATES = 2,
    DFT_CONTROL_PAUSE = 3,
    DFT_CONTROL_RESUME = 4,
    DFT_CONTROL_FLUSH = 5,
};
#define DFT_CONTROL_SHIFT 8u

enum dft_controlled {
    DFT_CONTROLLED_DONE = 1,
    DFT_CONTROLLED_ALREADY = 2,    /* it was so */
    DFT_CONTROLLED_NOT_PAUSED = 3, /* resume: by control it was not */
    DFT_CONTROLLED_LIMITED = 4,    /* events: a limit of size or cost holds them back */
    DFT_CONTROLLED_UNKNOWN = 5,    /* no such request */
};

/* Is there a request that nobody has taken? */
static inline int dft_control_is_asked(const struct dft_live *live)
{
    struct dft_live *head = (struct dft_live *)(uintptr_t)live;

    return atomic_load_explicit(&head->request, memory_order_acquire) >> DFT_CONTROL_SHIFT !=
           atomic_load_explicit(&head->taken, memory_order_relaxed) >> DFT_CONTROL_SHIFT;
}

enum dft_slot_state { DFT_SLOT_FREE = 0, DFT_SLOT_BUSY = 1, DFT_SLOT_VALID = 2, DFT_SLOT_PART = 3 };
#define DFT_SLOT_STATE_BITS 2u
#define DFT_SLOT_STATE_MASK 3u
#define DFT_SLOT_LAP_MASK   (UINT32_MAX >> DFT_SLOT_STATE_BITS)

/* First slot of a record. */
struct dft_slot {
    _Atomic uint32_t marker; /* lap << 2 | state; the lap is cut to 30 bits */
    uint32_t size;           /* bytes requested; flags where no bytes are moved */
    uint64_t start;          /* ticks */
    uint32_t duration;       /* ticks */
    uint16_t call;           /* enum dft_call_number, and DFT_SLOT_* above DFT_SLOT_CALL_BITS */
    uint8_t bits;            /* DFT_BIT_*, DFT_SLOT_* */
    uint8_t slots;           /* of the whole record */
    uint64_t file;
    int64_t result;
    int64_t offset; /* -1 none; mode for OPEN and MKDIR */
    uint64_t region;
    int32_t fd;
    uint16_t err;
    uint16_t depth;
};
_Static_assert(sizeof(struct dft_slot) == 64, "a slot is a cache line");

/* Bits of a slot beyond DFT_BIT_* (below 32). */
#define DFT_SLOT_UNIT        32u /* result is items | unit << 32 */
#define DFT_SLOT_PHASE_SHIFT 6   /* two bits: COMPLETE, BEGIN, END, INSTANT; others in an extension */

/* Bits of `call` above the number. */
#define DFT_SLOT_CALL_BITS 12u
#define DFT_SLOT_CALL_MASK 0xfffu
#define DFT_SLOT_TURN      0x8000u /* DFT_BIT_TURN */
#define DFT_SLOT_IO_SHIFT  12u     /* three bits: enum dft_io + 1; 0: that of the operation */
#define DFT_SLOT_KEY_MASK  0x7fffu /* what tells calls apart: number and class */
#define DFT_SLOT_IO_MASK   0x7000u

static inline uint32_t dft_slot_number(uint32_t call)
{
    return call & DFT_SLOT_CALL_MASK;
}

/* The class that `call` of a slot has besides its number, or `otherwise`. */
static inline uint8_t dft_slot_io(uint32_t call, uint8_t otherwise)
{
    uint32_t io = call >> DFT_SLOT_IO_SHIFT & 7;

    return io ? (uint8_t)(io - 1) : otherwise;
}

/* The bits of `call` above the number. io: enum dft_io + 1, or 0; bits: DFT_BIT_TURN of these. */
static inline uint32_t dft_slot_marks(uint32_t io, uint32_t bits)
{
    return io << DFT_SLOT_IO_SHIFT | (bits & DFT_BIT_TURN) << 10;
}
_Static_assert(DFT_BIT_TURN << 10 == DFT_SLOT_TURN, "the bit is moved");

/* Further slots: `payload` of all of them together is a list of items. */
#define DFT_PART_BYTES 56u
struct dft_slot_part {
    _Atomic uint32_t marker;
    uint16_t part; /* 1, 2, ... */
    uint16_t used;
    uint8_t payload[DFT_PART_BYTES];
};
_Static_assert(sizeof(struct dft_slot_part) == 64, "a part is a slot");

/* An item: tag (one byte), then the value. */
enum dft_item {
    DFT_ITEM_DURATION = 1,    /* u64 ticks */
    DFT_ITEM_SIZE = 2,        /* u64 */
    DFT_ITEM_FLAGS = 3,       /* u32 */
    DFT_ITEM_FILE2 = 4,       /* u64 name id */
    DFT_ITEM_UNIT = 5,        /* u32 */
    DFT_ITEM_CALLS = 6,       /* u32 */
    DFT_ITEM_PHASE = 7,       /* u8 */
    DFT_ITEM_ID = 8,          /* u64 */
    DFT_ITEM_ARG_INT = 9,     /* u64 key, i64 */
    DFT_ITEM_ARG_DOUBLE = 10, /* u64 key, double */
    DFT_ITEM_ARG_STRING = 11, /* u64 key, u32 length, bytes */
    DFT_ITEM_MODE = 13,       /* u32 */
    DFT_ITEM_STACK = 14,      /* u64 name id */
    DFT_ITEM_CHILD = 15, /* u64 process key, u32 pid; the first item: a vfork child's record, in its parent's ring */
    DFT_ITEM_TEXT = 12,  /* of a DFT_CALL_NAME record: u32 length, bytes to its end; the id is the record's file */
};

struct dft_open_region {
    uint64_t name; /* 0: its event is in a block */
    uint64_t
        start; /* ticks, and DFT_REGION_CLAIMED; 0: a span that goes on in this thread, it has an event of its own */
};
#define DFT_REGION_CLAIMED (UINT64_C(1) << 63)

/* Who claims it puts the region's event: its thread, or whoever ends the process meanwhile. Returns
 * its name; 0: the other was first. That it is claimed does not say that its event got anywhere
 * before the process was gone. */
static inline uint64_t dft_region_claim(struct dft_open_region *region)
{
    uint64_t start = __atomic_fetch_or(&region->start, DFT_REGION_CLAIMED, __ATOMIC_ACQ_REL);

    return start & DFT_REGION_CLAIMED ? 0 : __atomic_load_n(&region->name, __ATOMIC_RELAXED);
}

/* Which items of a ring's `args` are an open region's, in one word: from | end << 16. They are
 * whole; what lies behind the end is being put together. DFT_ARGS_CUT in either half: not all were
 * kept, in the upper one of this region's, in the lower one (its owner's affair) of those around
 * it. */
#define DFT_ARGS_CUT           0x8000u
#define DFT_REGION_ARGS_CUT    (DFT_ARGS_CUT << 16)
#define DFT_REGION_ARGS_HIDDEN 0x40000000u /* they are being moved: the end is then beyond all that there is */

static inline uint32_t dft_region_args_from(uint32_t word)
{
    return word & ~DFT_ARGS_CUT & 0xffff;
}

static inline uint32_t dft_region_args_end(uint32_t word)
{
    return (word & ~DFT_REGION_ARGS_CUT) >> 16;
}

static inline uint64_t dft_region_start(const struct dft_open_region *region)
{
    return __atomic_load_n(&region->start, __ATOMIC_RELAXED) & ~DFT_REGION_CLAIMED;
}

/* How a process came to its end, for the regions that are open then: the argument DFT_ENDED_BY of
 * their events says it. */
struct dft_ended {
    uint64_t time_ns;  /* Unix ns; 0: it has not, or not known when */
    uint8_t exit_kind; /* enum dft_ending */
};
#define DFT_ENDED_BY "ended_by"

/* An unbroken run of one call on characters or lines of one stream, not yet a record. The owner
 * puts the record into a ring, whose stream and number it notes here first, and then ends the run:
 * so that off line it is counted once. */
struct dft_burst {
    _Atomic uint32_t call;  /* set last, cleared first; 0: no run */
    uint32_t io;            /* class of its calls: enum dft_io + 1; 0: that of the operation */
    _Atomic uint64_t moved; /* bytes << DFT_BURST_CALL_BITS | calls, in one number, so that they always fit together */
    uint64_t file, region;
    uint64_t start, duration; /* ticks; the duration is that of the calls which found the stream's buffer exhausted */
    int64_t offset;
    int32_t fd;
    uint16_t depth;
    uint8_t bits;
    uint8_t pad2;
    uint32_t record_stream;
    _Atomic uint64_t record; /* sequence number + 1; 0: none yet */
};

static inline uint64_t dft_burst_pack(uint32_t calls, uint64_t bytes)
{
    return bytes << DFT_BURST_CALL_BITS | calls;
}

static inline uint32_t dft_burst_calls(const struct dft_burst *run)
{
    return (uint32_t)atomic_load_explicit(&((struct dft_burst *)(uintptr_t)run)->moved, memory_order_relaxed) &
           ((1u << DFT_BURST_CALL_BITS) - 1);
}

static inline uint64_t dft_burst_bytes(const struct dft_burst *run)
{
    return atomic_load_explicit(&((struct dft_burst *)(uintptr_t)run)->moved, memory_order_relaxed) >>
           DFT_BURST_CALL_BITS;
}

struct dft_ring {
    uint64_t magic;
    uint32_t stream; /* number of the ring in the process */
    uint32_t tid;
    uint32_t capacity;     /* slots, a power of two */
    uint32_t shift;        /* log2 of it */
    uint64_t base;         /* the first sequence number of this ring */
    uint64_t offset;       /* of the ring in the live file; 0: it is plain memory */
    _Atomic uint64_t head; /* next sequence number */
    _Atomic uint64_t tail; /* all below were drained, or passed over as pending */
    _Atomic uint64_t dropped[DFT_DROP_LAST + 1];
    /* The call in flight: call is set last before it and cleared first after it. */
    _Atomic uint32_t flight_call;
    int32_t flight_fd;
    uint64_t flight_start, flight_file;
    /* The open regions; depth may exceed DFT_OPEN_REGIONS. */
    _Atomic uint32_t depth;
    _Atomic uint32_t bursts_busy; /* the owner is at its runs: nobody else may be, its handlers included */
    struct dft_open_region regions[DFT_OPEN_REGIONS];
    struct dft_burst bursts[DFT_BURSTS];
    _Atomic uint64_t misuse[DFT_MISUSE_LAST + 1];
    _Atomic uint64_t spans_begun, spans_ended; /* by this thread: their sums over threads tell how many are open */
    _Atomic uint32_t paused;                   /* what is recorded here is not kept, but for names */
    _Atomic uint32_t requests;                 /* 1: its slots are requests, see below */
    _Atomic uint64_t bursts_taken; /* runs that went into blocks from here: where the numbers of the next ones begin */
    _Atomic uint32_t region_args[DFT_OPEN_REGIONS];
    uint8_t args[DFT_ARGS_BYTES]; /* items of the open regions, the outermost's first */
    /* Pauses of the thread that KEPT does not tell: how many, how long those were that are over, and since when one
     * goes on (Unix ns; 0: none does). */
    _Atomic uint64_t pauses, paused_ns, paused_since;
};
_Static_assert(sizeof(struct dft_ring) <= DFT_LIVE_PAGE, "the ring's head is one page");

/* In a tail: the owner is to drain at its next record, and to look for a request. Its next drain
 * clears it. */
#define DFT_RING_ASKED (UINT64_C(1) << 63)

static inline uint64_t dft_ring_tail(const struct dft_ring *ring)
{
    return atomic_load_explicit(&((struct dft_ring *)(uintptr_t)ring)->tail, memory_order_relaxed) & ~DFT_RING_ASKED;
}

/* A ring with `requests` has no owner, and no records: its slots are the asynchronous requests that
 * are outstanding. Each has the call, start, size, offset, file, fd, region, depth and
 * bits, its id as the result, its thread as the duration and the size beyond 32 bits as the errno;
 * the marker is id << 2 | DFT_SLOT_VALID. */
static inline struct dft_slot *dft_ring_slot(const struct dft_ring *ring, uint64_t sequence)
{
    return (struct dft_slot *)((char *)(uintptr_t)ring + DFT_LIVE_PAGE) + (sequence & (ring->capacity - 1));
}

static inline enum dft_slot_state dft_slot_state(uint32_t marker)
{
    return (enum dft_slot_state)(marker & DFT_SLOT_STATE_MASK);
}

/* How many laps a marker is ahead of this lap; those of a marker behind it come out as very
 * many. */
static inline uint32_t dft_slot_laps_ahead(uint32_t marker, uint32_t lap)
{
    return ((marker >> DFT_SLOT_STATE_BITS) - lap) & DFT_SLOT_LAP_MASK;
}

static inline uint32_t dft_ring_marker(const struct dft_ring *ring, uint64_t sequence, enum dft_slot_state state)
{
    return (uint32_t)(sequence >> ring->shift) << DFT_SLOT_STATE_BITS | (uint32_t)state;
}

/* The number that a marker's lap means: the highest not above `sequence` with that lap. */
static inline uint64_t dft_ring_sequence(const struct dft_ring *ring, uint64_t sequence, uint32_t marker)
{
    uint32_t back = ((uint32_t)(sequence >> ring->shift) - (marker >> DFT_SLOT_STATE_BITS)) & DFT_SLOT_LAP_MASK;

    return sequence - ((uint64_t)back << ring->shift);
}

/* Is the marker of a lap after that of `sequence`? So it is in a ring whose owner went on while another
 * thread drains it, or copies it, head first: the record that the slot held was drained, and the one
 * that it holds is behind what is looked at. */
static inline int dft_ring_is_ahead(const struct dft_ring *ring, uint64_t sequence, uint32_t marker)
{
    return dft_slot_laps_ahead(marker, (uint32_t)(sequence >> ring->shift) + 1u) < DFT_SLOT_LAP_MASK / 2;
}

/* The first number from `from` on and below `end` whose slot is not free; `end`: all are. A drain of
 * a whole ring looks at slots that are nearly all free. */
static inline uint64_t dft_ring_find_used(const struct dft_ring *ring, uint64_t from, uint64_t end)
{
    for (; end - from >= 4 && (from & (ring->capacity - 1)) + 4 <= ring->capacity; from += 4) {
        const struct dft_slot *slot = dft_ring_slot(ring, from);
        uint32_t states = 0;

        for (unsigned i = 0; i < 4; i++)
            states |= atomic_load_explicit(&slot[i].marker, memory_order_relaxed);
        if (states & DFT_SLOT_STATE_MASK)
            break;
    }
    while (from < end && dft_slot_state(atomic_load_explicit(&dft_ring_slot(ring, from)->marker,
                                                             memory_order_relaxed)) == DFT_SLOT_FREE)
        from++;
    return from;
}

static inline size_t dft_ring_bytes(uint32_t slots)
{
    return DFT_LIVE_PAGE + (size_t)slots * sizeof(struct dft_slot);
}

/* Does a file system keep what a killed process had in a mapping, at no cost a call? `type`: f_type of
 * statfs(2). ext2, 3 and 4, xfs, and tmpfs do. */
static inline int dft_live_fits(unsigned long type)
{
    return type == 0xef53 || type == 0x58465342 || type == 0x01021994;
}

#endif
