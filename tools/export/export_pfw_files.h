/* SPDX-License-Identifier: MIT */
/* `--format pfw` into a directory. */
#ifndef DFT_EXPORT_PFW_FILES_H
#define DFT_EXPORT_PFW_FILES_H

#include "export/exporting.h"

/* Writes a file for each process into the directory. Collective. Says on stderr what goes wrong. */
int dft_pfw_write_files(struct dft_export *export, const char *directory);

#endif
