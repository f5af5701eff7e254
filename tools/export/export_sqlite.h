/* SPDX-License-Identifier: MIT */
/* `--format sqlite`. */
#ifndef DFT_EXPORT_SQLITE_H
#define DFT_EXPORT_SQLITE_H

#include "export/exporting.h"

extern const struct dft_exporter dft_export_sqlite;

#endif
