/* SPDX-License-Identifier: MIT */
/* `--format folded` and `--format folded-bytes`. */
#ifndef DFT_EXPORT_FOLDED_H
#define DFT_EXPORT_FOLDED_H

#include "export/exporting.h"

extern const struct dft_exporter dft_export_folded, dft_export_folded_bytes;

#endif
