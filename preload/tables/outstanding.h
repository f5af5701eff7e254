/* SPDX-License-Identifier: MIT */
/* Asynchronous requests, from their submission until their end is first seen. A bounded table
 * without locks.
 *
 * A completion names its request by (context, control block, data); for POSIX by the control block
 * alone. A request lies in one of the two buckets that its hash names. So a search reads two cache
 * lines. With two buckets to choose from, the table is nearly full before a request finds no place.
 *
 *   who                                   may
 *   any thread, any signal handler        put, find, take, take or read the next, at any time
 *   a forked child, alone                 forget (requests belong to the parent)
 *
 * A handler that interrupts a put or a take does not find that request. In a put the request has
 * not been submitted yet; in a take its event is being recorded. A longjmp out of either costs one
 * place. */
#ifndef DFT_OUTSTANDING_H
#define DFT_OUTSTANDING_H

#include <stdint.h>

#define DFT_OUTSTANDING_BUCKETS 512u
#define DFT_OUTSTANDING_PLACES  8u /* in a bucket: a cache line */
#define DFT_OUTSTANDING_MAX     (DFT_OUTSTANDING_BUCKETS * DFT_OUTSTANDING_PLACES)

struct dft_request_key {
    uint64_t context, block, data;
};

struct dft_request {
    struct dft_request_key key;
    uint64_t number; /* from put, from 1 on: requests in order of submission */
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

/* The place of a request that was found. The request can be taken while the place still holds
 * it. */
struct dft_request_at {
    uint32_t place;
    uint64_t word;
};

enum dft_request_order { DFT_REQUEST_OLDEST, DFT_REQUEST_NEWEST };

/* Inserts a request and gives it its number. Returns 0 or -ENOSPC. The request has a number in both
 * cases. */
int dft_outstanding_put(struct dft_request *request);
/* Finds the oldest or newest request of this key. Returns 0 when there is none. */
int dft_outstanding_find(const struct dft_request_key *key, enum dft_request_order order, struct dft_request_at *at);
/* Takes the request out. Returns 0 when another thread has already taken it. */
int dft_outstanding_take(struct dft_request_at at, struct dft_request *request);
/* Takes out the next request of a context (0: of all) with a number up to `last`, in no order.
 * *place is 0 at first. Returns 0 when there are no more. */
int dft_outstanding_take_next(uint64_t context, uint64_t last, uint32_t *place, struct dft_request *request);
/* Copies the next request, which stays. *place is 0 at first. Returns 0 when there are no more. */
int dft_outstanding_read_next(uint32_t *place, struct dft_request *request);
/* The highest number assigned so far. */
uint64_t dft_outstanding_last(void);
/* From now on, shows new requests in these DFT_OUTSTANDING_MAX slots, for readers of the live
 * file. */
struct dft_slot;
void dft_outstanding_show_in(struct dft_slot *slots);
/* Empties the table. Nothing is shown any more. */
void dft_outstanding_forget(void);

#endif
