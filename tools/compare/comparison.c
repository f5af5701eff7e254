/* SPDX-License-Identifier: MIT */
/* What a comparison consists of, for the files that fill it and show it: names, texts, answers. */

#include "compare/comparison.h"
#include "base/names.h"

static const struct {
    const char *word, *name;
} measures[DFT_MEASURES] = {
    {"count", "count"},     {"bytes", "bytes"},     {"time", "time_ns"},
    {"p50", "time_p50_ns"}, {"p95", "time_p95_ns"}, {"p99", "time_p99_ns"},
};

const char *dft_measure_name(enum dft_measure measure)
{
    return measures[measure].name;
}

const char *dft_measure_word(enum dft_measure measure)
{
    return measures[measure].word;
}

const char *dft_spread_name(enum dft_spread spread)
{
    static const char *const names[] = {"same", "beyond", "within", "unknown"};

    return names[spread];
}

const char *dft_compared_name(enum dft_compared table)
{
    static const char *const names[] = {"total", "calls", "regions", "files", "file_calls", "ranks"};

    return names[table];
}

#define LEFT_OUT                                                                                                       \
    "not compared: calls on each file, percentiles of files, slices of time; no events were kept of processes of "

const char *dft_compare_left_out(const struct dft_comparison *comparison)
{
    static const char *const texts[] = {NULL, LEFT_OUT "A", LEFT_OUT "B", LEFT_OUT "A and B"};

    unsigned sides = 0;

    for (uint32_t run = 0; run < comparison->nruns; run++)
        sides |= comparison->runs[run].aggregated ? 1u << comparison->runs[run].side : 0;
    return texts[sides];
}

struct dft_text dft_compare_text(const struct dft_comparison *comparison, uint64_t id, char buffer[18])
{
    struct dft_text text = {"", 0};

    for (uint32_t run = 0; id && run < comparison->nruns; run++) {
        text = dft_names_text(dft_source_names_table(comparison->runs[run].source), id);
        if (text.bytes)
            return text;
    }
    return id ? dft_names_show(dft_source_names_table(comparison->runs[0].source), id, buffer) : text;
}

int dft_compare_is_empty(const struct dft_comparison *comparison)
{
    uint32_t all = 0;

    for (int t = 0; t < DFT_COMPARED_COUNT; t++)
        all += comparison->tables[t].count;
    return !all;
}

int dft_compare_is_same(const struct dft_comparison *comparison)
{
    for (int t = 0; t < DFT_COMPARED_COUNT; t++)
        for (uint32_t i = 0; i < comparison->tables[t].count; i++)
            for (int m = 0; m < DFT_MEASURES; m++) {
                const struct dft_change *change = &comparison->tables[t].items[i].changes[m];

                if (change->unsaid)
                    continue;
                if (change->known[0] != change->known[1] || change->value[0] != change->value[1] ||
                    change->low[0] != change->high[0] || change->low[1] != change->high[1])
                    return 0;
            }
    return !dft_compare_is_empty(comparison);
}

const struct dft_answer *dft_compare_answer(const struct dft_compared_run *run, enum dft_compared table)
{
    if (table == DFT_COMPARED_FILES || table == DFT_COMPARED_FILE_CALLS)
        return &run->files;
    return table == DFT_COMPARED_RANKS ? &run->ranks : &run->calls;
}
