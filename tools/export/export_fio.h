/* SPDX-License-Identifier: MIT */
/* `--format fio`: a job file for the benchmark fio that does the like. */
#ifndef DFT_EXPORT_FIO_H
#define DFT_EXPORT_FIO_H

#include "export/exporting.h"

extern const struct dft_exporter dft_export_fio;

#endif
