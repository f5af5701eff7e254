/* SPDX-License-Identifier: MIT */
/* The columns GAP and DURATION: prefix codes, times of any size there and back, and every rule of
 * the two encodings with a bit string that makes a block unreadable. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "decoder.h"
#include "sample.h"
#include "format/shape.h"
#include "suites.h"

/* Bits of the code with these counts; checks that it is complete, and that no code begins
 * another. */
static uint64_t check_code(const uint16_t *counts, unsigned n)
{
    uint8_t lengths[DFT_CODE_SYMBOLS], bits[DFT_CODE_SYMBOLS], taken[256] = {0};
    uint64_t all = 0;

    dft_code_lengths(counts, n, lengths);
    CU_ASSERT_FATAL(!dft_code_bits(lengths, n, bits));
    for (unsigned i = 0; i < n; i++) {
        CU_ASSERT(!lengths[i] == !counts[i]);
        for (unsigned at = bits[i]; lengths[i] && at < 256; at += 1u << lengths[i])
            taken[at]++;
        all += (uint64_t)lengths[i] * counts[i];
    }
    for (unsigned at = 0; at < 256; at++)
        CU_ASSERT(taken[at] == 1);
    return all;
}

static void test_codes(void)
{
    static const uint16_t steep[20] = {1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};

    CU_ASSERT_EQUAL(check_code((uint16_t[]){7, 1}, 2), 8);
    CU_ASSERT_EQUAL(check_code((uint16_t[]){4, 0, 2, 1, 1}, 5), 4 * 1 + 2 * 2 + 1 * 3 + 1 * 3);
    CU_ASSERT_EQUAL(check_code((uint16_t[]){5, 5, 5, 5, 5, 5, 5, 5}, 8), 8 * 5 * 3);
    CU_ASSERT(check_code(steep, 13) < 2 * 4096 * 105 / 100); /* the best is 2 bits each, with lengths up to 12 */
    for (unsigned round = 0; round < 2000; round++) {
        unsigned n = 2 + (unsigned)sample_below(DFT_CODE_SYMBOLS - 1);
        uint16_t counts[DFT_CODE_SYMBOLS];

        for (unsigned i = 0; i < n; i++)
            counts[i] = (uint16_t)((sample_random() >> 48) >> sample_below(17));
        counts[0] |= 1;
        counts[n - 1] |= 1;
        check_code(counts, n);
    }
}

static void test_no_codes(void)
{
    uint8_t bits[DFT_CODE_SYMBOLS];

    CU_ASSERT(!dft_code_bits((uint8_t[]){1, 2, 2}, 3, bits));
    CU_ASSERT(bits[0] == 0 && bits[1] == 1 && bits[2] == 3);
    CU_ASSERT(!dft_code_bits((uint8_t[]){2, 0, 1, 2}, 4, bits));
    CU_ASSERT(bits[2] == 0 && bits[0] == 1 && bits[3] == 3);
    CU_ASSERT(dft_code_bits((uint8_t[]){1, 2}, 2, bits));
    CU_ASSERT(dft_code_bits((uint8_t[]){1, 1, 1}, 3, bits));
    CU_ASSERT(dft_code_bits((uint8_t[]){0, 0}, 2, bits));
    CU_ASSERT(dft_code_bits((uint8_t[]){1, 9, 9}, 3, bits));
}

/* Events of a few calls with these times: `time` gives the next one. Returns the header of the
 * block. */
static struct dft_block_header round_trip(uint32_t count, unsigned shapes, uint64_t (*time)(uint32_t i))
{
    struct dft_encoder *encoder = sample_encoder(sample_below(2) ? DFT_STORE : DFT_DEFLATE);
    struct dft_batch made = sample_batch(count, 0), batch = made, after;
    struct dft_block_header header = {0};
    uint64_t now = UINT64_C(1) << 60;
    const char *why = NULL;
    const void *block, *payload;
    long size;

    batch.nargs = 0;
    for (uint32_t i = 0; i < count; i++) {
        now += time(2 * i);
        batch.events[i] = (struct dft_event){.start_ns = now,
                                             .dur_ns = time(2 * i + 1),
                                             .call = i % shapes % 3 % batch.ncalls,
                                             .offset = -1,
                                             .bits = (uint8_t)(i % shapes % 32),
                                             .phase = (uint8_t)(i % shapes / 32 % DFT_PHASE_LAST),
                                             .fd = -1,
                                             .calls = 1,
                                             .unit = 1};
        now += batch.events[i].dur_ns;
    }
    size = dft_encode_events(encoder, &batch, &block);
    payload = size > 0 ? sample_block(block, (size_t)size, &header) : NULL;
    CU_ASSERT_FATAL(payload != NULL);
    if (dft_decode_events(sample_decoder, &header, payload, &after, &why) == 0)
        why = sample_batch_differs(&batch, &after);
    if (why)
        printf("\n    %u events of %u shapes: %s\n", count, shapes, why);
    CU_ASSERT(!why);
    sample_batch_free(&made);
    sample_encoder_free(encoder);
    return header;
}

