/* SPDX-License-Identifier: MIT */
/* Levels over time, for counter tracks: bytes in flight and files open. */
#ifndef DFT_EXPORT_LEVELS_H
#define DFT_EXPORT_LEVELS_H

#include "export/exporting.h"

struct dft_level_grid {
    uint64_t base_ns, width_ns; /* interval i is [base_ns + i * width_ns, + width_ns) */
};

/* Takes a value that holds from the time on. `is_open`: files open, else bytes in flight. */
typedef int dft_level_fn(void *context, uint32_t process, int is_open, uint64_t time_ns, double value);

/* Gives the levels of each process on rank 0. Collective. Returns 0, -ENOMEM, or what `take`
 * returned.
 *
 * Bytes in flight is a mean over the interval: the sum of bytes of each call times the ns of the
 * call in the interval, divided by width_ns. Files open is exact at the edge of an interval: calls
 * that opened or duplicated a descriptor and began before it, less those that closed one. A process
 * that closes more than it opened had the difference open at its start. Both know calls that began
 * before --from. Memory is 64 bytes for each interval of a process in which a level changes. */
int dft_levels_each(const struct dft_export *export, const struct dft_level_grid *grid, dft_level_fn *take,
                    void *context);

#endif
