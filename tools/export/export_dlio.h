/* SPDX-License-Identifier: MIT */
/* `--format dlio`: a configuration of a workload for DLIO benchmark that does the like. */
#ifndef DFT_EXPORT_DLIO_H
#define DFT_EXPORT_DLIO_H

#include "export/exporting.h"

extern const struct dft_exporter dft_export_dlio;

#endif