static uint64_t none(uint32_t i)
{
    (void)i;
    return 0;
}

static uint64_t any_size(uint32_t i)
{
    (void)i;
    return sample_random() >> (18 + sample_below(46)); /* below 2^46 */
}

static uint64_t every_symbol(uint32_t i)
{
    return (UINT64_C(1) << (i / 2 % 47)) - 1;
}

static uint64_t too_long(uint32_t i)
{
    return i == 50 ? UINT64_C(1) << 47 : 1;
}

static uint64_t largest(uint32_t i)
{
    return i == 50 ? UINT64_C(1) << 63 : i == 51 ? UINT64_MAX : 0;
}

static void test_sizes(void)
{
    static const uint32_t counts[] = {1, 2, 23, 24, 25, 100, 150, 4096};
    static const unsigned shapes[] = {1, 2, 3, 40, 127, 128, 129, 300};

    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
        for (unsigned k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            round_trip(counts[i], shapes[k], any_size);
            round_trip(counts[i], shapes[k], every_symbol);
            round_trip(counts[i], shapes[k], largest);
            round_trip(counts[i], shapes[k], too_long);
            CU_ASSERT_EQUAL(round_trip(counts[i], shapes[k], none).tail, 0);
        }
    CU_ASSERT(round_trip(24, 1, any_size).tail > 0);
    CU_ASSERT(round_trip(23, 1, any_size).tail == 0);
    CU_ASSERT(round_trip(100, 1, too_long).tail == 0);
}

static char *put_column(char *at, unsigned id, unsigned encoding, const char *bytes, size_t length)
{
    *at++ = (char)id;
    *at++ = (char)encoding;
    *at++ = (char)length;
    return (char *)memcpy(at, bytes, length) + length;
}

/* A block of three events with the shapes 0, 1 and 1, written by hand, with gaps in the given
 * encoding. Returns its gaps, or NULL: it is not readable, as was expected. */
static const uint64_t *expect(unsigned encoding, const char *gaps, size_t length, const char *tail, uint32_t tail_bytes,
                              const char *expected)
{
    struct dft_block_header header = {.type = DFT_BLOCK_EVENTS, .count = 3, .tail = tail_bytes};
    char raw[400], *at = raw;
    struct dft_batch batch;
    const char *why = NULL;
    int status;

    at = put_column(at, DFT_COL_CALLS, DFT_ENC_BYTES,
                    "\x03\x03"
                    "C\0x",
                    5);
    at = put_column(at, DFT_EV_SHAPES, DFT_ENC_BYTES, "\x02\x00\x80\x30\x00\x81\x30", 7); /* no file; SIZE */
    at = put_column(at, DFT_EV_SHAPE, DFT_ENC_LEB128, "\x00\x01\x01", 3);
    at = put_column(at, DFT_EV_GAP, encoding, gaps, length);
    header.raw = (uint32_t)(at - raw);
    header.stored = header.raw + tail_bytes;
    memcpy(at, tail, tail_bytes);
    status = dft_decode_events(sample_decoder, &header, raw, &batch, &why);
    if (expected ? status != -EBADMSG || !why || strcmp(why, expected) : status != 0) {
        printf("\n    expected \"%s\", got %d \"%s\"\n", expected ? expected : "", status, why ? why : "");
        CU_FAIL_FATAL("another result");
    }
    CU_PASS("as expected");
    return expected ? NULL : sample_decoder->times.bytes;
}
#define SPLIT(symbols, tail_bytes, expected)                                                                           \
    expect(DFT_ENC_SPLIT, symbols, sizeof symbols - 1, ones, tail_bytes, expected)
#define CODED(codes, tail, expected) expect(DFT_ENC_CODED, codes, sizeof codes - 1, tail, sizeof tail - 1, expected)
#define IMPOSSIBLE                   "column GAP holds an impossible value"
#define EARLY                        "column GAP ends early"

