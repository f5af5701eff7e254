/* SPDX-License-Identifier: MIT */
/* Names whose block could not be written: kept until one can be, since events that come later speak of them by their ids alone. */
#ifndef DFT_PENDING_NAMES_H
#define DFT_PENDING_NAMES_H

#include "format/event.h"

/* Keeps copies. Any thread, signals blocked. When there is no room for more, what the threads believe to have sent is forgotten
 * instead, and descriptors are asked for their names again. */
void dft_pending_names_keep(const struct dft_name *names, uint32_t count);

/* Are there any? */
int dft_pending_names_are_there(void);

/* Hands all of them to `put`, one at a time in one thread, and forgets them when it returns 0. */
void dft_pending_names_emit(int (*put)(void *context, const struct dft_name *names, uint32_t count), void *context);

/* At the end of the process: leaves them in this thread's ring, as far as there is room. */
struct dft_thread;
void dft_pending_names_leave(struct dft_thread *self);

/* In a forked child: they are the parent's. */
void dft_pending_names_forked(void);

#endif
