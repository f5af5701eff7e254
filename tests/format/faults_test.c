/* SPDX-License-Identifier: MIT */
/* Every rule that makes a block unreadable, by a block written by hand that breaks just this one;
 * and what a reader must bear: unknown and absent columns. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "sample.h"
#include "format/shape.h"
#include "suites.h"
#include "format/decode.h"

static uint8_t raw[1u << 20];
static size_t used;

static void add_column(unsigned id, unsigned encoding, const void *bytes, size_t length)
{
    uint8_t *at = dft_leb_put(dft_leb_put(dft_leb_put(raw + used, id), encoding), length);

    memcpy(at, bytes, length);
    used = (size_t)(at - raw) + length;
}
#define BYTES(id, text) add_column(id, DFT_ENC_BYTES, text, sizeof text - 1)
#define LEBS(id, text)  add_column(id, DFT_ENC_LEB128, text, sizeof text - 1)

/* An EVENTS block of `count` events with one name, one call and one shape with the given flags, and
 * no other columns yet. */
static void begin_events(uint32_t flags)
{
    uint8_t shapes[16] = {1, 0}, *at = dft_leb_put(shapes + 2, flags);

    used = 0;
    BYTES(DFT_COL_NAMES, "\x01\x02/a");
    BYTES(DFT_COL_CALLS, "\x03\x03"
                         "C\0x");
    add_column(DFT_EV_SHAPES, DFT_ENC_BYTES, shapes, (size_t)(at - shapes));
}

static int decode_events(uint32_t count, uint32_t tail, struct dft_batch *batch, const char **why)
{
    struct dft_block_header header = {
        .type = DFT_BLOCK_EVENTS, .count = count, .raw = (uint32_t)used, .stored = (uint32_t)used + tail, .tail = tail};

    *why = NULL;
    return dft_decode_events(sample_decoder, &header, raw, batch, why);
}

static void expect(const char *expected)
{
    struct dft_batch batch;
    const char *why;
    int status = decode_events(2, 0, &batch, &why);

    if (expected ? status != -EBADMSG || !why || strcmp(why, expected) : status != 0) {
        printf("\n    expected \"%s\", got %d \"%s\"\n", expected ? expected : "", status, why ? why : "");
        CU_FAIL("another result");
    }
    CU_PASS("as expected");
}

#define FILE_NONE ((uint32_t)DFT_FILE_NONE << DFT_F_FILE_SHIFT)
#define FILE_NEW  ((uint32_t)DFT_FILE_NEW << DFT_F_FILE_SHIFT)

static void test_absent_and_unknown_columns(void)
{
    struct dft_batch batch;
    const char *why;

    begin_events(FILE_NONE | DFT_F_SIZE | DFT_F_FD | DFT_F_REGION | DFT_F_STACK | DFT_F_DEPTH);
    LEBS(500, "\x01");
    add_column(501, 77, "what is this", 12);
    CU_ASSERT_FATAL(!decode_events(2, 0, &batch, &why));
    CU_ASSERT(batch.count == 2 && batch.events[1].size == 0 && batch.events[1].fd == 0 &&
              batch.events[1].start_ns == 0);
    CU_ASSERT(batch.events[1].stack == 0 && batch.events[1].region == 0 && batch.events[1].unit == 1);
    used = 0;
    CU_ASSERT(!decode_events(0, 0, &batch, &why));
    expect("column SHAPE holds an impossible value"); /* two events, no shapes */
}

