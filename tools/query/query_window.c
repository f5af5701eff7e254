/* Answers with more groups than memory holds: given in windows, each the first groups in order behind the last window.
 *
 * First a survey: all parts of the keys (query_parts.c) are counted, without histograms, and of each group its value in
 * the order and the hash of its key are kept: 16 bytes. Then it is known which keys a window may hold, and they alone
 * are counted, in as many parts as their histograms take. Groups of one value differ only by their texts, so if more of
 * them than a window holds have the same value (or texts are what is sorted by), all of them are counted for each
 * window, and those at and before the last one of the window before are left out. Texts of groups that do not stay are
 * forgotten. So memory holds the survey, two windows with their texts, and the groups of one part. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "aggregator/pages.h"
#include "query/query_window.h"
#include "symbols/symbols.h"
#include "base/names.h"

#define WINDOW_SHARE 800 /* bytes of the budget for each group: 280 for itself, thrice, and texts */
#define WINDOW_MIN   16

/* Order without texts: equal when only these could tell. */
static int compare_values(struct dft_windows *windows, const struct dft_group *a, const struct dft_group *b)
{
    windows->sorting.with_keys = 0;
    return windows->sorting.column < 0 ? 0 : dft_group_compare(a, b, &windows->sorting);
}

static int compare_all(struct dft_windows *windows, const struct dft_group *a, const struct dft_group *b)
{
    windows->sorting.with_keys = 1;
    return dft_group_compare(a, b, &windows->sorting);
}

/* --- texts --------------------------------------------------------------------------------------------------------- */

static int add_text(struct dft_windows *windows, struct dft_names *into, uint64_t id)
{
    struct dft_text text = dft_names_text(windows->texts, id);

    return id && text.bytes ? dft_names_add(into, id, text.bytes, text.length, NULL) : 0;
}

/* Only those of groups that are there still, and of the last one. */
static int keep_texts(struct dft_windows *windows)
{
    struct dft_names *texts = dft_names_create(dft_symbols_show);
    int rc = texts ? 0 : -ENOMEM;

    for (uint32_t i = 0; !rc && i < windows->count; i++) {
        rc = add_text(windows, texts, windows->groups[i].key.file);
        if (!rc)
            rc = add_text(windows, texts, windows->groups[i].key.region);
    }
    if (!rc && windows->has_last)
        rc = add_text(windows, texts, windows->last.key.file);
    if (!rc && windows->has_last)
        rc = add_text(windows, texts, windows->last.key.region);
    if (rc) {
        dft_names_destroy(texts);
        return rc;
    }
    dft_names_destroy(windows->texts);
    windows->texts = windows->answer->texts = texts;
    return 0;
}

/* --- a window ------------------------------------------------------------------------------------------------------ */

static int sort_window(const void *left, const void *right, void *context)
{
    return compare_all(context, left, right);
}

/* Gets the texts of the groups that were gathered, which decide between equals, and keeps a window of them.
 * Collective. */
static int settle(struct dft_windows *windows)
{
    uint32_t n = 0;
    int rc = dft_answer_texts(windows->answer, windows->texts, windows->groups, windows->count);

    if (rc)
        return rc;
    for (uint32_t i = 0; i < windows->count; i++)
        if (!windows->has_last || compare_all(windows, &windows->groups[i], &windows->last) > 0)
            windows->groups[n++] = windows->groups[i];
    windows->count = n;
    if (n)
        qsort_r(windows->groups, n, sizeof *windows->groups, sort_window, windows);
    if (windows->count > windows->size)
        windows->count = windows->size;
    windows->settled = 1;
    return dft_comm_agree(keep_texts(windows));
}

/* May it be in the window, by its value alone? */
static int is_candidate(struct dft_windows *windows, const struct dft_group *group)
{
    if (windows->has_last && compare_values(windows, group, &windows->last) < 0)
        return 0;
    return !windows->settled || windows->count < windows->size ||
           compare_values(windows, group, &windows->groups[windows->size - 1]) <= 0;
}

