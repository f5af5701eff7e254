/* SPDX-License-Identifier: MIT */
/* `--format pfw` into a directory. */
#ifndef DFT_EXPORT_PFW_FILES_H
#define DFT_EXPORT_PFW_FILES_H

#include "export/exporting.h"

/* A file for each process into the directory. Collective; what goes wrong is said. */
int dft_pfw_write_files(struct dft_export *export, const char *directory);

#endif
