/* SPDX-License-Identifier: MIT */
/* What operations on streams share. */
#ifndef STREAM_H
#define STREAM_H

#include "fuzz.h"

/* Before a data call: the other streams wait with nothing, and between reading and writing the
 * stream is positioned, mostly. */
void stream_turn(struct worker *w, struct stream_slot *s, int writing);
/* How far the stream came since it was `at`. */
long stream_read(struct stream_slot *s, long at);
void say_stream(struct worker *w, const char *call, struct stream_slot *s, long result, int failed, size_t size,
                long at, long moved, const char *more);
/* fread or fwrite. */
void say_items(struct worker *w, struct stream_slot *s, int writing, size_t unit, size_t items);

#endif
