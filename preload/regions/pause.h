/* Whether what a thread records is kept. */
#ifndef DFT_PAUSE_H
#define DFT_PAUSE_H

#include "ring/thread.h"

/* 1: a new ring of this thread begins paused. */
uint32_t dft_pause_of_ring(const struct dft_thread *thread);

#endif
