/* Time in stretches that hold about as many events each. */
#ifndef DFT_SOURCE_STRETCH_H
#define DFT_SOURCE_STRETCH_H

#include <stddef.h>
#include <stdint.h>

#include "source/source_object.h"

struct dft_filter;

/* Where stretches of time begin that hold about as many events each, as far as headers tell; the first begins with the
 * first event, and without events there is none. For who numbers blocks instead of times: by_block. The same on all ranks,
 * however many they are. *starts is from malloc. Returns 0 or -ENOMEM. */
int dft_source_stretches(const struct dft_source *source, const struct dft_filter *filter, int by_block,
                         uint64_t **starts, size_t *count);

#endif