static void test_list_of_columns(void)
{
    begin_events(FILE_NONE);
    LEBS(DFT_EV_SHAPE, "\0\0");
    LEBS(DFT_EV_SHAPE, "\0\0");
    expect("column SHAPE appears twice");
    begin_events(FILE_NONE);
    add_column(DFT_EV_SHAPE, DFT_ENC_SPLIT, "\0\0", 2);
    expect("column SHAPE has an unknown encoding");
    begin_events(FILE_NONE);
    add_column(DFT_EV_GAP, 9, "\0\0", 2);
    expect("column GAP has an unknown encoding");
    begin_events(FILE_NONE);
    LEBS(DFT_EV_SHAPE, "\0\0");
    used--;
    expect("the list of columns ends early");
    begin_events(FILE_NONE);
    raw[used++] = 0x80;
    expect("the list of columns ends early");
    begin_events(FILE_NONE);
    LEBS(DFT_EV_SHAPE, "\0");
    expect("column SHAPE ends early");
    begin_events(FILE_NONE);
    LEBS(DFT_EV_DURATION, "\x01\xff");
    expect("column DURATION ends early");
    begin_events(FILE_NONE);
    LEBS(DFT_EV_SHAPE, "\x00\x00");
    add_column(DFT_EV_DURATION, DFT_ENC_SCALED, "\x00\x01\x01", 3);
    expect("column DURATION holds an impossible value");
    begin_events(FILE_NONE);
    LEBS(DFT_EV_SHAPE, "\x00\x00");
    add_column(DFT_EV_DURATION, DFT_ENC_SCALED, "\x05\x01", 2);
    expect("column DURATION ends early");
}

static void test_shapes(void)
{
    static const uint32_t wrong[] = {DFT_F_UNKNOWN,           DFT_F_UNKNOWN | DFT_RESULT_ZERO << DFT_F_RESULT_SHIFT,
                                     7u << DFT_F_FILE_SHIFT,  3u << DFT_F_OFFSET_SHIFT,
                                     3u << DFT_F_ERRNO_SHIFT, (DFT_PHASE_LAST + 1u) << DFT_F_PHASE_SHIFT};

    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        begin_events(wrong[i]);
        expect("column SHAPES has unknown flags");
    }
    begin_events(FILE_NONE);
    LEBS(DFT_EV_SHAPE, "\x00\x01");
    expect("column SHAPE holds an impossible value");
    used = 0;
    BYTES(DFT_COL_CALLS, "\x03\x03"
                         "C\0x");
    BYTES(DFT_EV_SHAPES, "\x01\x01\x00");
    expect("column SHAPES refers to no call");
    used = 0;
    BYTES(DFT_COL_CALLS, "\x03\x03"
                         "C\0x");
    BYTES(DFT_EV_SHAPES, "\x01\x00\x80\x80\x80\x80\x10"); /* more than 32 flags */
    expect("column SHAPES holds an impossible value");
    used = 0;
    BYTES(DFT_EV_SHAPES, "\xff\xff\xff\x7f");
    expect("column SHAPES holds an impossible value");
}

static void expect_repeated(const char *bytes, size_t length, const char *expected)
{
    begin_events(FILE_NONE);
    add_column(DFT_EV_SHAPE, DFT_ENC_REPEATED, bytes, length);
    expect(expected);
}

static void test_repeated_shapes(void)
{
    expect_repeated("\x01\x00", 2, NULL);
    expect_repeated("\x02\x00\x00", 3, NULL);
    expect_repeated("\x00\x00", 2, "column SHAPE holds an impossible value");         /* those none before */
    expect_repeated("\x02\x00", 2, "column SHAPE holds an impossible value");         /* two before the second */
    expect_repeated("\x01\x00\x00\x00", 4, "column SHAPE holds an impossible value"); /* of three events */
    expect_repeated("\x01\x80", 2, "column SHAPE holds an impossible value");
    expect_repeated("\x01\x01", 2, "column SHAPE holds an impossible value"); /* there is one shape */
    expect_repeated("", 0, "column SHAPE ends early");
}

static void test_positions(void)
{
    begin_events(0); /* the most recent file, of none */
    expect("column SHAPES holds an impossible value");
    begin_events(FILE_NEW); /* the second event's would be a second name */
    expect("column SHAPES holds an impossible value");
    begin_events((uint32_t)DFT_FILE_EXPLICIT << DFT_F_FILE_SHIFT);
    LEBS(DFT_EV_FILE, "\x00\x01");
    expect("column FILE holds an impossible value");
    begin_events(FILE_NONE | DFT_F_REGION);
    LEBS(DFT_EV_REGION, "\x01\x02");
    expect("column REGION holds an impossible value");
    begin_events(FILE_NONE | DFT_F_FILE2);
    LEBS(DFT_EV_FILE2, "\x00\x01");
    expect("column FILE2 holds an impossible value");
    begin_events((uint32_t)DFT_FILE_EXPLICIT << DFT_F_FILE_SHIFT | DFT_F_REGION | DFT_F_FILE2);
    LEBS(DFT_EV_REGION, "\x01\x01");
    expect(NULL);
    used = 0; /* no names at all */
    BYTES(DFT_COL_CALLS, "\x03\x03"
                         "C\0x");
    BYTES(DFT_EV_SHAPES, "\x01\x00\x80\x20");
    expect("column SHAPES holds an impossible value");
}

