/* SPDX-License-Identifier: MIT */
/* `--format perfetto`. */
#ifndef DFT_EXPORT_PERFETTO_H
#define DFT_EXPORT_PERFETTO_H

#include "export/exporting.h"

extern const struct dft_exporter dft_export_perfetto;

#endif
