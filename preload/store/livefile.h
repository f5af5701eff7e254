/* SPDX-License-Identifier: MIT */
/* The live file of this process. Rings lie in mappings of the file, so a killed process's records
 * can be read. */
#ifndef DFT_LIVEFILE_H
#define DFT_LIVEFILE_H

#include "format/live_format.h"
#include "os/self.h"
#include "store/livefile_rings.h"

#define DFT_FIRST_SLOTS 256u /* of a thread's first ring */

/* Creates the live file with its head. dft_live is never NULL afterwards. Signals blocked. Returns
 * 0 or -ENOMEM. Process notes record what could not be done. */
int dft_livefile_create(void);

/* Removes the live file from its directory. Mappings stay. dft_livefile_create() then makes another
 * file, which takes over the counters. */
void dft_livefile_remove(void);

/* How many live files there have been. No reader can find rings of an earlier file. */
extern uint32_t dft_livefile_number;

/* In a forked child. Leaves the parent's file alone and unmaps it. A mapping in the child would
 * mislead a reader who asks whether the parent still runs. */
void dft_livefile_forget(void);

/* The path of the live file; "" when the live file is plain memory. */
extern char dft_livefile_path[];

/* Rounds up to pages as this machine has them (64 KiB on some). A mapping of a file
 * can begin only at such an offset. */
size_t dft_livefile_pages(size_t bytes);
/* Maps this many bytes of the file at the offset and allocates their space. With the lock held.
 * NULL: the file has no space for them. */
void *dft_livefile_map(size_t bytes, uint64_t offset);
/* Writes zeros over a part of the file. With the lock held. Returns 0 or -errno. */
int dft_livefile_write(uint64_t offset, size_t bytes);

#endif
