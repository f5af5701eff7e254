/* SPDX-License-Identifier: MIT */
/* Who holds the lock that a process waits for, as /proc/locks tells. */
#ifndef DFT_JOB_LOCK_HOLDER_H
#define DFT_JOB_LOCK_HOLDER_H

#include <stdio.h>

#include "job/flights.h"

/* Says who holds the lock that this call of a running process of this machine waits for: ", held by process 4711
 * (python3)". Nothing, where it waits for no lock. */
void dft_lock_holder_say(FILE *out, const struct dft_flight *flight, const struct dft_source *source);

#endif
