/* SPDX-License-Identifier: MIT */
/* One event, one batch of events: the form in memory that the drain makes, the encoder takes and
 * the decoder gives back. Units: ns for time, bytes for size and offset. Nothing here owns memory:
 * texts point into a ring, a block or an arena, and are valid as long as that is. */
#ifndef DFT_EVENT_H
#define DFT_EVENT_H

#include <stdint.h>

#include "format/format.h"
#include "format/ops.h"
#include "format/text.h"

/* A kind of call. text is "category NUL name"; id is its hash. Without a text (length 0) the id is
 * that of a name, whose text, if known, stands among the names; a decoder fills it in when the
 * block has all of it. */
struct dft_call {
    uint64_t id;
    struct dft_text text;
    uint8_t op; /* ops.def */
    uint8_t io; /* enum dft_io */
};

enum dft_arg_type { DFT_ARG_INT = 0, DFT_ARG_DOUBLE = 1, DFT_ARG_STRING = 2 };

struct dft_arg {
    uint64_t key; /* name id */
    uint32_t event;
    uint8_t type;
    union {
        int64_t i;
        double d;
        struct dft_text s;
    };
};

#define DFT_RESULT_UNKNOWN INT64_MIN /* of a call whose result another tracer had not recorded */
#define DFT_ERRNO_UNKNOWN  0xffffu   /* of a call that failed, one does not know why */

/* Where a data access lies (enum dft_access, facets.h): both of the first two bits: consecutive; the second
 * alone: strided. All calls of a burst have the access that its event has. */
#define DFT_BIT_SEQUENTIAL  1u /* starts at or behind the end of the descriptor's last access */
#define DFT_BIT_CONSECUTIVE 2u /* starts exactly there */
#define DFT_BIT_VFORK       4u
#define DFT_BIT_CUT         8u
#define DFT_BIT_OPEN        16u
#define DFT_BIT_TURN        32u /* reads after a write on the same description, or writes after a read */

struct dft_event {
    uint64_t start_ns; /* Unix ns */
    uint64_t dur_ns;
    uint64_t file;   /* name id, 0 none */
    uint64_t file2;  /* second path (the new name of a rename), 0 none */
    uint64_t region; /* name id of the innermost region around it, 0 none */
    uint64_t size;   /* bytes requested; 0 where it means nothing */
    int64_t result;
    int64_t offset; /* where it happened; -1: none or unknown */
    uint64_t stack; /* id of the call stack, 0 none */
    uint64_t id;    /* joins asynchronous begin and end, and flows; 0 none */
    uint32_t call;  /* position in the batch's calls */
    uint32_t calls; /* how many calls this event stands for; 1 */
    uint32_t unit;  /* bytes per item of the result; 1 */
    uint32_t flags;
    uint32_t mode;
    int32_t fd;     /* -1 none */
    uint16_t err;   /* errno of a failure, 0 none */
    uint16_t depth; /* number of regions around it */
    uint8_t phase;
    uint8_t bits;
};

struct dft_batch {
    uint64_t key;
    uint32_t stream, tid;
    uint64_t first, last; /* sequence numbers covered */
    struct dft_event *events;
    uint32_t count;
    struct dft_call *calls;
    uint32_t ncalls;
    struct dft_name *names; /* definitions at hand; when decoded: every name that the block refers to */
    uint32_t nnames;
    struct dft_arg *args; /* ascending by event */
    uint32_t nargs;
    uint32_t part;           /* 0: all events of the range */
    const uint32_t *numbers; /* the i-th event has the number first + numbers[i]; NULL: first + i */
};

/* A record may take several numbers, and a batch does not tell which ones do: the lowest number, and the highest one,
 * that the first number of the i-th event's record can be. */
static inline uint64_t dft_batch_number(const struct dft_batch *batch, uint32_t i)
{
    return batch->first + (batch->numbers ? batch->numbers[i] : i);
}

static inline uint64_t dft_batch_number_most(const struct dft_batch *batch, uint32_t i)
{
    return batch->last - (batch->count - 1 - i);
}

/* Bytes moved by one event, by the rule of its op. */
static inline uint64_t dft_event_bytes_by(const struct dft_event *event, enum dft_bytes_rule rule)
{
    if (rule == DFT_BYTES_NOTHING || event->result <= 0)
        return 0;
    return rule == DFT_BYTES_ITEMS ? (uint64_t)event->result * event->unit : (uint64_t)event->result;
}

static inline uint64_t dft_event_bytes(const struct dft_event *event, uint8_t op)
{
    return dft_event_bytes_by(event, dft_op_bytes(op));
}

static inline int dft_bits_are_consecutive(uint32_t bits)
{
    return (bits & (DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE)) == (DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE);
}

static inline int dft_event_has_offset(const struct dft_event *event)
{
    return event->offset >= 0 && event->offset < INT64_MAX;
}

/* dft_facets_of an event of this op. */
static inline uint32_t dft_event_facets(const struct dft_event *event, uint8_t op)
{
    return dft_facets_of(dft_op_is_data(op), event->size, event->calls, event->offset, event->bits, event->err);
}

#endif
