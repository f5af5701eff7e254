/* SPDX-License-Identifier: MIT */
/* What the files of `dftmerge merge --group` share. */
#ifndef DFT_MERGE_GROUPS_PARTS_H
#define DFT_MERGE_GROUPS_PARTS_H

#include "merge/group_parts.h"
#include "intake/archive.h"

struct dft_grouping {
    struct dft_source *source;
    const char *path;
    struct dft_group_rules *rules;
    uint32_t groups, division;
    /* names of files; the name behind the groups is that of aggregates */
    char *names[DFT_RULES_MAX + 2];
    struct dft_archive archives[DFT_RULES_MAX + 2]; /* open on the rank that writes them */
    uint8_t is_mine[DFT_RULES_MAX + 2];
    /* interval of the rows, by process: as this rank knows it, and as all ranks know it */
    uint64_t *intervals, *widest;
    uint64_t unsplit; /* calls that are known only as aggregates */
    struct dft_encoder *encoder;
};

/* Does the block hold events that are to be organised, and not just names? */
int dft_grouping_wants(const struct dft_block *block);

/* Writes the parts of all blocks into the archives of this rank. The archives then know the names
 * that these parts refer to. Returns 0 or -errno. */
int dft_grouping_write(struct dft_grouping *grouping);

#endif
