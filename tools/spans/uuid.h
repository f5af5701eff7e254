/* SPDX-License-Identifier: MIT */
/* UUIDs made from names (version 5 of RFC 9562): the same names make the same UUID everywhere. */
#ifndef DFT_SPANS_UUID_H
#define DFT_SPANS_UUID_H

#include <stddef.h>

#include "format/event.h"

#define DFT_UUID_LENGTH 36u

struct dft_uuid {
    char text[DFT_UUID_LENGTH + 1];
};

/* The order of the names matters, and where one ends and the next begins. */
void dft_uuid_of(struct dft_uuid *uuid, const struct dft_text *names, size_t count);

#endif
