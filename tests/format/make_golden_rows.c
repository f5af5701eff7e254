/* SPDX-License-Identifier: MIT */
/* The rows of the golden file. */
#include "make_golden.h"

static void list_row(const struct dft_row *row)
{
    const struct dft_metrics *m = &row->metrics;

    if (row->kind == DFT_ROW_HISTOGRAM)
        return;
    fprintf(golden_file, "row %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %ld %lu %lu %lu %ld %ld %lu %lu %lu %lu",
            row->interval, row->region, row->subject, m->count, m->samples, m->errors, m->dur_sum, m->dur_min,
            m->dur_max, m->edge, m->data, m->step, m->bytes, m->size_min, m->size_max, m->offset_min, m->offset_max,
            m->first_start, m->last_end, m->sequential, m->consecutive);
    fprintf(golden_file, " %lu %lu %lu %u\n", m->asked, m->turns, m->occupancy, row->io);
}

static int put_rows(const struct dft_buckets *buckets)
{
    const void *block;

    for (uint32_t i = 0; golden_list && i < buckets->count; i++)
        list_row(&buckets->rows[i]);
    return golden_list ? 0 : golden_put(dft_encode_buckets(golden_encoder, buckets, &block), &block);
}

int golden_put_buckets(void)
{
    static const struct dft_bin durations[] = {{3, 7}, {64, 1}, {1919, UINT64_MAX}}, sizes[] = {{0, 2}};
    /* A few lines a row. */
    /* clang-format off */
    struct dft_row rows[] = {
        {.kind = DFT_ROW_CALL, .op = DFT_OP_READ, .io = DFT_IO_READ, .interval = 1700000000, .subject = golden_calls[CALL_READ].id,
         .metrics = {.count = 30, .samples = 28, .errors = 1, .dur_sum = 3000, .dur_min = 10, .dur_max = 1500,
                     .edge = 2000, .step = 1, .data = 27, .bytes = 100000, .size_min = 100, .size_max = 4096,
                     .offset_min = 0, .offset_max = 100000, .first_start = START + 100, .last_end = START + SECOND,
                     .sequential = 26, .consecutive = 25, .asked = 100000}},
        {.kind = DFT_ROW_CALL, .op = DFT_OP_REGION, .interval = 1700000002, .subject = golden_calls[CALL_REGION].id,
         .region = golden_names[NAME_REGION].id,
         .metrics = {.dur_min = UINT64_MAX, .edge = 5, .step = -1, .size_min = UINT64_MAX, .offset_min = INT64_MAX,
                     .offset_max = -1, .first_start = UINT64_MAX}},
        {.kind = DFT_ROW_HISTOGRAM, .op = DFT_OP_READ, .io = DFT_IO_READ, .interval = 26562500,
         .subject = golden_calls[CALL_READ].id, .durations = durations, .ndurations = 3, .sizes = sizes, .nsizes = 1,
         .asked = sizes, .nasked = 1},
        {.kind = DFT_ROW_FILE, .class = DFT_CLASS_READ, .io = DFT_IO_READ, .interval = 26562500, .subject = golden_names[NAME_INPUT].id,
         .metrics = {.count = 1, .samples = 1, .dur_sum = 10, .dur_min = 10, .dur_max = 10, .edge = 10, .data = 1,
                     .bytes = 4096, .size_min = 4096, .size_max = 4096, .offset_min = 8192, .offset_max = 12288,
                     .first_start = START + 200, .last_end = START + 210, .sequential = 1, .consecutive = 1,
                     .asked = 4096}},
    };
    /* clang-format on */
    struct dft_buckets buckets = {.key = KEY,
                                  .stream = 1,
                                  .tid = 4321,
                                  .first = 1,
                                  .last = 12,
                                  .start = START + 100,
                                  .end = START + SECOND,
                                  .interval_ns = SECOND,
                                  .rows = rows,
                                  .count = 4,
                                  .calls = golden_calls,
                                  .ncalls = CALLS,
                                  .names = golden_names,
                                  .nnames = NAMES};
    return put_rows(&buckets);
}

