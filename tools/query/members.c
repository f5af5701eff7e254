/* SPDX-License-Identifier: MIT */
/* Processes and size classes of groups: sums that merge in any order. */
#include "query/members.h"

#include <errno.h>

#include "format/ops.h"

int dft_members_add(struct dft_map *members, uint32_t group, uint32_t member, uint64_t calls)
{
    uint64_t *sum = calls ? dft_map_put(members, ((uint64_t)group + 1) << 32 | member) : NULL;

    if (sum)
        *sum += calls;
    return sum || !calls ? 0 : -ENOMEM;
}

int dft_members_add_io(struct dft_map *members, uint32_t group, const struct dft_row *row)
{
    return dft_is_io(row->io) ? dft_members_add(members, group, DFT_MEMBER_IO, row->metrics.dur_sum) : 0;
}

int dft_members_add_row(struct dft_map *members, uint32_t group, uint32_t process, const struct dft_row *row)
{
    const struct dft_metrics *m = &row->metrics;
    int rc;

    if (row->kind == DFT_ROW_HISTOGRAM)
        return 0;
    rc = dft_members_add(members, group, process, m->count);
    rc = rc ? rc : dft_members_add_io(members, group, row);
    if (!rc && (row->size_class || m->data || row->class == DFT_CLASS_READ || row->class == DFT_CLASS_WRITE))
        rc = dft_members_add(members, group, DFT_MEMBER_SIZE(row->size_class), m->count);
    return rc;
}

int dft_members_merge(struct dft_map *into, const struct dft_map_slot *from, size_t count, const uint32_t *numbers)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < count; i++)
        if (from[i].key)
            rc = dft_members_add(into, numbers[dft_member_group(from[i].key)], (uint32_t)from[i].key, from[i].value);
    return rc;
}

static void take_size(struct dft_group *group, uint32_t size, uint64_t calls)
{
    if (size == DFT_SIZE_CLASS_NONE)
        calls = UINT64_MAX;
    if (calls < group->common_calls || (calls == group->common_calls && size > group->common_size))
        return;
    group->common_size = size;
    group->common_calls = calls;
}

void dft_members_take(const struct dft_map *members, struct dft_group *groups)
{
    for (size_t i = 0; i < members->capacity; i++) {
        const struct dft_map_slot *slot = &members->slots[i];
        uint32_t member = (uint32_t)slot->key;

        if (!slot->key)
            continue;
        if (member == DFT_MEMBER_IO)
            groups[dft_member_group(slot->key)].io_ns = slot->value;
        else if (member & DFT_MEMBER_SIZES)
            take_size(&groups[dft_member_group(slot->key)], member & ~DFT_MEMBER_SIZES, slot->value);
        else
            groups[dft_member_group(slot->key)].processes++;
    }
}
