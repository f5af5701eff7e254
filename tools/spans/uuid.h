/* SPDX-License-Identifier: MIT */
/* UUIDs made from names (RFC 9562): the same names make the same UUID everywhere. */
#ifndef DFT_SPANS_UUID_H
#define DFT_SPANS_UUID_H

#include <stddef.h>

#include "format/text.h"

#define DFT_UUID_LENGTH 36u

struct dft_uuid {
    char text[DFT_UUID_LENGTH + 1];
};

/* Version 5. The order of the names matters, and where one ends and the next begins. */
void dft_uuid_of(struct dft_uuid *uuid, const struct dft_text *names, size_t count);
/* Version 8: the first 48 bits are milliseconds, as in version 7, and the rest comes from the names.
 * An index of events gets them nearly in order, which is much faster than by chance. */
void dft_uuid_at(struct dft_uuid *uuid, int64_t ns, const struct dft_text *names, size_t count);

#endif
