/* SPDX-License-Identifier: MIT */
/* Answers with more groups than memory holds: returned page by page, in order.
 *
 * The groups come in batches (spill.c). Each is sorted with its texts, cut to the first few where
 * no more are wanted, and written into the spill file: a run. Then the runs are merged, and a page
 * is what comes next of them. So memory holds one batch with its texts, later a page with its
 * texts and a buffer of each run. Rank 0 alone has runs. */
#include "query/answer_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "mpi/comm.h"
#include "query/answer.h"
#include "query/answer_groups.h"
#include "query/answer_runs.h"
#include "query/answer_sort.h"
#include "query/busy_union.h"
#include "query/execution.h"
#include "query/file_facts.h"
#include "query/query_types.h"
#include "query/spill.h"
#include "query/spilled_texts.h"
#include "symbols/symbols.h"

#define PAGE_SHARE 800u /* bytes of the budget for each group: 280 for itself, and texts */
#define PAGE_MIN   16u

struct dft_pages {
    struct dft_execution *execution;
    struct dft_answer *answer;
    char *column; /* to sort by, or NULL */
    uint64_t top;
    uint32_t size;  /* groups of a page */
    uint64_t given; /* groups of all pages so far */
    struct dft_spilled_texts
        *texts; /* of files, when they are keys; NULL with many ranks, which fetch them batch by batch */
    struct dft_runs runs;
};

/* The groups of a batch in order, as a run. Collective. */
static int take_batch(struct dft_pages *pages)
{
    struct dft_answer part = *pages->answer;
    int rc;

    part.groups = NULL;
    part.count = 0;
    part.found = part.all_ns = 0;
    part.all = (struct dft_totals){0};
    part.texts = dft_names_create(dft_symbols_show);
    part.spilled_texts = pages->texts;
    if (pages->texts)
        dft_spilled_texts_choose(pages->texts, pages->execution->batch, pages->execution->next_partition);
    rc = dft_comm_agree(part.texts ? 0 : -ENOMEM);
    if (!rc)
        rc = dft_query_finish(pages->execution, &part);
    pages->answer->found += part.found;
    pages->answer->all_ns += part.all_ns;
    pages->answer->all.count += part.all.count;
    pages->answer->all.errors += part.all.errors;
    pages->answer->all.time_ns += part.all.time_ns;
    pages->answer->all.bytes += part.all.bytes;
    if (!rc && part.has_union && dft_column_is_swept(pages->runs.sorting.column))
        rc = dft_count_union(pages->execution, &part);
    if (!rc)
        rc = dft_answer_sort(&part, pages->column, pages->top);
    if (!rc)
        rc = dft_comm_agree(dft_spill_failed(pages->execution, dft_runs_write(&pages->runs, &part)));
    dft_names_destroy(part.texts);
    free(part.groups);
    return rc;
}

/* --- pages ------------------------------------------------------------------------------------ */

/* Texts of what comes next alone. */
static int forget_texts(struct dft_pages *pages)
{
    struct dft_names *texts = dft_names_create(dft_symbols_show);
    int rc = texts ? dft_runs_move_texts(&pages->runs, texts) : -ENOMEM;

    if (texts) {
        dft_names_destroy(pages->answer->texts);
        pages->answer->texts = texts;
    }
    return rc;
}

/* Fills the answer with the groups that come next. */
static int fill_page(struct dft_pages *pages)
{
    struct dft_answer *answer = pages->answer;
    uint64_t left = pages->top ? pages->top - pages->given : UINT64_MAX;
    uint32_t count = left < pages->size ? (uint32_t)left : pages->size;
    int rc = 1;

    answer->count = 0;
    while (answer->count < count && rc > 0) {
        rc = dft_runs_next(&pages->runs, &answer->groups[answer->count]);
        answer->count += rc > 0;
    }
    pages->given += answer->count;
    return rc < 0 ? dft_spill_failed(pages->execution, rc) : 0;
}

static int next(struct dft_pages *pages)
{
    int rc = forget_texts(pages);

    if (!rc)
        rc = fill_page(pages);
    rc = dft_comm_agree(rc);
    return !rc && pages->answer->has_union && !dft_column_is_swept(pages->runs.sorting.column)
               ? dft_count_union(pages->execution, pages->answer)
               : rc;
}

