/* SPDX-License-Identifier: MIT */
/* From an annotation to a record: the thread, the name of a site, the arguments. Works in signal handlers. */
#ifndef DFT_RECORD_H
#define DFT_RECORD_H

#include <dftrace/dftrace.h>

#include "os/shared_tls.h"
#include "ring/ring.h"

/* The calling thread's state, or NULL: nothing is to be recorded. */
static inline struct dft_thread *dft_annotate_thread(void)
{
    if (__builtin_expect(dft_vfork_mark == DFT_MARK_SHARED_TLS, 0) && dft_shared_tls_is_child())
        return NULL; /* the regions are those of the thread that it shares memory with */
    return __builtin_expect(dft_on & DFT_ON_REGIONS, 1) ? dft_thread_get() : NULL;
}

/* The id of the name of a site, which remembers it; `category` when it has none. */
uint64_t dft_annotate_site_slow(struct dft_thread *self, struct dftrace_site *site, const char *category);
static inline uint64_t dft_annotate_site(struct dft_thread *self, struct dftrace_site *site, const char *category)
{
    uint64_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);

    return __builtin_expect(id != 0 && dft_name_was_sent(self, id), 1) ? id
                                                                       : dft_annotate_site_slow(self, site, category);
}

/* Before a record's arguments are kept. Returns what its args_from is. */
static inline uint32_t dft_args_begin(struct dft_thread *self)
{
    return __atomic_fetch_and(&self->args_used, (uint16_t)~DFT_ARGS_CUT, __ATOMIC_RELAXED);
}

/* A record with the items of the thread from args_from on; they are used up. `head`: items before
 * them, or NULL. */
void dft_annotate_put(struct dft_thread *self, struct dft_slot *record, uint64_t duration, const void *head,
                      uint32_t head_bytes, uint32_t args_from);
/* An event at this moment. Returns its ticks. */
uint64_t dft_annotate_put_point(struct dft_thread *self, enum dft_op op, uint64_t name, const void *head,
                                uint32_t head_bytes, uint32_t args_from);

#endif
