/* SPDX-License-Identifier: MIT */
/* The smallest pieces: hash, checksum, LEB128, zigzag, texts. */
#include <CUnit/CUnit.h>
#include <string.h>

#include "format/hash.h"
#include "format/crc32c.h"
#include "format/end.h"
#include "format/leb128.h"
#include "sample.h"
#include "suites.h"

/* Made by the Python reader's own implementation, which test_golden.py checks against the hash's
 * published verification value. */
static void test_ids_of_known_names(void)
{
    char long_text[300];

    CU_ASSERT_EQUAL(dft_name_id("", 0), 1); /* the hash is 0, which means "none" */
    CU_ASSERT_EQUAL(dft_name_id("a", 1), UINT64_C(0x071717d2d36b6b11));
    CU_ASSERT_EQUAL(dft_name_id("/", 1), UINT64_C(0xaf7fd9ec4cacc2a2));
    CU_ASSERT_EQUAL(dft_name_id("/data/x", 7), UINT64_C(0x3e409a2a4e8544a5));
    CU_ASSERT_EQUAL(dft_name_id("/data/xy", 8), UINT64_C(0x34945c6bf621b0c3));
    CU_ASSERT_EQUAL(dft_name_id("/data/xyz", 9), UINT64_C(0xfb23a1e6110b72e8));
    CU_ASSERT_EQUAL(dft_name_id("POSIX\0read", 10), UINT64_C(0xdb7578d483981ee4));
    for (unsigned i = 0; i < sizeof long_text; i++)
        long_text[i] = (char)i;
    CU_ASSERT_EQUAL(dft_name_id(long_text, sizeof long_text), UINT64_C(0x70b53385b605a944));
}

static void check_crc(const void *bytes, size_t length, uint32_t expected)
{
    CU_ASSERT_EQUAL(dft_crc32c(0, bytes, length), expected);
    CU_ASSERT_EQUAL(dft_crc32c_by_table(0, bytes, length), expected);
}

static void test_crc_of_rfc_3720(void)
{
    uint8_t bytes[32];

    check_crc("", 0, 0);
    check_crc("123456789", 9, 0xe3069283);
    memset(bytes, 0, sizeof bytes);
    check_crc(bytes, sizeof bytes, 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    check_crc(bytes, sizeof bytes, 0x62a8ab43);
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    check_crc(bytes, sizeof bytes, 0x46dd794e);
}

static void test_crc_by_instruction_and_table(void)
{
    uint8_t bytes[200];

    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)sample_random();
    for (unsigned from = 0; from < 16; from++)
        for (unsigned to = from; to <= sizeof bytes; to++) {
            uint32_t whole = dft_crc32c(7, bytes + from, to - from);
            unsigned middle = from + (to - from) / 3;

            if (whole != dft_crc32c_by_table(7, bytes + from, to - from) ||
                whole != dft_crc32c(dft_crc32c(7, bytes + from, middle - from), bytes + middle, to - middle))
                CU_FAIL_FATAL("checksums differ");
        }
}

static void test_leb_and_zigzag(void)
{
    for (unsigned i = 0; i < 100000; i++) {
        uint8_t bytes[DFT_LEB_MAX + 8];
        uint64_t value = i < 1000 ? i : sample_wild(), back = 0, near = 0;
        const uint8_t *end = dft_leb_put(bytes, value);

        memset(bytes + (end - bytes), i & 1 ? 0xff : 0x7f, 8); /* what stands behind it means nothing */
        if (dft_leb_get(bytes, end + 8, &near) != end || near != value)
            CU_FAIL_FATAL("LEB128 loses a value that others stand behind");

        if (dft_leb_get(bytes, end, &back) != end || back != value)
            CU_FAIL_FATAL("LEB128 loses a value");
        if (dft_leb_get(bytes, end - 1, &back))
            CU_FAIL_FATAL("LEB128 reads behind its end");
        if (dft_unzigzag(dft_zigzag(value)) != value)
            CU_FAIL_FATAL("zigzag loses a value");
    }
    CU_ASSERT_EQUAL(dft_zigzag(0), 0);
    CU_ASSERT_EQUAL(dft_zigzag((uint64_t)-1), 1);
    CU_ASSERT_EQUAL(dft_zigzag(1), 2);
    CU_ASSERT_EQUAL(dft_zigzag(UINT64_C(1) << 63), UINT64_MAX);
}

static void test_leb_over_64_bits(void)
{
    static const uint8_t largest[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    static const uint8_t too_large[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2};
    static const uint8_t too_long[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0};
    uint64_t value = 0;

    CU_ASSERT_PTR_EQUAL(dft_leb_get(largest, largest + 10, &value), largest + 10);
    CU_ASSERT_EQUAL(value, UINT64_MAX);
    CU_ASSERT_PTR_NULL(dft_leb_get(too_large, too_large + 10, &value));
    CU_ASSERT_PTR_NULL(dft_leb_get(too_long, too_long + 11, &value));
}

static void test_texts(void)
{
    for (unsigned i = 1; i <= DFT_DROP_LAST; i++)
        CU_ASSERT_STRING_NOT_EQUAL(dft_drop_text((enum dft_drop)i), "unknown");
    for (unsigned i = 1; i <= DFT_ENDING_RUNNING; i++)
        CU_ASSERT_STRING_NOT_EQUAL(dft_ending_text((enum dft_ending)i), "unknown");
    CU_ASSERT_STRING_EQUAL(dft_drop_text((enum dft_drop)0), "unknown");
    CU_ASSERT_STRING_EQUAL(dft_drop_text((enum dft_drop)1000), "unknown");
    CU_ASSERT_STRING_EQUAL(dft_ending_text((enum dft_ending)1000), "unknown");
    CU_ASSERT_STRING_EQUAL(dft_ending_text(DFT_ENDING_EXEC), "exec");
}

int suite_pieces(void)
{
    CU_TestInfo tests[] = {
        {"ids of known names", test_ids_of_known_names},
        {"CRC32C: the vectors of RFC 3720", test_crc_of_rfc_3720},
        {"CRC32C: instruction and table agree", test_crc_by_instruction_and_table},
        {"LEB128 and zigzag", test_leb_and_zigzag},
        {"LEB128 over 64 bits", test_leb_over_64_bits},
        {"texts of endings and drops", test_texts},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"pieces", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
