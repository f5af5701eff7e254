/* SPDX-License-Identifier: MIT */
/* What the files of `dftmerge merge --group` share. */
#ifndef DFT_MERGE_GROUPS_PARTS_H
#define DFT_MERGE_GROUPS_PARTS_H

#include "merge/group_parts.h"
#include "source/archive.h"

struct dft_grouping {
    struct dft_source *source;
    const char *path;
    struct dft_rules *rules;
    uint32_t groups, division;
    /* of files; behind the groups: that of aggregates */
    char *names[DFT_RULES_MAX + 2];
    struct dft_archive archives[DFT_RULES_MAX + 2]; /* open on the rank that writes them */
    uint8_t is_mine[DFT_RULES_MAX + 2];
    uint64_t *intervals, *widest; /* of the rows, by process: as this rank knows, and all */
    uint64_t unsplit;             /* calls that are known only as aggregates */
    struct dft_encoder *encoder;
};

/* Does it hold events that are to be organised, and not just names? */
int dft_grouping_wants(const struct dft_block *block);

/* The parts of all blocks into the archives of this rank, which know what these refer to then.
 * Returns 0 or -errno. */
int dft_grouping_write(struct dft_grouping *grouping);

#endif
