/* SPDX-License-Identifier: MIT */
/* BUCKETS: rows of any kind and content come back. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int refuses(const struct dft_row *row)
{
    static struct dft_encoder *encoder;
    struct dft_buckets buckets = {.rows = (struct dft_row *)(uintptr_t)row, .count = 1};
    const void *block;

    encoder = encoder ? encoder : sample_encoder(DFT_STORE);
    return dft_encode_buckets(encoder, &buckets, &block) == -EINVAL;
}

static void test_facets_refused(void)
{
    struct dft_bin bins[2] = {{5, 1}, {5, 1}};
    struct dft_pattern pattern = {.touched = {.shift = 53}};

    CU_ASSERT(!refuses(&(struct dft_row){.io = DFT_IO_STARTUP, .size_class = 15, .access = 4, .err = 65535}));
    CU_ASSERT(refuses(&(struct dft_row){.io = DFT_IO_COUNT}));
    CU_ASSERT(refuses(&(struct dft_row){.size_class = DFT_SIZE_CLASSES}));
    CU_ASSERT(refuses(&(struct dft_row){.access = DFT_ACCESS_COUNT}));
    CU_ASSERT(refuses(&(struct dft_row){.kind = DFT_ROW_HISTOGRAM, .asked = bins, .nasked = 2}));
    CU_ASSERT(!refuses(&(struct dft_row){.kind = DFT_ROW_FILE, .pattern = &pattern}));
    pattern.touched.shift = 54;
    CU_ASSERT(refuses(&(struct dft_row){.kind = DFT_ROW_FILE, .pattern = &pattern}));
}

/* A block of one row: a call's (of a read) or a file's, and these columns. */
static const char *decode_columns(int is_file, const char *columns, size_t length, struct dft_row *row)
{
    static const char head[] = "\x01\x02\x04\x01\x02/f" /* NAMES */
                               "\x02\x02\x05\x03\x03"   /* CALLS */
                               "C\0x\x04\x00\x01";      /* KIND */
    static char bytes[256];
    struct dft_buckets buckets = {.count = 0};
    struct dft_block_header header = {.type = DFT_BLOCK_BUCKETS, .count = 1};
    const char *why = NULL;

    memcpy(bytes, head, sizeof head - 1);
    bytes[sizeof head - 1] = (char)(is_file ? DFT_ROW_FILE : DFT_ROW_CALL);
    memcpy(bytes + sizeof head, columns, length);
    header.raw = header.stored = (uint32_t)(sizeof head + length);
    if (!dft_decode_buckets(sample_decoder, &header, bytes, &buckets, &why))
        why = NULL;
    if (!why)
        *row = buckets.rows[0];
    return why ? why : "";
}

#define EXPECT(is_file, columns, expected)                                                                             \
    CU_ASSERT_STRING_EQUAL(decode_columns(is_file, columns, sizeof(columns) - 1, &row), expected)

