/* SPDX-License-Identifier: MIT */
/* Names the processes of a line. */
#include "lineage/lineage_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "base/write_text.h"

#define RANGES_MAX 6

int dft_lineage_ranks_add(struct dft_lineage_ranks *ranks, uint32_t process)
{
    if (ranks->count && ranks->list[ranks->count - 1] == process)
        return 0;
    return DFT_ARRAY_PUSH(ranks->list, ranks->capacity, ranks->count, process);
}

static int by_rank(const void *left, const void *right, void *context)
{
    const struct dft_lineage_answer *answer = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    DFT_ORDER(answer->processes[a].process.rank, answer->processes[b].process.rank);
    DFT_ORDER(a, b);
    return 0;
}

static int rank_of(const struct dft_lineage_ranks *ranks, uint32_t i)
{
    return ranks->answer->processes[ranks->list[i]].process.rank;
}

static void print_ranges(const struct dft_lineage_ranks *ranks, FILE *out)
{
    uint32_t i = 0, to, ranges = 0;

    while (i < ranks->count && rank_of(ranks, i) < 0)
        i++;
    if (i == ranks->count)
        return;
    fprintf(out, " (rank%s ", rank_of(ranks, i) == rank_of(ranks, ranks->count - 1) ? "" : "s");
    for (; i < ranks->count && ranges < RANGES_MAX; i = to, ranges++) {
        for (to = i + 1; to < ranks->count && rank_of(ranks, to) <= rank_of(ranks, to - 1) + 1;)
            to++;
        fprintf(out, "%s%d", ranges ? ", " : "", rank_of(ranks, i));
        if (rank_of(ranks, to - 1) != rank_of(ranks, i))
            fprintf(out, "-%d", rank_of(ranks, to - 1));
    }
    fputs(i < ranks->count ? ", ...)" : ")", out);
}

void dft_lineage_ranks_print(struct dft_lineage_ranks *ranks, FILE *out)
{
    char text[DFT_TEXT_ROOM];
    uint32_t unique = 0;

    if (ranks->count)
        qsort_r(ranks->list, ranks->count, sizeof *ranks->list, by_rank, (void *)(uintptr_t)ranks->answer);
    for (uint32_t i = 0; i < ranks->count; i++)
        if (!unique || ranks->list[unique - 1] != ranks->list[i])
            ranks->list[unique++] = ranks->list[i];
    ranks->count = unique;
    if (unique == 1)
        fprintf(out, "process %u", ranks->answer->processes[ranks->list[0]].process.pid);
    else
        fprintf(out, "%s processes", dft_text_count(text, unique));
    print_ranges(ranks, out);
}

void dft_lineage_ranks_fini(struct dft_lineage_ranks *ranks)
{
    free(ranks->list);
    memset(ranks, 0, sizeof *ranks);
}