static int gather_groups(struct dft_windows *windows, const struct dft_answer *part)
{
    uint32_t at = 0;
    int rc = 0;

    for (;;) {
        int full = 0;

        for (; at < part->count; at++) {
            if (!is_candidate(windows, &part->groups[at]))
                continue;
            if (windows->count == 2 * windows->size)
                break;
            windows->groups[windows->count++] = part->groups[at];
            windows->settled = windows->settled && windows->count <= windows->size ? 0 : windows->settled;
        }
        full = at < part->count;
        dft_comm_broadcast(&full, sizeof full);
        if (rc || !full)
            return rc;
        rc = settle(windows);
    }
}

static int next(struct dft_answer *answer)
{
    struct dft_windows *windows = answer->windows;
    int rc;

    if (answer->count) {
        windows->last = answer->groups[answer->count - 1];
        windows->has_last = 1;
    }
    windows->answer = answer;
    windows->sorting.answer = answer;
    windows->count = 0;
    windows->settled = 0;
    rc = dft_comm_agree(keep_texts(windows));
    if (!rc)
        rc = dft_windows_members(windows);
    if (!rc)
        rc = dft_windows_each_part(windows, NULL, gather_groups);
    if (!rc)
        rc = settle(windows);
    if (rc)
        return rc;
    answer->count = windows->count;
    if (windows->top && answer->count > windows->top - windows->given)
        answer->count = (uint32_t)(windows->top - windows->given);
    memcpy(answer->groups, windows->groups, answer->count * sizeof *answer->groups);
    windows->given += answer->count;
    return answer->has_union && !dft_column_is_swept(windows->sorting.column) ? dft_count_union(windows->asking, answer)
                                                                              : 0;
}

int dft_answer_next(struct dft_answer *answer)
{
    struct dft_windows *windows = answer->windows;
    int more = windows && windows->given < answer->found && (!windows->top || windows->given < windows->top);
    int rc;

    dft_comm_broadcast(&more, sizeof more);
    if (!more)
        return 0;
    rc = next(answer);
    return rc ? rc : 1;
}

static uint32_t size_of(const struct dft_asking *asking, const struct dft_order *order)
{
    uint64_t size = asking->budget / WINDOW_SHARE;

    if (size < WINDOW_MIN)
        size = WINDOW_MIN;
    if (order->at_once)
        size = order->at_once;
    return (uint32_t)(order->top && order->top < size ? order->top : size);
}

int dft_windows_begin(struct dft_asking *asking, const struct dft_order *order, struct dft_answer *answer)
{
    struct dft_windows *windows = calloc(1, sizeof *windows);
    int rc = windows ? 0 : -ENOMEM;

    if (!rc) {
        answer->windows = windows;
        windows->asking = asking;
        windows->top = order->top;
        windows->size = size_of(asking, order);
        windows->column = order->column ? strdup(order->column) : NULL;
        windows->groups = calloc(2 * (size_t)windows->size, sizeof *windows->groups);
        answer->groups = calloc(windows->size, sizeof *answer->groups);
        windows->texts = answer->texts = dft_names_create(dft_symbols_show);
        if (!windows->groups || !answer->groups || !windows->texts || (order->column && !windows->column))
            rc = -ENOMEM;
    }
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_order_find(answer, windows->column, &windows->sorting);
    if (!rc) {
        windows->answer = answer;
        windows->sorting.answer = answer;
        rc = dft_windows_survey(windows);
    }
    if (!rc)
        rc = next(answer);
    if (rc && windows)
        windows->asking = NULL; /* the caller ends it */
    return rc;
}

void dft_windows_end(struct dft_answer *answer)
{
    struct dft_windows *windows = answer->windows;

    if (!windows)
        return;
    if (windows->asking)
        dft_asking_end(windows->asking);
    free(windows->column);
    free(windows->groups);
    dft_pages_free(windows->survey, windows->survey_room * sizeof *windows->survey);
    free(windows);
    answer->windows = NULL;
}
