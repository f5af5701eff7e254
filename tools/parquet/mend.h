/* SPDX-License-Identifier: MIT */
/* Texts as UTF-8: whether they are, and what they become otherwise. */
#ifndef DFT_PARQUET_MEND_H
#define DFT_PARQUET_MEND_H

#include "parquet/bytes.h"

/* Is all of it UTF-8 (RFC 3629)? */
int dft_parquet_is_utf8(const char *bytes, size_t length);

/* Appends the text. Each byte that is no part of UTF-8 becomes U+FFFD. */
void dft_parquet_mend(struct dft_bytes *out, const char *bytes, size_t length);

#endif