static void test_values_over_their_width(void)
{
    begin_events(FILE_NONE | DFT_F_UNIT);
    LEBS(DFT_EV_UNIT, "\x01\x00");
    expect("column UNIT holds an impossible value"); /* result = size / unit */
    begin_events(FILE_NONE | DFT_F_UNIT);
    LEBS(DFT_EV_UNIT, "\x80\x80\x80\x80\x10\x01");
    expect("column UNIT holds an impossible value");
    begin_events(FILE_NONE | DFT_F_MODE);
    LEBS(DFT_EV_MODE, "\xff\xff\xff\xff\x0f\x80\x80\x80\x80\x10");
    expect("column MODE holds an impossible value");
    begin_events(FILE_NONE | DFT_F_DEPTH);
    LEBS(DFT_EV_DEPTH, "\xff\xff\x03\x80\x80\x04");
    expect("column DEPTH holds an impossible value");
    begin_events(FILE_NONE | (uint32_t)DFT_ERRNO_EXPLICIT << DFT_F_ERRNO_SHIFT);
    LEBS(DFT_EV_ERRNO, "\x01\x80\x80\x04");
    expect("column ERRNO holds an impossible value");
    begin_events(FILE_NONE | DFT_F_FD);
    LEBS(DFT_EV_FD, "\x01\x80\x80\x80\x80\x10");
    expect("column FD holds an impossible value");
    begin_events(FILE_NONE | DFT_F_STACK);
    BYTES(DFT_EV_STACK, "12345678 1234567");
    expect(NULL);
    begin_events(FILE_NONE | DFT_F_STACK);
    BYTES(DFT_EV_STACK, "12345678 123456");
    expect("column STACK ends early");
}

static void add_args(const char *event, const char *key, const char *type)
{
    begin_events(FILE_NONE);
    add_column(DFT_EV_ARG_EVENT, DFT_ENC_LEB128, event, 1);
    add_column(DFT_EV_ARG_KEY, DFT_ENC_LEB128, key, 1);
    add_column(DFT_EV_ARG_TYPE, DFT_ENC_LEB128, type, 1);
}

static void test_arguments(void)
{
    add_args("\x01", "\x00", "\x00");
    BYTES(DFT_EV_ARG_VALUE, "\x05");
    expect(NULL);
    add_args("\x02", "\x00", "\x00");
    BYTES(DFT_EV_ARG_VALUE, "\x05");
    expect("column ARG_EVENT holds an impossible value");
    add_args("\x01", "\x01", "\x00");
    BYTES(DFT_EV_ARG_VALUE, "\x05");
    expect("column ARG_KEY holds an impossible value");
    add_args("\x01", "\x00", "\x03");
    BYTES(DFT_EV_ARG_VALUE, "\x05");
    expect("column ARG_TYPE holds an impossible value");
    add_args("\x01", "\x00", "\x02");
    BYTES(DFT_EV_ARG_VALUE, "\x05only");
    expect("column ARG_VALUE ends early");
    add_args("\x01", "\x00", "\x01");
    BYTES(DFT_EV_ARG_VALUE, "1234567");
    expect("column ARG_VALUE ends early");
}

static void expect_names(const char *bytes, size_t length, const char *expected)
{
    used = 0;
    add_column(DFT_COL_NAMES, DFT_ENC_BYTES, bytes, length);
    BYTES(DFT_COL_CALLS, "\x03\x03"
                         "C\0x");
    BYTES(DFT_EV_SHAPES, "\x01\x00\x80\x30"); /* without a file */
    expect(expected);
}
#define EXPECT_NAMES(bytes, expected) expect_names(bytes, sizeof bytes - 1, expected)

