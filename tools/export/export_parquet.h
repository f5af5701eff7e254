/* SPDX-License-Identifier: MIT */
/* `--format parquet`. */
#ifndef DFT_EXPORT_PARQUET_H
#define DFT_EXPORT_PARQUET_H

#include "export/exporting.h"

extern const struct dft_exporter dft_export_parquet;

#endif
