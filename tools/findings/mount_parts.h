/* SPDX-License-Identifier: MIT */
/* Calls on each mount by kind, and what of them no other finding accounts for. */
#ifndef DFT_MOUNT_PARTS_H
#define DFT_MOUNT_PARTS_H

#include "findings/facts.h"

/* Calls of one kind on one mount. */
struct dft_mount_part {
    uint64_t mount;
    const struct dft_group *group; /* of the answer */
    struct dft_text type;          /* of the file system; empty: not known */
    enum dft_mount_kind kind;
    uint8_t op, class, size; /* op: 0 where aggregates do not tell; size: class of what a call asks for, or moves */
    uint16_t err;
    uint64_t calls, bytes, time_ns;
    uint64_t all_calls, all_ns; /* with what other findings account for */
};

struct dft_mount_parts {
    struct dft_mount_part *list; /* by descending time */
    size_t count;
    uint64_t costs[DFT_FINDINGS]; /* of the findings so far */
};

/* Returns 0 or -ENOMEM. */
int dft_mount_parts_collect(const struct dft_rules *rules, struct dft_mount_parts *parts);
void dft_mount_parts_fini(struct dft_mount_parts *parts);
/* Takes from the parts of a mount what other findings account for. Where it is not known how much
 * of a finding is about this mount, that is the most that it can be. Returns 0 or -ENOMEM. */
int dft_mount_parts_reduce(const struct dft_rules *rules, struct dft_mount_parts *parts, uint64_t mount);

#endif
