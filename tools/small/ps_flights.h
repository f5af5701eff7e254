/* SPDX-License-Identifier: MIT */
/* Calls and regions that were in flight when their processes ended, or are now. */
#ifndef DFT_PS_FLIGHTS_H
#define DFT_PS_FLIGHTS_H

#include <pthread.h>

#include "source/source_object.h"

struct dft_ps_flight {
    uint32_t process, tid;
    uint64_t call, file, start_ns;
    int32_t fd;
};

struct dft_ps_flights {
    struct dft_ps_flight *list; /* by process, thread, start */
    size_t count, capacity;
    pthread_mutex_t lock;
};

/* Fills an empty list, and fetches the texts of what it found. Returns 0 or -errno; free it in
 * either case. Collective. */
int dft_ps_flights_fetch(struct dft_ps_flights *all, struct dft_source *source);
void dft_ps_flights_free(struct dft_ps_flights *all);

/* The first of a process; those of one process stand together. */
size_t dft_ps_flights_of(const struct dft_ps_flights *all, uint32_t process);

#endif