/* The class that the one call, a read, has with this column. */
static int class_with(const char *bytes, size_t length)
{
    struct dft_batch batch;
    const char *why;

    begin_events(FILE_NONE);
    add_column(DFT_COL_CLASSES, DFT_ENC_LEB128, bytes, length);
    LEBS(DFT_EV_SHAPE, "\0\0");
    return decode_events(2, 0, &batch, &why) ? -1 : batch.calls[batch.events[1].call].io;
}

static void test_classes(void)
{
    CU_ASSERT(class_with("\x00", 1) == DFT_IO_READ);
    CU_ASSERT(class_with("\x01", 1) == DFT_IO_NONE);
    CU_ASSERT(class_with("\x07", 1) == DFT_IO_STARTUP);
    begin_events(FILE_NONE);
    LEBS(DFT_COL_CLASSES, "\x08");
    expect("column CLASSES holds an impossible value");
    begin_events(FILE_NONE);
    LEBS(DFT_COL_CLASSES, "");
    expect("column CLASSES ends early");
    begin_events(FILE_NONE);
    BYTES(DFT_COL_CLASSES, "\x07");
    expect("column CLASSES has an unknown encoding");
}

static void test_names_and_calls(void)
{
    EXPECT_NAMES("\x01\x02/a\x09\x01z", NULL);
    EXPECT_NAMES("\x01\x02/a\x0d\x01z", "column NAMES holds an impossible value"); /* shares 3 of 2 */
    EXPECT_NAMES("\x03\x02/a\x01\x02/b\x0b\x01z", NULL);
    EXPECT_NAMES("\x07\x02/a", "column NAMES holds an impossible value"); /* there is no other text yet */
    EXPECT_NAMES("\x01\x02/a\x07\x02/b", "column NAMES holds an impossible value");
    EXPECT_NAMES("\x01\x02/a\x01\x02/b\x0f\x01z", "column NAMES holds an impossible value");
    EXPECT_NAMES("\x04"
                 "12345678",
                 "column NAMES holds an impossible value");
    EXPECT_NAMES("\x00"
                 "1234567",
                 "column NAMES ends early");
    EXPECT_NAMES("\x01\x03/a", "column NAMES ends early");
    EXPECT_NAMES("\x01\x80\x80\x04", "column NAMES holds an impossible value"); /* 65,536 bytes */
    used = 0;
    BYTES(DFT_COL_CALLS, "\x80\x02\x03"
                         "C\0x");
    expect("column CALLS holds an impossible value");
    used = 0;
    BYTES(DFT_COL_CALLS, "\x03\x00\x00");
    expect("column CALLS holds an impossible value");
    used = 0;
    BYTES(DFT_COL_CALLS, "\x03\x04"
                         "C\0x");
    expect("column CALLS ends early");
}

/* Names that share almost all of a long text: a small block, gigabytes of text. */
static void test_bomb_of_names(void)
{
    uint8_t *column = malloc(200000), *at = column;

    CU_ASSERT_PTR_NOT_NULL_FATAL(column);
    *at++ = 1;
    at = dft_leb_put(at, DFT_TEXT_MAX);
    memset(at, 'x', DFT_TEXT_MAX);
    at += DFT_TEXT_MAX;
    while (at < column + 100000) {
        at = dft_leb_put(at, (uint64_t)DFT_TEXT_MAX << 2 | 1);
        *at++ = 0;
    }
    expect_names((const char *)column, (size_t)(at - column), "more text than a block may hold");
    free(column);
    memset(raw, 1, sizeof raw);
    column = malloc(200000);
    CU_ASSERT_PTR_NOT_NULL_FATAL(column);
    for (unsigned i = 0; i < 100000; i++) {
        column[2 * i] = 1; /* an empty text */
        column[2 * i + 1] = 0;
    }
    expect_names((const char *)column, 200000, "more names than a block may hold");
    free(column);
}

