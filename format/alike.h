/* SPDX-License-Identifier: MIT */
/* Whether two events differ in nothing but their times and offsets. */
#ifndef DFT_ALIKE_H
#define DFT_ALIKE_H

#include <stddef.h>

#include "format/event.h"
#include "format/leb128.h"

/* Narrow fields are compared two at a time. */
#define DFT_ALIKE_NEXT(first, second)                                                                                  \
    (offsetof(struct dft_event, second) == offsetof(struct dft_event, first) + sizeof(((struct dft_event *)0)->first))
_Static_assert(DFT_ALIKE_NEXT(call, calls) && DFT_ALIKE_NEXT(unit, flags) && DFT_ALIKE_NEXT(mode, fd),
               "words of two fields");
_Static_assert(sizeof(struct dft_event) == 112 && DFT_ALIKE_NEXT(err, depth) && offsetof(struct dft_event, bits) == 109,
               "every field is among those below");

#define DFT_ALIKE_WORD(field)                                                                                          \
    (dft_load64((const char *)event + offsetof(struct dft_event, field)) ^                                             \
     dft_load64((const char *)other + offsetof(struct dft_event, field)))

static inline int dft_is_alike(const struct dft_event *event, const struct dft_event *other)
{
    uint64_t different = DFT_ALIKE_WORD(file) | DFT_ALIKE_WORD(file2) | DFT_ALIKE_WORD(region) | DFT_ALIKE_WORD(size) |
                         DFT_ALIKE_WORD(result) | DFT_ALIKE_WORD(stack) | DFT_ALIKE_WORD(id) | DFT_ALIKE_WORD(call) |
                         DFT_ALIKE_WORD(unit) | DFT_ALIKE_WORD(mode);
    uint32_t narrow = (uint32_t)(event->err ^ other->err) | (uint32_t)(event->depth ^ other->depth) |
                      (uint32_t)(event->phase ^ other->phase) | (uint32_t)(event->bits ^ other->bits);

    return !(different | narrow);
}

#undef DFT_ALIKE_WORD
#undef DFT_ALIKE_NEXT

#endif
