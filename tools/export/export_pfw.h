/* SPDX-License-Identifier: MIT */
/* `--format pfw`. */
#ifndef DFT_EXPORT_PFW_H
#define DFT_EXPORT_PFW_H

#include "export/exporting.h"

extern const struct dft_exporter dft_export_pfw;

#endif
