/* SPDX-License-Identifier: MIT */
/* Arguments of regions and of other annotations. All of it works in signal handlers. */
#ifndef DFT_ARGUMENT_H
#define DFT_ARGUMENT_H

#include <dftrace/dftrace.h>
#include "thread/state.h"

/* Arguments as items, behind those of the open regions, until the use is set back to what it was
 * before. Texts are cut, numbers are kept whole or not at all. */
void dft_annotate_keep_args(struct dft_thread *self, const struct dftrace_arg *args, uint32_t count);
void dft_annotate_keep_int(struct dft_thread *self, const char *key, int64_t value);
/* A text of the library itself, which DFTRACER_PRIVATE does not leave out. */
void dft_annotate_keep_own(struct dft_thread *self, const char *key, const char *text);
/* The same of the innermost open region: others may see them while it is open. */
void dft_region_keep_args(struct dft_thread *self, const struct dftrace_arg *args, uint32_t count);
/* A relation to an entity (DFTracer's "used:ID" and the like) for which the region of that name has
 * no room becomes a record of its own, in which that region stands. Returns 0: it is no relation, or
 * there is room. */
int dft_annotate_put_apart(struct dft_thread *self, uint64_t region, const struct dftrace_arg *arg);
/* Changes a number that a region got before. Returns 0: there is none like it. */
int dft_annotate_change(struct dft_thread *self, _Atomic uint32_t *of, const struct dftrace_arg *arg);

#endif
