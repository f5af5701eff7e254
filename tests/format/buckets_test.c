/* SPDX-License-Identifier: MIT */
/* BUCKETS: rows of any kind and content come back. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sample.h"
#include "suites.h"
#include "format/decode.h"

static long round_trip(struct dft_encoder *encoder, const struct dft_buckets *buckets)
{
    struct dft_block_header header;
    const void *block, *payload;
    const char *why = NULL;
    struct dft_buckets after;
    long size = dft_encode_buckets(encoder, buckets, &block);

    payload = size > 0 ? sample_block(block, (size_t)size, &header) : NULL;
    if (!payload || header.type != DFT_BLOCK_BUCKETS)
        why = "no block of rows";
    else if (dft_decode_buckets(sample_decoder, &header, payload, &after, &why) == 0)
        why = sample_buckets_differ(buckets, &after);
    if (why)
        printf("\n    %u rows: %s\n", buckets->count, why);
    return why ? 0 : size;
}

static void check_random(enum dft_compression compression, int wild)
{
    struct dft_encoder *encoder = sample_encoder(compression);

    for (unsigned i = 0; i < 100; i++) {
        struct dft_buckets buckets = sample_buckets(i < 10 ? i : (uint32_t)sample_below(300), wild);

        CU_ASSERT(round_trip(encoder, &buckets) > 0);
        sample_buckets_free(&buckets);
    }
    sample_encoder_free(encoder);
}

static void test_tame(void)
{
    check_random(DFT_DEFLATE, 0);
}

static void test_wild(void)
{
    check_random(DFT_DEFLATE, 1);
    check_random(DFT_STORE, 1);
}

/* The metrics of a histogram row are not in the file: a decoded one has those of an empty row, the
 * neutral element. */
static void test_histogram_rows_are_neutral(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_DEFLATE);
    struct dft_row row = {.kind = DFT_ROW_HISTOGRAM, .subject = 5, .op = DFT_OP_READ};
    struct dft_buckets buckets = {.rows = &row, .count = 1, .interval_ns = 1}, after;
    struct dft_block_header header;
    const void *block, *payload;
    const char *why;
    long size = dft_encode_buckets(encoder, &buckets, &block);
    const struct dft_metrics *m;

    payload = size > 0 ? sample_block(block, (size_t)size, &header) : NULL;
    CU_ASSERT_FATAL(payload && !dft_decode_buckets(sample_decoder, &header, payload, &after, &why));
    m = &after.rows[0].metrics;
    CU_ASSERT(m->dur_min == UINT64_MAX && m->size_min == UINT64_MAX && m->first_start == UINT64_MAX);
    CU_ASSERT(m->offset_min == INT64_MAX && m->offset_max == -1 && m->last_end == 0 && m->count == 0);
    /* A call that was not listed is known by id and op. */
    CU_ASSERT(after.rows[0].subject == 5 && after.rows[0].op == DFT_OP_READ && !after.calls[0].text.length);
    sample_encoder_free(encoder);
}

static void test_refused(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_DEFLATE);
    struct dft_bin bins[2] = {{5, 1}, {5, 1}};
    struct dft_row row = {.kind = DFT_ROW_HISTOGRAM, .durations = bins, .ndurations = 2};
    struct dft_buckets buckets = {.rows = &row, .count = 1};
    const void *block;

    CU_ASSERT_EQUAL(dft_encode_buckets(encoder, &buckets, &block), -EINVAL);
    bins[1].bin = DFT_BIN_LAST + 1;
    CU_ASSERT_EQUAL(dft_encode_buckets(encoder, &buckets, &block), -EINVAL);
    bins[1].bin = DFT_BIN_LAST;
    CU_ASSERT(round_trip(encoder, &buckets) > 0);
    row.kind = 3;
    CU_ASSERT_EQUAL(dft_encode_buckets(encoder, &buckets, &block), -EINVAL);
    row.kind = 0;
    buckets.count = DFT_COUNT_MAX + 1;
    CU_ASSERT_EQUAL(dft_encode_buckets(encoder, &buckets, &block), -EINVAL);
    sample_encoder_free(encoder);
}

/* Many rows: what does not fit is refused, and half of it then fits. */
static void test_too_large(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_DEFLATE);
    struct dft_buckets buckets = sample_buckets(60000, 1);
    const void *block;
    uint32_t count = buckets.count;
    long size = -E2BIG;

    while (buckets.count && (size = dft_encode_buckets(encoder, &buckets, &block)) == -E2BIG)
        buckets.count /= 2;
    CU_ASSERT(size > 0 && buckets.count < count && buckets.count > 1000);
    CU_ASSERT(round_trip(encoder, &buckets) > 0);
    buckets.count = count;
    sample_buckets_free(&buckets);
    sample_encoder_free(encoder);
}

int suite_buckets(void)
{
    CU_TestInfo tests[] = {
        {"random rows of programs", test_tame},
        {"random rows of anything", test_wild},
        {"histogram rows are neutral", test_histogram_rows_are_neutral},
        {"refused", test_refused},
        {"too large", test_too_large},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"buckets", sample_decoder_begin, sample_decoder_end, NULL, NULL, tests},
                             CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
