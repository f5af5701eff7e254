/* SPDX-License-Identifier: MIT */
/* Names whose block could not be written. They are kept until a write succeeds, because later
 * events refer to them only by their ids. */
#ifndef DFT_PENDING_NAMES_H
#define DFT_PENDING_NAMES_H

#include "format/text.h"

/* Keeps copies. Any thread, signals blocked. When the capacity is used up, the threads forget which
 * names they have sent. Descriptors are then queried for their names again. */
void dft_pending_names_keep(const struct dft_name *names, uint32_t count);

/* Are any names pending? */
int dft_pending_names_are_there(void);

/* Hands all names to `put` and forgets them when `put` returns 0. One thread at a time calls
 * `put`. */
void dft_pending_names_emit(int (*put)(void *context, const struct dft_name *names, uint32_t count), void *context);

/* At the end of the process. Leaves the names in this thread's ring, as far as there is space. */
struct dft_thread;
void dft_pending_names_leave(struct dft_thread *self);

/* In a forked child. The pending names are the parent's. */
void dft_pending_names_forked(void);

#endif
