/* SPDX-License-Identifier: MIT */
/* What the bytes of a fuzzer mean to the targets here: patches of a trace and a live file that
 * make_traces made with this build, so that a short input reaches deep, and a corpus holds whatever
 * the layout.
 *
 * A patch is: what (one byte: bit 0 the live file, bits 1-3 how, bit 7 leave checksums as they
 * are), offset (two bytes), n (one byte), and for some n bytes. */
#ifndef PATCHES_H
#define PATCHES_H

#include <stddef.h>
#include <stdint.h>

struct patched {
    uint8_t *trace, *live;
    size_t trace_bytes, live_bytes;
};

/* The two files with the patches; valid until the next call. Ends the program when there are no
 * templates. */
void patches_apply(const uint8_t *data, size_t size, struct patched *patched);

#endif
