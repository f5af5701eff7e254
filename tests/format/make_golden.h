/* SPDX-License-Identifier: MIT */
/* What the golden file is made of, for the files that write it. */
#ifndef DFT_TESTS_MAKE_GOLDEN_H
#define DFT_TESTS_MAKE_GOLDEN_H

#include <stdio.h>

#include "sample.h"

#define SECOND  UINT64_C(1000000000)
#define START   (UINT64_C(1700000000) * SECOND)
#define KEY     UINT64_C(0x0123456789abcdef)
#define MANY    120u
#define TEXT(s) ((struct dft_text){s, sizeof s - 1})

enum { NAME_INPUT, NAME_OUTPUT, NAME_BYTES, NAME_REGION, NAME_STEP, NAME_LABEL, NAME_RATIO, NAME_CUT, NAMES };
enum { CALL_OPEN, CALL_READ, CALL_FREAD, CALL_RENAME, CALL_CLOSE, CALL_REGION, CALLS };

extern struct dft_name golden_names[NAMES];
extern struct dft_call golden_calls[CALLS];

/* Writes a block, or what is in it as lines: golden_list. Returns 0, or -1 and says why. */
extern int golden_list;
extern FILE *golden_file;
extern struct dft_encoder *golden_encoder;
int golden_put(long size, const void *const *block);

/* Rows as the first traces had them, and rows that say all there is. */
int golden_put_buckets(void);
int golden_put_facets(void);

#endif
