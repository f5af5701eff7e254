/* SPDX-License-Identifier: MIT */
/* What a process of ends.c did, in memory that outlives it: the test reads the file and compares it
 * with the trace. */
#ifndef ENDS_H
#define ENDS_H

#include <stdatomic.h>
#include <stdint.h>

#define ENDS_SLOTS 1024u

/* `started` is counted before a call, `returned` behind it: the trace has all that returned, and at
 * most what was started. */
enum ends_kind { ENDS_WRITE, ENDS_READ, ENDS_PUTC, ENDS_GETC, ENDS_REGION, ENDS_AIO, ENDS_MAP, ENDS_LATE, ENDS_KINDS };

/* One thread of one process image. Its files and its regions are named after its number. */
struct ends_slot {
    uint32_t pid, tid;
    _Atomic uint64_t started[ENDS_KINDS], returned[ENDS_KINDS];
    _Atomic uint64_t open; /* 1: its outer region was begun and never ended */
    uint64_t pad[6];
};

struct ends_shared {
    _Atomic uint32_t slots; /* in use */
    _Atomic uint32_t images;
    uint32_t pad[14];
    struct ends_slot slot[ENDS_SLOTS];
};

#endif
