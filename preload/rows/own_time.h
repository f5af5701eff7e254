/* SPDX-License-Identifier: MIT */
/* Processor time, and how much of it is the library's own. */
#ifndef DFT_OWN_TIME_H
#define DFT_OWN_TIME_H

#include <stdint.h>
#include <time.h>

/* Processor time of this thread, or of the process. 0: not known. */
uint64_t dft_processor_ns(clockid_t clock);

/* Around a drain or a flush, for the limit of cost: the processor time that it takes is the library's.
 * Any thread, signals blocked. The first returns what the second takes. */
uint64_t dft_own_time_begin(void);
void dft_own_time_end(uint64_t begin_ns);

/* The sum so far. */
uint64_t dft_own_time_ns(void);

#endif
