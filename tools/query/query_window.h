/* What the windows of an answer are made with; private to them. */
#ifndef DFT_QUERY_WINDOW_H
#define DFT_QUERY_WINDOW_H

#include "query/query_inside.h"

struct surveyed {
    uint64_t value; /* the lower the earlier */
    uint64_t hash;
};

struct dft_windows {
    struct dft_asking *asking;
    char *column; /* to sort by, or NULL */
    uint64_t top;
    uint32_t size;  /* groups in a window */
    uint64_t given; /* groups in all windows so far */
    struct surveyed *survey;
    uint64_t nsurvey, survey_room;
    struct dft_group *groups; /* of the window in the making, twice its size */
    uint32_t count;
    int settled;           /* they are sorted, with their texts, and no more than a window */
    struct dft_group last; /* of the window before */
    int has_last;
    struct dft_names *texts; /* of these groups */
    struct dft_answer *answer;
    struct dft_sorting sorting;
};

/* query_survey.c. Gives each part of what is counted, as an answer of its own, to `take`; sums (may be NULL) gets how
 * many groups there were. Collective, as the others. */
int dft_windows_each_part(struct dft_windows *windows, struct dft_answer *sums,
                          int (*take)(struct dft_windows *, const struct dft_answer *));
/* Counts all groups, and keeps of each what decides which window it is in. */
int dft_windows_survey(struct dft_windows *windows);
/* Has only those keys counted that the next window may hold. */
int dft_windows_members(struct dft_windows *windows);

#endif
