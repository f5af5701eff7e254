/* SPDX-License-Identifier: MIT */
/* Which processes made the calls of each group, how many bytes these requested, and how much of their time is I/O: a
 * map from pairs of a group and a member (a process, a size class, or I/O) to numbers of calls, or nanoseconds. */
#ifndef DFT_MEMBERS_H
#define DFT_MEMBERS_H

#include "base/map.h"
#include "query/query_types.h"

#define DFT_MEMBER_SIZES    (UINT32_C(1) << 31) /* size classes are above the numbers of processes */
#define DFT_MEMBER_SIZE(id) (DFT_MEMBER_SIZES | (id))
#define DFT_MEMBER_IO       (DFT_MEMBER_SIZES | DFT_SIZE_CLASSES) /* its number is of nanoseconds */
/* Calls that moved bytes, and nobody knows how many each requested. */
#define DFT_MEMBER_UNKNOWN  DFT_MEMBER_SIZE(DFT_SIZE_CLASS_NONE)

static inline uint32_t dft_member_group(uint64_t key)
{
    return (uint32_t)(key >> 32) - 1;
}

/* Return 0 or -ENOMEM. */
int dft_members_add(struct dft_map *members, uint32_t group, uint32_t member, uint64_t calls);
/* The time of a row of calls. */
int dft_members_add_io(struct dft_map *members, uint32_t group, const struct dft_row *row);
/* A call row, or one of files, of which no sizes are known. */
int dft_members_add_row(struct dft_map *members, uint32_t group, uint32_t process, const struct dft_row *row);
/* `numbers`: those that groups have here, by the numbers that they have in `from`. */
int dft_members_merge(struct dft_map *into, const struct dft_map_slot *from, size_t count, const uint32_t *numbers);
/* Sets how many processes, the most common size class, and the time in I/O of the groups. */
void dft_members_take(const struct dft_map *members, struct dft_group *groups);

#endif
