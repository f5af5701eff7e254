/* SPDX-License-Identifier: MIT */
/* Spans and flows. All of it works in signal handlers. */
#ifndef DFT_SPAN_H
#define DFT_SPAN_H

#include <dftrace/dftrace.h>
#include "thread/state.h"

void dft_span_begin(struct dftrace_span *span, struct dftrace_site *site, const struct dftrace_span *parent,
                    const struct dftrace_arg *args, uint32_t count);
void dft_span_since(struct dftrace_span *span, const struct dftrace_span *earlier);
void dft_span_end(struct dftrace_span *span, const struct dftrace_arg *args, uint32_t count);
void dft_span_resume(const struct dftrace_span *span);
void dft_span_suspend(const struct dftrace_span *span);
void dft_span_async_begin(struct dftrace_site *site, uint64_t id, const struct dftrace_arg *args, uint32_t count);
void dft_span_async_end(struct dftrace_site *site, uint64_t id, const struct dftrace_arg *args, uint32_t count);
void dft_span_flow(struct dftrace_site *site, uint64_t id, int what);
uint64_t dft_span_new_id(void);
uint64_t dft_span_next_id(struct dft_thread *self); /* of this process alone */
/* A span around a function: its end is found by its name, as that of a region. Returns -1: it was
 * not begun. */
void dft_span_enter(struct dft_thread *self, uint64_t name, uint32_t args_from);
int dft_span_leave(struct dft_thread *self, uint64_t name, uint32_t args_from);

#endif
