/* SPDX-License-Identifier: MIT */
/* `--format perfflow`. */
#ifndef DFT_EXPORT_PERFFLOW_H
#define DFT_EXPORT_PERFFLOW_H

#include "export/exporting.h"

extern const struct dft_exporter dft_export_perfflow;

#endif
