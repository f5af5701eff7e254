/* SPDX-License-Identifier: MIT */
/* Who holds the lock that a process waits for, as /proc/locks tells. */
#ifndef DFT_JOB_LOCK_HOLDER_H
#define DFT_JOB_LOCK_HOLDER_H

#include <stdio.h>

#include "job/flights.h"

/* Locks that processes wait for. */
struct dft_locks {
    struct dft_locked *list;
    size_t count, capacity;
};

/* Reads them now, where one of these calls is to lock something; else leaves the list empty. Without memory for all it
 * has some. */
void dft_locks_read(struct dft_locks *locks, const struct dft_flight *flights, size_t count);
void dft_locks_free(struct dft_locks *locks);
/* Says who holds the lock that this call of a running process of this machine waits for: ", held by process 4711
 * (python3)". Nothing, where it waits for no lock, or the pid is of another PID namespace. */
void dft_lock_holder_say(FILE *out, const struct dft_locks *locks, const struct dft_flight *flight,
                         const struct dft_source *source);

#endif
