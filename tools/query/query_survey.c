/* The survey: which window each group of an answer is in, in 16 bytes a group. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "aggregator/pages.h"
#include "query/query_window.h"

#define SURVEY_MAX (UINT64_C(8) << 20) /* groups; of more nothing is known, and every window counts all */

static uint64_t value_of(const struct dft_windows *windows, const struct dft_group *group)
{
    const int column = windows->sorting.column;
    int64_t number;
    uint64_t value;

    if (column < 0)
        return 0;
    if (!dft_column_value(windows->answer, group, (enum dft_column)column, &number))
        return UINT64_MAX;
    value = (uint64_t)number;
    if (column == DFT_COLUMN_SELF)
        value ^= UINT64_C(1) << 63;
    return value ? UINT64_MAX - value : UINT64_MAX - 1; /* 0 and 1 together: texts tell them apart no worse */
}

static int by_survey(const void *left, const void *right)
{
    const struct surveyed *a = left, *b = right;

    return a->value < b->value ? -1 : a->value > b->value;
}

static int survey_groups(struct dft_windows *windows, const struct dft_answer *part)
{
    uint64_t room = windows->nsurvey + part->count;

    if (room > SURVEY_MAX) {
        windows->nsurvey = UINT64_MAX / 2;
        return 0;
    }
    if (room > windows->survey_room) {
        struct surveyed *bigger;

        room += room / 2;
        bigger = dft_pages_grow(windows->survey, windows->survey_room * sizeof *bigger, room * sizeof *bigger);
        if (!bigger)
            return -ENOMEM;
        windows->survey = bigger;
        windows->survey_room = room;
    }
    for (uint32_t i = 0; i < part->count; i++)
        windows->survey[windows->nsurvey++] =
            (struct surveyed){value_of(windows, &part->groups[i]), dft_group_hash(&part->groups[i].key)};
    return 0;
}

/* Gives each part, as an answer of its own, to `take`; collective. */
int dft_windows_each_part(struct dft_windows *windows, struct dft_answer *sums,
                          int (*take)(struct dft_windows *, const struct dft_answer *))
{
    struct dft_asking *asking = windows->asking;
    int rc = 0;

    for (uint32_t i = 0; !rc && i < asking->nparts;) {
        struct dft_answer part;

        rc = dft_count_part(asking, i);
        if (rc == DFT_TOO_MANY) {
            rc = 0;
            continue;
        }
        if (!rc && !i)
            dft_answer_describe(asking, windows->answer);
        part = *windows->answer;
        part.groups = NULL;
        part.count = 0;
        part.found = part.all_ns = 0;
        if (!rc)
            rc = dft_query_finish(asking, &part);
        if (!rc && part.has_union && dft_column_is_swept(windows->sorting.column))
            rc = dft_count_union(asking, &part);
        if (!rc)
            rc = dft_comm_agree(take(windows, &part));
        if (sums) {
            sums->found += part.found;
            sums->all_ns += part.all_ns;
        }
        free(part.groups);
        i++;
    }
    return rc;
}

static int by_percentile(const struct dft_windows *windows)
{
    return windows->sorting.column >= DFT_COLUMN_P50 && windows->sorting.column <= DFT_COLUMN_P99;
}

int dft_windows_survey(struct dft_windows *windows)
{
    struct dft_answer sums = {0};
    int rc;

    windows->asking->histograms = by_percentile(windows);
    rc = dft_windows_each_part(windows, &sums, survey_groups);
    windows->asking->histograms = windows->asking->query.percentiles;
    windows->answer->found = sums.found;
    windows->answer->all_ns = sums.all_ns;
    if (windows->nsurvey > SURVEY_MAX) {
        dft_pages_free(windows->survey, windows->survey_room * sizeof *windows->survey);
        windows->survey = NULL;
        windows->nsurvey = windows->survey_room = 0;
    } else if (windows->nsurvey) {
        qsort(windows->survey, windows->nsurvey, sizeof *windows->survey, by_survey);
    }
    return rc;
}

static int by_hash(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* The keys that the next window may hold: whole classes of one value. */
int dft_windows_members(struct dft_windows *windows)
{
    struct dft_asking *asking = windows->asking;
    uint64_t from = windows->given, to = from + windows->size, count = 0;
    int rc;

    free(asking->members);
    asking->members = NULL;
    if (windows->nsurvey) {
        if (to > windows->nsurvey)
            to = windows->nsurvey;
        while (from && windows->survey[from - 1].value == windows->survey[from].value)
            from--;
        while (to < windows->nsurvey && windows->survey[to].value == windows->survey[to - 1].value)
            to++;
        count = to - from;
    }
    dft_comm_broadcast(&count, sizeof count);
    asking->nmembers = count;
    if (!count)
        return 0;
    asking->members = malloc(count * sizeof *asking->members);
    rc = dft_comm_agree(asking->members ? 0 : -ENOMEM);
    if (rc)
        return rc;
    for (uint64_t i = 0; windows->nsurvey && i < count; i++)
        asking->members[i] = windows->survey[from + i].hash;
    dft_comm_broadcast(asking->members, count * sizeof *asking->members);
    qsort(asking->members, count, sizeof *asking->members, by_hash);
    return 0;
}