static void test_damaged_columns(void)
{
    struct dft_row row;

    EXPECT(0, "\x1f\x00\x01\x0f\x20\x00\x01\x04\x21\x00\x03\xff\xff\x03", "");
    CU_ASSERT(row.size_class == 15 && row.access == 4 && row.err == 65535 && row.io == DFT_IO_READ);
    EXPECT(0, "\x1f\x00\x01\x10", "column SIZE_CLASS holds an impossible value");
    EXPECT(0, "\x20\x00\x01\x05", "column ACCESS holds an impossible value");
    EXPECT(0, "\x21\x00\x03\x80\x80\x04", "column ERRNO holds an impossible value");
    EXPECT(1, "\x22\x00\x01\x07", "");
    CU_ASSERT(row.io == DFT_IO_STARTUP && row.class == DFT_CLASS_META);
    EXPECT(1, "\x22\x00\x01\x08", "column IO holds an impossible value");
    EXPECT(0, "\x1e\x02\x03\x03\x04\x04", ""); /* toggled at 4 and 8, of nothing predicted */
    CU_ASSERT_EQUAL(row.metrics.occupancy, 0xf0);
    EXPECT(0, "\x1e\x02\x01\x13", "column OCCUPANCY holds an impossible value");
    EXPECT(0, "\x1e\x02\x03\x03\x20\x20", "column OCCUPANCY holds an impossible value");
    EXPECT(0, "\x1e\x02\x02\x03\x20", "column OCCUPANCY ends early");
    EXPECT(0, "\x1e\x02\x02\x12\x20", "column OCCUPANCY ends early");
    EXPECT(1, "\x24\x02\x04\x01\x01\x05\x03", "");
    CU_ASSERT(row.pattern && row.pattern->touched.shift == 0 && row.pattern->touched.bits[0] == 0xe0);
    EXPECT(1, "\x24\x02\x01\x37", "column TOUCHED holds an impossible value");
    EXPECT(1, "\x24\x02\x02\x01\x42", "column TOUCHED holds an impossible value");
    EXPECT(1, "\x24\x02\x04\x01\x01\x05\x00", "column TOUCHED holds an impossible value");
    EXPECT(1, "\x24\x02\x05\x01\x01\x05\xfc\x07", "column TOUCHED holds an impossible value");
    EXPECT(1, "\x24\x02\x05\x01\x01\x05\xfb\x07", "");
    EXPECT(1, "\x24\x02\x03\x01\x41\x00", "column TOUCHED ends early");
    EXPECT(1, "\x25\x02\x03\x01\x03\x09", "");
    CU_ASSERT(row.pattern && row.pattern->strides[0].bytes == -2 && row.pattern->strides[0].count == 9);
    EXPECT(1, "\x25\x02\x01\x03", "column STRIDES holds an impossible value");
    EXPECT(1, "\x25\x02\x02\x01\x03", "column STRIDES ends early");
}

/* Rows of older traces: what was asked for is taken to be what was moved, and nothing is known of
 * time within the interval. */
static void test_without_the_newer_columns(void)
{
    struct dft_row row;

    EXPECT(0, "\x09\x00\x01\x02\x11\x00\x01\x02\x12\x00\x01\x64\x17\x00\x01\x02", "");
    CU_ASSERT(row.metrics.count == 1 && row.metrics.data == 1 && row.metrics.bytes == 50 && row.metrics.asked == 50);
    CU_ASSERT(row.metrics.turns == 0 && row.metrics.occupancy == 0 && row.err == 0 && row.access == DFT_ACCESS_NONE);
    CU_ASSERT(row.io == DFT_IO_READ && row.op == DFT_OP_READ && row.size_class == DFT_SIZE_CLASS_NONE);
    EXPECT(1, "\x08\x00\x01\x02", "");
    CU_ASSERT(row.io == DFT_IO_WRITE && row.class == DFT_CLASS_WRITE && !row.pattern);
}

/* Common rows cost nothing for what they could have: columns of zeros alone are not written. */
static void test_common_rows_are_short(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_STORE);
    struct dft_row row = {.op = DFT_OP_READ, .io = DFT_IO_READ, .subject = 5};
    struct dft_buckets buckets = {.rows = &row, .count = 1, .interval_ns = 1000};
    const void *block;
    long plain, more;

    row.metrics = (struct dft_metrics){.count = 1,
                                       .samples = 1,
                                       .edge = 10,
                                       .dur_sum = 10,
                                       .dur_min = 10,
                                       .dur_max = 10,
                                       .data = 1,
                                       .bytes = 9,
                                       .asked = 9,
                                       .size_min = 9,
                                       .size_max = 9,
                                       .offset_max = 9,
                                       .first_start = 500,
                                       .last_end = 510,
                                       .sequential = 1,
                                       .consecutive = 1};
    plain = dft_encode_buckets(encoder, &buckets, &block);
    row.metrics.occupancy = UINT64_C(1) << 32; /* as its times say */
    more = dft_encode_buckets(encoder, &buckets, &block);
    CU_ASSERT(plain > 0 && more <= plain + 8); /* a column of one byte, rounded up */
    row.metrics.turns = 1;
    CU_ASSERT(dft_encode_buckets(encoder, &buckets, &block) <= plain + 16);
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
        {"facets that are refused", test_facets_refused},
        {"damaged columns", test_damaged_columns},
        {"without the newer columns", test_without_the_newer_columns},
        {"common rows are short", test_common_rows_are_short},
        {"too large", test_too_large},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"buckets", sample_decoder_begin, sample_decoder_end, NULL, NULL, tests},
                             CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
