/* SPDX-License-Identifier: MIT */
/* Roles of processes that tell none: Python's own helpers and workers are known by their command
 * lines. */
#ifndef DFT_SOURCE_ROLES_H
#define DFT_SOURCE_ROLES_H

#include "object/object.h"

/* Sets process.role of each process that has none, and whose command line says what it is. */
void dft_source_find_roles(struct dft_source *source);

#endif
