/* SPDX-License-Identifier: MIT */
/* Adds what events say, in any order, and puts it in an order of its own. */
#ifndef DFT_LINEAGE_GRAPH_H
#define DFT_LINEAGE_GRAPH_H

#include "lineage/lineage.h"

int dft_lineage_init(struct dft_lineage *lineage);
void dft_lineage_fini(struct dft_lineage *lineage);
/* Each returns 0 or -ENOMEM. No id may be 0. */
int dft_lineage_declare(struct dft_lineage *lineage, const struct dft_lineage_entity *declared);
int dft_lineage_declare_type(struct dft_lineage *lineage, const struct dft_lineage_type *declared);
int dft_lineage_link(struct dft_lineage *lineage, uint64_t subject, uint64_t object, uint8_t relation);
/* Changes the order of the relations, which are not none. */
int dft_lineage_region(struct dft_lineage *lineage, const struct dft_lineage_region *region,
                       struct dft_lineage_relate *relations, uint32_t count);
/* Keeps a text. Returns its id. */
int dft_lineage_text(struct dft_lineage *lineage, struct dft_text text, uint64_t *id);
/* DFTracer's id of an entity. */
uint64_t dft_lineage_id(struct dft_text type, struct dft_text key);
/* 16 digits, in either case. Returns 0 or -EINVAL. */
int dft_lineage_hex(struct dft_text text, uint64_t *id);
/* The entity that a link leads to from `entity`; UINT32_MAX: it does not lead that way. */
uint32_t dft_lineage_follow(const struct dft_lineage_link *link, uint32_t entity, enum dft_lineage_way way);

#endif
