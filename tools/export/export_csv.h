/* SPDX-License-Identifier: MIT */
/* `--format csv`. */
#ifndef DFT_EXPORT_CSV_H
#define DFT_EXPORT_CSV_H

#include "export/exporting.h"

extern const struct dft_exporter dft_export_csv;

#endif
