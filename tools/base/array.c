/* SPDX-License-Identifier: MIT */
/* Arrays that grow; see array.h. */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MIN 64u

size_t dft_array_grow(void *array, size_t capacity, size_t count, size_t size)
{
    size_t wanted = 2 * capacity > count ? 2 * capacity : count;
    void *bytes;

    if (wanted * size < BYTES_MIN)
        wanted = BYTES_MIN / size;
    if (wanted > PTRDIFF_MAX / size)
        return 0;
    memcpy(&bytes, array, sizeof bytes);
    bytes = realloc(bytes, wanted * size);
    if (!bytes)
        return 0;
    memcpy(array, &bytes, sizeof bytes);
    return wanted;
}
