/* SPDX-License-Identifier: MIT */
/* Processes that ran while they were imported. Their times are final only when they have ended, so
 * that a later import replaces what is known of them. */
#ifndef DFT_SPANS_TRACE_AGAIN_H
#define DFT_SPANS_TRACE_AGAIN_H

#include "spans/store.h"

/* Forgets the events, metrics, regions and asynchronous spans of a process, if it ran when it was
 * imported before. Returns 1: it did, 0, or an error of the store. */
int dft_trace_forget_running(struct dft_span_store *store, const struct dft_uuid *process);
/* Keeps in mind that a process runs. */
int dft_trace_mark_running(struct dft_span_store *store, const struct dft_uuid *process);

#endif
