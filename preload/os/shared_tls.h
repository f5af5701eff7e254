/* SPDX-License-Identifier: MIT */
/* Shared-TLS children: processes that clone has made on the thread-local memory of the thread that
 * made them. Such a child runs at the same time as that thread, the owner. So the child records
 * nothing, and its events are counted. */
#ifndef DFT_SHARED_TLS_H
#define DFT_SHARED_TLS_H

#include <stdint.h>

/* The owner calls this function before it makes a child with these flags of clone. */
void dft_shared_tls_begin(uint64_t flags);
/* The child has ended, or was not made. The owner never sees the end of a child that is killed or
 * execs. The owner then keeps asking for its own tid. */
void dft_shared_tls_end(void);

/* In a child that runs in the process's memory with its own thread-local memory. No task on this
 * memory records events. */
void dft_shared_tls_disown(uint64_t flags);

/* Only with DFT_MARK_SHARED_TLS. Is the caller a child, and not the owner? */
int dft_shared_tls_is_child(void);
/* Counts an event of such a child. The event is not recorded. */
void dft_shared_tls_drop(void);
/* Does a known child of this kind share the descriptors as well? */
int dft_shared_tls_has_descriptors(void);

#endif
