/* SPDX-License-Identifier: MIT */
/* Which processes made the calls of each group, and how many bytes these asked for: a map from
 * pairs of a group and a member (a process, or a size class) to numbers of calls. */
#ifndef DFT_MEMBERS_H
#define DFT_MEMBERS_H

#include "base/map.h"
#include "query/query_types.h"

#define DFT_MEMBER_SIZES    (UINT32_C(1) << 31) /* size classes are above the numbers of processes */
#define DFT_MEMBER_SIZE(id) (DFT_MEMBER_SIZES | (id))
/* Calls that moved bytes, and nobody knows how many each asked for. */
#define DFT_MEMBER_UNKNOWN  DFT_MEMBER_SIZE(DFT_SIZE_CLASS_NONE)

static inline uint32_t dft_member_group(uint64_t key)
{
    return (uint32_t)(key >> 32) - 1;
}

/* Return 0 or -ENOMEM. */
int dft_members_add(struct dft_map *members, uint32_t group, uint32_t member, uint64_t calls);
/* A call row, or one of files, of which no sizes are known. */
int dft_members_add_row(struct dft_map *members, uint32_t group, uint32_t process, const struct dft_row *row);
/* `numbers`: those that groups have here, by the numbers that they have in `from`. */
int dft_members_merge(struct dft_map *into, const struct dft_map_slot *from, size_t count, const uint32_t *numbers);
/* Sets how many processes, and the most common size class, of the groups. */
void dft_members_take(const struct dft_map *members, struct dft_group *groups);

#endif
