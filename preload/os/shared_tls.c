/* SPDX-License-Identifier: MIT */
/* Owns the words that tell a thread from the children that share its thread-local memory. */
#include "os/shared_tls.h"

#include <sched.h>

#include "format/live_format.h"
#include "format/format.h"
#include "os/self.h"
#include "os/sys.h"

#define THIS_MEMORY __thread __attribute__((tls_model("initial-exec")))

static THIS_MEMORY uint32_t owner;       /* tid of this memory's owner; 0: nobody on it records */
static THIS_MEMORY uint32_t children;    /* atomic: children known to run on this memory */
static THIS_MEMORY uint32_t descriptors; /* a child shares the owner's descriptors */

/* A forked child that inherited the mark has its own memory. The child loses the mark with its
 * first event. */
int dft_shared_tls_is_child(void)
{
    return *dft_generation && (uint32_t)dft_sys_gettid() != owner;
}

void dft_shared_tls_drop(void)
{
    if (dft_live)
        atomic_fetch_add_explicit(&dft_live->dropped[DFT_DROP_BORROWED], 1, memory_order_relaxed);
}

void dft_shared_tls_begin(uint64_t flags)
{
    if (dft_vfork_mark != DFT_MARK_SHARED_TLS)
        owner = (uint32_t)dft_sys_gettid();
    descriptors |= (flags & CLONE_FILES) != 0;
    __atomic_add_fetch(&children, 1, __ATOMIC_SEQ_CST);
    dft_vfork_mark = DFT_MARK_SHARED_TLS;
}

void dft_shared_tls_end(void)
{
    if (__atomic_sub_fetch(&children, 1, __ATOMIC_SEQ_CST) == 0) {
        descriptors = 0;
        dft_vfork_mark = dft_own_files ? DFT_MARK_OWN_FILES : DFT_MARK_NONE;
    }
}

void dft_shared_tls_disown(uint64_t flags)
{
    owner = 0;
    descriptors = (flags & CLONE_FILES) != 0;
    dft_vfork_mark = DFT_MARK_SHARED_TLS;
}

int dft_shared_tls_has_descriptors(void)
{
    return dft_vfork_mark == DFT_MARK_SHARED_TLS && descriptors;
}
