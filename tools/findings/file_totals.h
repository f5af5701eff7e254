/* SPDX-License-Identifier: MIT */
/* One file as a whole: all that was done to it. */
#ifndef DFT_FILE_TOTALS_H
#define DFT_FILE_TOTALS_H

#include "findings/places.h"

struct dft_group;

/* What is known of one file. */
struct dft_file_totals {
    uint64_t file, calls, opens, data, bytes, time_ns, max_ns, meta_ns;
    uint64_t lost, lost_opens, lost_stats, lost_ns, lost_max_ns;
    struct dft_place_kind_sum kinds[DFT_PLACE_CALLS];
    uint64_t mapped, length;      /* length: the largest that a truncate gave it; 0: none did */
    uint64_t saved_as;            /* 0: it was not renamed to a name that many are */
    struct dft_copied_file whole; /* its parts that times and bytes tell */
    uint64_t read_bytes, write_bytes;
    int64_t end;
    int is_startup, is_folded, is_made, is_reopened, is_small;
};

/* Adds one of the groups of the file. `rows_lost`: where errors are not distinguished, calls that
 * failed did so with ENOENT. */
void dft_file_totals_add(const struct dft_facts *facts, int rows_lost, struct dft_file_totals *totals,
                         const struct dft_group *group);
/* All groups are in, and `mapped` and the flags are known. */
void dft_file_totals_end(const struct dft_facts *facts, struct dft_file_totals *totals);
/* Takes what large files need out of what is the directory's. Returns 0 or -ENOMEM. */
int dft_file_totals_take_large(const struct dft_facts *facts, struct dft_file_places *places,
                               struct dft_file_totals *totals);
/* Adds it to its directory, or pattern. */
void dft_file_totals_place(struct dft_file_place *place, const struct dft_file_totals *totals);

#endif
