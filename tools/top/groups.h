/* SPDX-License-Identifier: MIT */
/* The table of `dftmerge top`: calls grouped by a key, with what happened in each of the last
 * intervals. */
#ifndef DFT_TOP_GROUPS_H
#define DFT_TOP_GROUPS_H

#include "top/watch.h"

#define DFT_TOP_POINTS 60u /* intervals that are remembered */

enum dft_top_by { DFT_TOP_CALL, DFT_TOP_FILE, DFT_TOP_RANK, DFT_TOP_PROCESS, DFT_TOP_CLASS, DFT_TOP_BYS };
enum dft_top_sort {
    DFT_TOP_BY_CALLS,
    DFT_TOP_BY_CALL_RATE,
    DFT_TOP_BY_TIME,
    DFT_TOP_BY_BUSY,
    DFT_TOP_BY_BYTES,
    DFT_TOP_BY_BYTE_RATE,
    DFT_TOP_BY_ERRORS,
    DFT_TOP_SORTS
};

/* The words that a user gives and sees. */
extern const char *const dft_top_by_words[DFT_TOP_BYS];
extern const char *const dft_top_sort_words[DFT_TOP_SORTS];

struct dft_top_point {
    uint64_t calls, time_ns, bytes;
};

struct dft_top_group {
    uint64_t key; /* of call, file or process; rank + 2; enum dft_io + 1 */
    struct dft_top_counts now, before;
    struct dft_top_point points[DFT_TOP_POINTS]; /* the place of the newest is groups->at */
};

struct dft_top_groups {
    enum dft_top_by by;
    struct dft_map places; /* key -> position + 1 */
    struct dft_top_group *list;
    size_t count, capacity;
    uint32_t at, known;   /* known: how many points there are */
    uint64_t looked_ns;   /* when it was made */
    uint64_t interval_ns; /* of the newest point; 0: there is none */
    struct dft_top_group total;
};

/* Adds up all processes that are shown, and makes a point of what has happened since the last time.
 * Returns 0 or -ENOMEM. */
int dft_top_groups_update(struct dft_top_groups *groups, const struct dft_top_watch *watch, uint64_t now_ns);
/* Positions in the list in the order of a column, the largest first; those without calls are left
 * out. `filter`: a part of their names, or NULL. The caller frees *order. Returns 0 or -ENOMEM. */
int dft_top_groups_order(const struct dft_top_groups *groups, const struct dft_top_watch *watch, enum dft_top_sort sort,
                         const char *filter, uint32_t **order, size_t *count);
void dft_top_groups_fini(struct dft_top_groups *groups);

/* A name for people, escaped; the caller frees it. NULL: no memory. */
char *dft_top_group_name(const struct dft_top_groups *groups, const struct dft_top_watch *watch,
                         const struct dft_top_group *group);
struct dft_top_point dft_top_newest(const struct dft_top_groups *groups, const struct dft_top_group *group);

#endif
