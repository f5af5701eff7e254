/* SPDX-License-Identifier: MIT */
/* What readers look at first. */
#ifndef DFT_PARQUET_FOOTER_H
#define DFT_PARQUET_FOOTER_H

#include "parquet/file.h"

/* Puts the indices of all pages and the footer behind the chunks. */
int dft_parquet_footer(struct dft_parquet *file);

#endif
