/* SPDX-License-Identifier: MIT */
/* Asynchronous requests between their submission and the moment when their end is first seen: a bounded table without locks.
 *
 * A request is found by what its completion names: (context, control block, data); for POSIX the control block alone. It lies in one of
 * the two buckets that its hash names, so a search looks at two cache lines; with two buckets to choose from, the table is nearly full
 * before a request finds no room.
 *
 *   who                                   may
 *   any thread, any signal handler        put, find, take, take or read the next, at any time
 *   a forked child, alone                 forget (requests belong to the parent)
 *
 * A handler that interrupts a put or a take does not find that request: the one has not been submitted yet, the other is being recorded.
 * A longjmp out of either costs one place. */
#ifndef DFT_OUTSTANDING_H
#define DFT_OUTSTANDING_H

#include <stdint.h>

#define DFT_OUTSTANDING_BUCKETS 512u
#define DFT_OUTSTANDING_PLACES  8u /* in a bucket: a cache line */
#define DFT_OUTSTANDING_MOST    (DFT_OUTSTANDING_BUCKETS * DFT_OUTSTANDING_PLACES)

struct dft_request_key {
    uint64_t context, block, data;
};

struct dft_request {
    struct dft_request_key key;
    uint64_t number; /* given by put, from 1 on: requests in order of submission */
    uint64_t start;  /* ticks */
    uint64_t file, region;
    uint64_t size;
    int64_t offset; /* -1: none */
    uint32_t flags;
    int32_t fd;
    uint16_t call, depth;
    uint8_t bits;
    uint8_t pad[3];
    uint32_t tid, pad2;
};
_Static_assert(sizeof(struct dft_request) % 8 == 0, "moved in words");

/* One request in its place, as found: it can be taken while it is still the same. */
struct dft_request_at {
    uint32_t place;
    uint64_t word;
};

enum dft_request_order { DFT_REQUEST_OLDEST, DFT_REQUEST_NEWEST };

/* Puts a request in and gives it its number. Returns 0 or -ENOSPC (the number is given all the same). */
int dft_outstanding_put(struct dft_request *request);
/* The oldest or newest request of this key. Returns 0 when there is none. */
int dft_outstanding_find(const struct dft_request_key *key, enum dft_request_order order, struct dft_request_at *at);
/* Takes it out. Returns 0: somebody else did. */
int dft_outstanding_take(struct dft_request_at at, struct dft_request *request);
/* Takes out the next one of a context (0: of all) with a number up to `last`, in no order; *place is 0 at first. Returns 0 when there are
 * no more. */
int dft_outstanding_take_next(uint64_t context, uint64_t last, uint32_t *place, struct dft_request *request);
/* A copy of the next one, which stays; *place is 0 at first. Returns 0 when there are no more. */
int dft_outstanding_read_next(uint32_t *place, struct dft_request *request);
/* The highest number given so far. */
uint64_t dft_outstanding_last(void);
/* From now on requests that are put in are shown in these slots, DFT_OUTSTANDING_MOST of them, for whoever reads the live file. */
struct dft_slot;
void dft_outstanding_show_in(struct dft_slot *slots);
/* Empties the table; nothing is shown any more. */
void dft_outstanding_forget(void);

#endif
