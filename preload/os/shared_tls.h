/* SPDX-License-Identifier: MIT */
/* Shared-TLS children: processes that clone has made on the thread-local memory of the thread that made them. Such a child
 * runs at the same time as that thread, the owner, so it records nothing, and is counted. */
#ifndef DFT_SHARED_TLS_H
#define DFT_SHARED_TLS_H

#include <stdint.h>

/* By the owner, before it makes a child with these flags of clone. */
void dft_shared_tls_begin(uint64_t flags);
/* The child has ended, or was not made. A child that is killed or execs is never seen to end: then the owner keeps
 * asking who it is. */
void dft_shared_tls_end(void);

/* In a child that runs in the process's memory, with thread-local memory of its own: nobody who runs on it records. */
void dft_shared_tls_disown(uint64_t flags);

/* With DFT_MARK_SHARED_TLS: is the caller a child, and not the owner? */
int dft_shared_tls_is_child(void);
/* Counts an event of such a child, which is not recorded. */
void dft_shared_tls_drop(void);
/* Does such a child share the descriptors as well, as far as is known? */
int dft_shared_tls_has_descriptors(void);

#endif
