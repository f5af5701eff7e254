/* SPDX-License-Identifier: MIT */
/* Names of entities: what users write, and what they read. */
#ifndef DFT_LINEAGE_FIND_H
#define DFT_LINEAGE_FIND_H

#include <stdio.h>

#include "lineage/lineage.h"

/* The place of the entity that a user means by TYPE:KEY, KEY, id or URI. Returns 0; -ENOENT or
 * -EEXIST (several fit) after a message on stderr; or -ENOMEM. */
int dft_lineage_find(const struct dft_lineage *lineage, const char *text, uint32_t *place);

/* "type:key", as far as it is known, else the id, as bytes of its own. The caller frees it; NULL: no
 * memory. */
char *dft_lineage_name(const struct dft_lineage *lineage, uint32_t place, size_t *length);
/* The same for a terminal, in at most `width` columns. */
char *dft_lineage_shown(const struct dft_lineage *lineage, uint32_t place, size_t width);

#endif