/* Rows that say all there is of facets, of bytes asked for, of time and of the parts of files. */
int golden_put_facets(void)
{
    static const struct dft_bin durations[] = {{9, 3}}, sizes[] = {{0, 1}, {50, 2}}, asked[] = {{64, 3}};
    static const struct dft_pattern sparse = {.touched = {.shift = 12, .bits = {[0] = 0xff00ff, [15] = 1}},
                                              .strides = {{-65536, 7}, {4096, 2}}};
    static struct dft_pattern dense = {.touched = {.shift = 53}};
    /* clang-format off */
    struct dft_row rows[] = {
        {.kind = DFT_ROW_CALL, .op = DFT_OP_READ, .io = DFT_IO_STARTUP, .size_class = 6, .access = DFT_ACCESS_STRIDED,
         .interval = 1700000000, .subject = golden_calls[CALL_READ].id,
         .metrics = {.count = 3, .samples = 3, .dur_sum = 30, .dur_min = 10, .dur_max = 10, .edge = 30, .data = 3,
                     .bytes = 100, .size_max = 50, .offset_max = 100, .first_start = START, .last_end = START + 60,
                     .asked = 12288, .turns = 2, .occupancy = 1}},
        {.kind = DFT_ROW_CALL, .op = DFT_OP_READ, .io = DFT_IO_READ, .size_class = 15, .err = 121,
         .interval = 1700000001, .subject = golden_calls[CALL_READ].id,
         .metrics = {.count = 2, .samples = 2, .errors = 2, .dur_sum = 30, .dur_min = 15, .dur_max = 15, .edge = 30,
                     .size_min = UINT64_MAX, .offset_min = INT64_MAX, .offset_max = -1, .first_start = START + SECOND,
                     .last_end = START + SECOND + SECOND / 2, .occupancy = UINT64_C(0x80000001)}},
        {.kind = DFT_ROW_CALL, .op = DFT_OP_READ, .io = DFT_IO_READ, .interval = 1700000002,
         .subject = golden_calls[CALL_READ].id,
         .metrics = {.dur_min = UINT64_MAX, .edge = SECOND / 64 + 1, .size_min = UINT64_MAX, .offset_min = INT64_MAX,
                     .offset_max = -1, .first_start = UINT64_MAX, .occupancy = UINT64_C(0x5555555555555555)}},
        {.kind = DFT_ROW_HISTOGRAM, .op = DFT_OP_READ, .io = DFT_IO_STARTUP, .size_class = 6,
         .access = DFT_ACCESS_STRIDED, .interval = 26562500, .subject = golden_calls[CALL_READ].id, .durations = durations,
         .ndurations = 1, .sizes = sizes, .nsizes = 2, .asked = asked, .nasked = 1},
        {.kind = DFT_ROW_FILE, .class = DFT_CLASS_META, .io = DFT_IO_SYNC, .interval = 26562500,
         .subject = golden_names[NAME_INPUT].id,
         .metrics = {.count = 1, .samples = 1, .dur_sum = 10, .dur_min = 10, .dur_max = 10, .edge = 10,
                     .size_min = UINT64_MAX, .offset_min = INT64_MAX, .offset_max = -1, .first_start = START,
                     .last_end = START + 10, .occupancy = 1}},
        {.kind = DFT_ROW_FILE, .class = DFT_CLASS_READ, .io = DFT_IO_READ, .interval = 26562500,
         .subject = golden_names[NAME_INPUT].id, .pattern = &sparse,
         .metrics = {.count = 1, .samples = 1, .dur_sum = 10, .dur_min = 10, .dur_max = 10, .edge = 10, .data = 1,
                     .bytes = 10, .size_min = 10, .size_max = 10, .offset_min = 5, .offset_max = 15,
                     .first_start = START, .last_end = START + 10, .asked = 10, .occupancy = 3}},
        {.kind = DFT_ROW_FILE, .class = DFT_CLASS_WRITE, .io = DFT_IO_WAIT, .interval = 26562500,
         .subject = golden_names[NAME_OUTPUT].id, .pattern = &dense,
         .metrics = {.count = 1, .samples = 1, .dur_sum = 10, .dur_min = 10, .dur_max = 10, .edge = 10, .data = 1,
                     .size_min = 0, .offset_max = 0, .first_start = START, .last_end = START + 10}},
    };
    /* clang-format on */
    struct dft_buckets buckets = {.key = KEY,
                                  .stream = 5,
                                  .tid = 4321,
                                  .first = 1,
                                  .last = 8,
                                  .start = START,
                                  .end = START + 2 * SECOND,
                                  .interval_ns = SECOND,
                                  .rows = rows,
                                  .count = sizeof rows / sizeof *rows,
                                  .calls = golden_calls,
                                  .ncalls = CALLS,
                                  .names = golden_names,
                                  .nnames = NAMES};

    for (unsigned i = 0; i < DFT_TOUCHED_PARTS / 64; i++)
        dense.touched.bits[i] = UINT64_C(0xaaaaaaaaaaaaaaab) + i;
    return put_rows(&buckets);
}