int dft_answer_next(struct dft_answer *answer)
{
    struct dft_pages *pages = answer->pages;
    int more = pages && pages->runs.nheap && (!pages->top || pages->given < pages->top);
    int rc;

    dft_comm_broadcast(&more, sizeof more);
    if (!more)
        return 0;
    pages->answer = answer; /* the caller may have moved it */
    pages->runs.sorting.answer = answer;
    rc = next(pages);
    return rc ? rc : 1;
}

static uint32_t size_of(const struct dft_execution *execution, const struct dft_order *order)
{
    uint64_t size = execution->budget / PAGE_SHARE;

    if (size < PAGE_MIN)
        size = PAGE_MIN;
    if (order->at_once)
        size = order->at_once;
    return (uint32_t)(order->top && order->top < size ? order->top : size);
}

static int pages_init(struct dft_pages *pages, const struct dft_order *order, struct dft_answer *answer)
{
    answer->pages = pages;
    pages->answer = answer;
    pages->top = order->top;
    pages->size = size_of(pages->execution, order);
    pages->column = order->column ? strdup(order->column) : NULL;
    answer->groups = calloc(pages->size, sizeof *answer->groups);
    answer->texts = pages->runs.texts = dft_names_create(dft_symbols_show);
    pages->runs.file = &pages->execution->file;
    pages->runs.memory = pages->execution->budget / 2;
    if (!answer->groups || !answer->texts || (order->column && !pages->column))
        return -ENOMEM;
    return dft_order_find(answer, pages->column, &pages->runs.sorting);
}

int dft_pages_begin(struct dft_execution *execution, const struct dft_order *order, struct dft_answer *answer)
{
    struct dft_pages *pages = calloc(1, sizeof *pages);
    int rc = pages ? 0 : -ENOMEM;

    if (pages) {
        pages->execution = execution;
        rc = pages_init(pages, order, answer);
    }
    if (!rc && DFT_HAS_FILES(execution) && dft_comm_size() == 1)
        rc = dft_spill_failed(execution, dft_spilled_texts_create(&pages->texts, execution->source, answer->files,
                                                                  &execution->partitions));
    rc = dft_comm_agree(rc);
    while (!rc && (rc = dft_next_groups(execution)) > 0)
        rc = take_batch(pages);
    if (!rc) {
        dft_spilled_texts_destroy(pages->texts);
        pages->texts = NULL;
        pages->runs.sorting.with_keys = 1;
        rc = dft_comm_agree(dft_spill_failed(execution, dft_runs_merge(&pages->runs)));
    }
    if (!rc)
        rc = next(pages);
    if (rc && pages)
        pages->execution = NULL; /* the caller ends it */
    return rc;
}

int dft_pages_hold(struct dft_execution *execution, struct dft_answer *answer)
{
    answer->pages = calloc(1, sizeof *answer->pages);
    if (dft_comm_agree(answer->pages ? 0 : -ENOMEM))
        return -ENOMEM;
    answer->pages->execution = execution;
    return 0;
}

int dft_answer_each(struct dft_answer *answer, int (*take)(void *context, const struct dft_answer *answer),
                    void *context)
{
    struct dft_execution *execution = answer->pages->execution;
    int rc = 0;

    while (!rc && (rc = dft_next_groups(execution)) > 0) {
        rc = dft_query_finish(execution, answer);
        if (!rc)
            rc = dft_comm_agree(take(context, answer));
        free(answer->groups);
        answer->groups = NULL;
        answer->count = 0;
    }
    dft_execution_destroy(execution);
    answer->pages->execution = NULL;
    return rc;
}

static void pages_end(struct dft_answer *answer)
{
    struct dft_pages *pages = answer->pages;

    if (!pages)
        return;
    if (pages->execution)
        dft_execution_destroy(pages->execution);
    dft_runs_fini(&pages->runs);
    dft_spilled_texts_destroy(pages->texts);
    free(pages->column);
    free(pages);
    answer->pages = NULL;
}

void dft_answer_fini(struct dft_answer *answer)
{
    pages_end(answer);
    dft_names_destroy(answer->texts);
    dft_file_facts_destroy(answer->files);
    free(answer->groups);
    free(answer->bins);
    free(answer->process_group);
    memset(answer, 0, sizeof *answer);
}
