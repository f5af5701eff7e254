/* SPDX-License-Identifier: MIT */
/* Reads the table counters. */
#include <errno.h>

#include "views/filter_event.h"
#include "tables/columns.h"
#include "tables/reading.h"

static const char *unit_of(const struct dft_counter_series *series)
{
    static const char *const words[DFT_UNIT_LAST + 1] = {
        [DFT_UNIT_BYTES] = "bytes", [DFT_UNIT_NS] = "ns", [DFT_UNIT_PERCENT] = "percent"};

    return series->unit <= DFT_UNIT_LAST ? words[series->unit] : NULL;
}

static int put_sample(struct dft_reading *reading, unsigned worker, const struct dft_source_process *process,
                      const struct dft_counter_series *series, const struct dft_counter_sample *sample)
{
    struct dft_maker *maker = &reading->makers[worker];
    int rc = dft_maker_row(maker);

    if (rc)
        return rc;
    dft_maker_set(maker, DFT_COUNTERS_TIME, (int64_t)sample->time_ns);
    dft_maker_set(maker, DFT_COUNTERS_PROCESS, process->number);
    dft_maker_set(maker, DFT_COUNTERS_RANK, process->process.rank >= 0 ? process->process.rank : DFT_CELL_NULL);
    dft_maker_set_real(maker, DFT_COUNTERS_VALUE, dft_counter_sample_number(sample, series));
    rc = dft_maker_set_call(maker, DFT_COUNTERS_CAT, DFT_COUNTERS_NAME, series->id);
    if (!rc)
        rc = dft_maker_set_word(maker, DFT_COUNTERS_UNIT, unit_of(series));
    if (!rc)
        rc = dft_maker_set_word(maker, DFT_COUNTERS_KIND, series->kind == DFT_COUNTER_TOTAL ? "total" : "level");
    return rc ? rc : dft_reading_give_full(reading, worker, 0);
}

static int passes(const struct dft_reading *reading, const struct dft_counter_series *series,
                  const struct dft_counter_sample *sample)
{
    struct dft_event at = {.start_ns = sample->time_ns};

    return !reading->picks || (dft_filter_time(reading->filter, &at) && dft_filter_names(reading->filter, series->id));
}

static int read_block(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                      size_t number)
{
    struct dft_reading *reading = context;
    struct dft_counters counters;
    uint32_t all;
    const struct dft_source_process *process = &dft_source_processes(reading->source, &all)[block->process];
    int rc = dft_reading_stops(reading);

    (void)number;
    if (rc)
        return rc;
    rc = dft_reader_counters(reader, block, &counters);
    if (rc)
        return rc == -ENOMEM ? rc : 0;
    for (uint32_t i = 0; i < counters.count && !rc; i++) {
        const struct dft_counter_sample *sample = &counters.samples[i];
        const struct dft_counter_series *series = &counters.series[sample->series];

        if (passes(reading, series, sample))
            rc = put_sample(reading, worker, process, series, sample);
    }
    return rc;
}

/* As commands that show counters choose their blocks. */
static int wants(const struct dft_block *block)
{
    return block->type == DFT_BLOCK_COUNTERS && (block->state == DFT_BLOCK_USED || block->state == DFT_BLOCK_OVERLAPS);
}

int dft_read_counters(struct dft_reading *reading)
{
    int rc = dft_reading_begin(reading, dft_source_threads(reading->source), reading->request->columns);

    if (!rc)
        rc = dft_reading_blocks(reading, wants, read_block, reading);
    dft_reading_end(reading);
    return rc;
}
