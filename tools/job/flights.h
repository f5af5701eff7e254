/* SPDX-License-Identifier: MIT */
/* Calls and regions that were in flight when their processes ended, or are now. */
#ifndef DFT_JOB_FLIGHTS_H
#define DFT_JOB_FLIGHTS_H

#include <pthread.h>
#include <stdio.h>

#include "object/object.h"

struct dft_flight {
    uint32_t process, tid;
    uint64_t call, file, start_ns;
    int32_t fd;
    uint32_t op; /* DFT_OP_REGION, or that of a call */
};

struct dft_flights {
    struct dft_flight *list; /* by process, thread, start */
    size_t count, capacity;
    pthread_mutex_t lock;
};

/* Fills an empty list, and fetches the texts of what it found. Returns 0 or -errno; free it in
 * either case. Collective. */
int dft_flights_fetch(struct dft_flights *all, struct dft_source *source);
void dft_flights_free(struct dft_flights *all);

/* The members "tid" to "fd" of an open object. */
struct dft_json;
void dft_flight_json(struct dft_json *json, const struct dft_flight *flight, const struct dft_source *source);
/* "open of q/fifo". */
void dft_flight_name(FILE *out, const struct dft_flight *flight, const struct dft_source *source);

/* The first of a process; those of one process stand together. */
size_t dft_flights_of(const struct dft_flights *all, uint32_t process);

#endif