static void test_split(void)
{
    static const char ones[64] = {-1, -1, -1, -1};
    const uint64_t *gaps = SPLIT("\x07\x07\x09", 1, NULL);

    CU_ASSERT(gaps[0] == 7 && gaps[1] == 7 && gaps[2] == 11);
    SPLIT("\x07\x07\x07", 0, NULL);
    SPLIT("\x08\x07\x07", 0, "the bit string ends early");
    SPLIT("\x08\x08\x00", 1, NULL);
    SPLIT("\xfb\xfb\x00", 16, NULL); /* 61 bits each */
    SPLIT("\xfb\xfb\x00", 15, "the bit string ends early");
    SPLIT("\xfc\x01\x01", 64, IMPOSSIBLE);
    SPLIT("\xff\x01\x01", 64, IMPOSSIBLE);
    SPLIT("\x01\x01", 64, EARLY);
}

static void test_coded(void)
{
    const uint64_t *gaps = CODED("\x01\x00\x64", "", NULL);

    CU_ASSERT(gaps[0] == 100 && gaps[1] == 100 && gaps[2] == 100);
    gaps = CODED("\x01\x03\x64", "\x88\x01", NULL); /* three low bits each: 0, 1, 6 */
    CU_ASSERT(gaps[0] == 107 && gaps[1] == 108 && gaps[2] == 113);
    /* Symbols 1 to 3, of 1, 2 and 2 bits: symbol 3 with 5, 1 with 1, 2 with 0. */
    gaps = CODED("\x03\x01\x0a\x21\x02", "\xd7\x00", NULL);
    CU_ASSERT(gaps[0] == 10 + 7 + 5 && gaps[1] == 10 + 1 + 1 && gaps[2] == 10 + 3);
    /* Shape 1 has its own, which adds 5; then shape 0 too, and there is none for others. */
    gaps = CODED("\x01\x00\x64\x01\x01\x00\x05", "", NULL);
    CU_ASSERT(gaps[0] == 100 && gaps[1] == 5 && gaps[2] == 5);
    gaps = CODED("\x00\x00\x01\x00\x64\x00\x01\x00\x05", "", NULL);
    CU_ASSERT(gaps[0] == 100 && gaps[1] == 5 && gaps[2] == 5);
    gaps = CODED("\x01\x2f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", /* sums are modulo 2^64 */
                 "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", NULL);
    CU_ASSERT(gaps[0] == (UINT64_C(1) << 48) - 3);
    CODED("\x01\x00\x64\x81\x01\x01\x00\x05\x7d\x00", "", NULL); /* codes of shapes 129 and 255 */
}

static void test_no_coded(void)
{
    CODED("", "", EARLY);
    CODED("\x00", "", "column SHAPE holds an impossible value"); /* there is no code for them */
    CODED("\x00\x00\x01\x00\x64", "", "column SHAPE holds an impossible value");
    CODED("\x31\x00\x64", "", IMPOSSIBLE); /* 49 symbols */
    CODED("\x01\x30\x64", "", IMPOSSIBLE); /* symbol 48 */
    CODED("\x02\x2f\x64\x11", "", IMPOSSIBLE);
    CODED("\x01\x00", "", EARLY);
    CODED("\x03\x00\x64\x21", "", EARLY);
    CODED("\x03\x00\x64\x11\x01", "", IMPOSSIBLE); /* too many codes */
    CODED("\x03\x00\x64\x21\x03", "", IMPOSSIBLE); /* too few */
    CODED("\x02\x00\x64\x01", "", IMPOSSIBLE);
    CODED("\x02\x00\x64\x00", "", IMPOSSIBLE);
    CODED("\x03\x00\x64\x91\x09", "", IMPOSSIBLE); /* of 9 bits */
    CODED("\x01\x00\x64\x00", "", EARLY);
    CODED("\x01\x00\x64\x80\x02\x01\x00\x05", "", IMPOSSIBLE); /* shape 256 */
    CODED("\x01\x00\x64\x7f\x00\x7f\x00\x00\x00", "", IMPOSSIBLE);
    CODED("\x01\x01\x64", "", "the bit string ends early");
    CODED("\x01\x03\x64", "\x88", "the bit string ends early");
    CODED("\x01\x2f\x64", "12345678901234567", "the bit string ends early");
}

int suite_times(void)
{
    CU_TestInfo tests[] = {
        {"prefix codes", test_codes},
        {"lengths of no code", test_no_codes},
        {"times of any size", test_sizes},
        {"split columns", test_split},
        {"coded columns", test_coded},
        {"coded columns that are none", test_no_coded},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"times", sample_decoder_begin, sample_decoder_end, NULL, NULL, tests},
                             CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
