/* SPDX-License-Identifier: MIT */
/* Dictionaries of one file (hash -> name), and the texts that go into its blocks. */
#ifndef DFT_DFTRACER_PFW_NAMES_H
#define DFT_DFTRACER_PFW_NAMES_H

#include "dftracer/pfw_inside.h"

/* Dictionaries and texts. A text's id; the text goes into a block when it is new. */
uint64_t dft_pfw_name(struct dft_pfw *pfw, const char *bytes, size_t length);
/* The same of a file. */
uint64_t dft_pfw_file_name(struct dft_pfw *pfw, struct dft_text path);
/* The same for an id whose text is at hand. */
void dft_pfw_name_put(struct dft_pfw *pfw, uint64_t id, struct dft_text text, int cut);
uint64_t dft_pfw_token(const struct dft_pfw_value *value);
void dft_pfw_define(struct dft_pfw *pfw, enum dft_pfw_hash kind, const struct dft_pfw_value *hash,
                    const struct dft_pfw_value *name);
uint64_t dft_pfw_resolve(struct dft_pfw *pfw, enum dft_pfw_hash kind, const struct dft_pfw_value *hash);
/* The text of a host's or string's id; length 0: not known. */
struct dft_text dft_pfw_short_text(const struct dft_pfw *pfw, uint64_t id);
void dft_pfw_keep_short(struct dft_pfw *pfw, uint64_t id, struct dft_text text);
/* Hands the names at hand to a batch, or into a block of their own. */
void dft_pfw_names_take(struct dft_pfw *pfw, struct dft_name **names, uint32_t *count);
void dft_pfw_names_taken(struct dft_pfw *pfw);
void dft_pfw_names_flush(struct dft_pfw *pfw);

#endif