static void expect_row(const char *kind, const char *region, const char *subject, const char *bins, size_t length,
                       const char *expected)
{
    struct dft_block_header header = {.type = DFT_BLOCK_BUCKETS, .count = 1};
    struct dft_buckets buckets;
    const char *why = NULL;
    int status;

    used = 0;
    BYTES(DFT_COL_NAMES, "\x01\x02/a");
    BYTES(DFT_COL_CALLS, "\x03\x03"
                         "C\0x");
    add_column(DFT_BK_KIND, DFT_ENC_LEB128, kind, 1);
    add_column(DFT_BK_REGION, DFT_ENC_LEB128, region, 1);
    add_column(DFT_BK_SUBJECT, DFT_ENC_LEB128, subject, 1);
    add_column(DFT_BK_BINS, DFT_ENC_BYTES, bins, length);
    header.raw = header.stored = (uint32_t)used;
    status = dft_decode_buckets(sample_decoder, &header, raw, &buckets, &why);
    CU_ASSERT_EQUAL(status, expected ? -EBADMSG : 0);
    if (expected && why)
        CU_ASSERT_STRING_EQUAL(why, expected);
}

static void test_rows(void)
{
    expect_row("\x00", "\x01", "\x00", "", 0, NULL);
    expect_row("\x02", "\x01", "\x00", "", 0, NULL);
    expect_row("\x03", "\x00", "\x00", "", 0, "column KIND holds an impossible value");
    expect_row("\x00", "\x02", "\x00", "", 0, "column REGION holds an impossible value");
    expect_row("\x00", "\x00", "\x01", "", 0, "column SUBJECT holds an impossible value");
    expect_row("\x02", "\x00", "\x01", "", 0, "column SUBJECT holds an impossible value");
    expect_row("\x01", "\x00", "\x00", "\x02\x05\x01\x01\x01\x00", 6, NULL);
    expect_row("\x01", "\x00", "\x00", "\x02\x05\x01\x00\x01\x00", 6, "column BINS holds an impossible value");
    expect_row("\x01", "\x00", "\x00", "\x01\x80\x0f\x01\x00", 5, "column BINS holds an impossible value");
    expect_row("\x01", "\x00", "\x00", "\x02\xff\x0e\x01\x01\x01", 6, "column BINS holds an impossible value");
    expect_row("\x01", "\x00", "\x00", "\x01\x05", 2, "column BINS ends early");
}

static void test_headers(void)
{
    struct dft_block_header header = {.type = DFT_BLOCK_EVENTS, .raw = 10, .stored = 5};
    struct dft_batch batch;
    const char *why;

    CU_ASSERT_EQUAL(dft_decode_events(sample_decoder, &header, raw, &batch, &why), -EBADMSG);
    header = (struct dft_block_header){.type = DFT_BLOCK_EVENTS, .tail = 5};
    CU_ASSERT_EQUAL(dft_decode_events(sample_decoder, &header, raw, &batch, &why), -EBADMSG);
    header = (struct dft_block_header){.type = DFT_BLOCK_EVENTS, .count = DFT_COUNT_MAX + 1};
    CU_ASSERT_EQUAL(dft_decode_events(sample_decoder, &header, raw, &batch, &why), -EBADMSG);
    header = (struct dft_block_header){.type = DFT_BLOCK_EVENTS, .flags = DFT_BLOCK_DEFLATED, .raw = DFT_RAW_MAX + 1};
    CU_ASSERT_EQUAL(dft_decode_events(sample_decoder, &header, raw, &batch, &why), -EBADMSG);
    header.raw = 100;
    CU_ASSERT_EQUAL(dft_decode_events(sample_decoder, &header, raw, &batch, &why), -EBADMSG);
    CU_ASSERT_STRING_EQUAL(why, "the deflate stream is damaged");
}

int suite_faults(void)
{
    CU_TestInfo tests[] = {
        {"absent and unknown columns", test_absent_and_unknown_columns},
        {"the list of columns", test_list_of_columns},
        {"shapes", test_shapes},
        {"repeated shapes", test_repeated_shapes},
        {"positions", test_positions},
        {"values over their width", test_values_over_their_width},
        {"arguments", test_arguments},
        {"classes", test_classes},
        {"names and calls", test_names_and_calls},
        {"a bomb of names", test_bomb_of_names},
        {"rows", test_rows},
        {"headers", test_headers},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"faults", sample_decoder_begin, sample_decoder_end, NULL, NULL, tests},
                             CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
