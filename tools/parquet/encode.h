/* SPDX-License-Identifier: MIT */
/* The encodings of Parquet that are used here. Each appends to a page. No memory is a failure of
 * the page. */
#ifndef DFT_PARQUET_ENCODE_H
#define DFT_PARQUET_ENCODE_H

#include "parquet/bytes.h"

#endif
