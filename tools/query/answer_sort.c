/* SPDX-License-Identifier: MIT */
/* Groups in order, with the texts that decide it. */
#include "query/answer_sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "query/answer.h"
#include "query/file_facts.h"
#include "query/query_types.h"
#include "query/spilled_texts.h"
#include "intake/source_names.h"
#include "object/object.h"

static int compare_key(const struct dft_answer *answer, const struct dft_group *a, const struct dft_group *b,
                       enum dft_by by)
{
    struct dft_key_value x, y;
    uint32_t n;
    int order;

    if (by == DFT_BY_PROCESS) { /* not by its key, which is random */
        uint32_t p = answer->process_group[a->key.process_group - 1]->number;
        uint32_t q = answer->process_group[b->key.process_group - 1]->number;

        return (p > q) - (p < q);
    }
    dft_group_value(answer, a, by, &x);
    dft_group_value(answer, b, by, &y);
    if (x.type != y.type)
        return x.type < y.type ? -1 : 1;
    if (x.type == DFT_KEY_UINT)
        return x.number < y.number ? -1 : x.number > y.number;
    if (x.type == DFT_KEY_NULL)
        return 0;
    n = x.text.length < y.text.length ? x.text.length : y.text.length;
    order = n ? memcmp(x.text.bytes, y.text.bytes, n) : 0;
    return order ? order : x.text.length < y.text.length ? -1 : x.text.length > y.text.length;
}

int dft_group_compare(const void *left, const void *right, void *context)
{
    const struct dft_sorting *sorting = context;
    const struct dft_answer *answer = sorting->answer;
    const struct dft_group *a = left, *b = right;
    int64_t x = 0, y = 0;
    int order = 0;

    if (sorting->column >= 0) {
        int known_x = dft_column_value(answer, a, (enum dft_column)sorting->column, &x);
        int known_y = dft_column_value(answer, b, (enum dft_column)sorting->column, &y);

        if (known_x != known_y)
            return known_x ? -1 : 1;
        if (sorting->column == DFT_COLUMN_SELF)
            order = x > y ? -1 : x < y;
        else
            order = (uint64_t)x > (uint64_t)y ? -1 : (uint64_t)x < (uint64_t)y;
    } else {
        order = sorting->key == DFT_BY_SIZE /* by size, not by text */
                    ? (int)dft_facets_size_class(a->key.facets) - (int)dft_facets_size_class(b->key.facets)
                    : compare_key(answer, a, b, (enum dft_by)sorting->key);
    }
    for (unsigned i = 0; !order && sorting->with_keys && i < answer->query.nby; i++)
        order = compare_key(answer, a, b, (enum dft_by)answer->query.by[i]);
    if (!order && sorting->with_keys) /* two regions of one name in two categories */
        order = a->key.region < b->key.region ? -1 : a->key.region > b->key.region;
    return order;
}

static int is_by_group_of_files(const struct dft_answer *answer)
{
    for (unsigned i = 0; i < answer->query.nby; i++)
        if (DFT_BY_FILE_GROUPS >> answer->query.by[i] & 1)
            return 1;
    return 0;
}

int dft_answer_texts(const struct dft_answer *answer, struct dft_names *into, const struct dft_group *groups,
                     uint32_t count)
{
    uint64_t *files = malloc((count + 1u) * sizeof *files), *regions = malloc((count + 1u) * sizeof *regions);
    uint64_t *stacks = malloc((2u * (size_t)count + 1u) * sizeof *stacks);
    size_t nfiles = 0, nregions = 0, nstacks = 0;
    int rc = dft_comm_agree(files && regions && stacks ? 0 : -ENOMEM);

    for (uint32_t i = 0; !rc && i < count; i++) {
        if (groups[i].key.file)
            files[nfiles++] = groups[i].key.file;
        if (groups[i].key.region)
            regions[nregions++] = groups[i].key.region;
        if (groups[i].key.stack)
            stacks[nstacks++] = groups[i].key.stack;
        if (groups[i].key.line)
            stacks[nstacks++] = groups[i].key.line;
    }
    if (!rc && answer->spilled_texts)
        rc = dft_spilled_texts_load(answer->spilled_texts, into, files, nfiles);
    else if (!rc && is_by_group_of_files(answer))
        rc = dft_file_facts_texts(answer->files, into, files, nfiles);
    else if (!rc)
        rc = dft_source_names_into(answer->dft_source, into, files, nfiles);
    if (!rc)
        rc = dft_source_names_into(answer->dft_source, into, regions, nregions);
    if (!rc)
        rc = dft_source_names(answer->dft_source, stacks, nstacks);
    free(files);
    free(regions);
    free(stacks);
    return rc;
}

int dft_order_check(const struct dft_order *order, const struct dft_query *query)
{
    const struct dft_answer empty = {.query = *query};
    struct dft_sorting sorting;

    return dft_order_find(&empty, order->column, &sorting);
}

static int compare_values(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a > b ? -1 : a < b;
}

/* Leaves those groups that may be among the first `top`, which is fewer than there are: by their
 * values alone, as these are sorted far quicker than groups. Unknown values come last. Returns 0 or
 * -ENOMEM. */
static int drop_last(struct dft_answer *answer, const struct dft_sorting *sorting, uint64_t top)
{
    uint64_t *values = malloc(2 * (size_t)answer->count * sizeof *values), *sorted = values + answer->count, least;
    uint32_t left = 0;

    if (!values)
        return -ENOMEM;
    for (uint32_t i = 0; i < answer->count; i++) {
        int64_t value;

        if (!dft_column_value(answer, &answer->groups[i], (enum dft_column)sorting->column, &value))
            values[i] = 0;
        else if (sorting->column == DFT_COLUMN_SELF)
            values[i] = (uint64_t)value ^ UINT64_C(1) << 63;
        else
            values[i] = (uint64_t)value;
        sorted[i] = values[i];
    }
    qsort(sorted, answer->count, sizeof *sorted, compare_values);
    least = sorted[top - 1];
    for (uint32_t i = 0; i < answer->count; i++)
        if (values[i] >= least)
            answer->groups[left++] = answer->groups[i];
    answer->count = left;
    free(values);
    return 0;
}

int dft_answer_sort(struct dft_answer *answer, const char *column, uint64_t top)
{
    struct dft_sorting sorting;
    uint32_t count;
    int rc = dft_order_find(answer, column, &sorting);

    if (!rc)
        rc = dft_comm_agree(top && top < answer->count && sorting.column >= 0 ? drop_last(answer, &sorting, top) : 0);
    if (rc)
        return rc;
    count = answer->count;
    rc = dft_answer_texts(answer, answer->texts ? answer->texts : dft_source_names_table(answer->dft_source),
                          answer->groups, count);
    if (rc)
        return rc;
    sorting.with_keys = 1;
    if (count)
        qsort_r(answer->groups, count, sizeof *answer->groups, dft_group_compare, &sorting);
    answer->count = top && top < count ? (uint32_t)top : count;
    return 0;
}
