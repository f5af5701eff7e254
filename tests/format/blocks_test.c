/* SPDX-License-Identifier: MIT */
/* Finding blocks: between holes, after cat, in damaged and hostile files. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"
#include "suites.h"
#include "format/block.h"
#include "format/crc32c.h"

#define ROOM 65536u

static uint8_t file[ROOM];
static size_t used;

/* Appends a block with the given key. */
static size_t append(uint64_t key, uint32_t events)
{
    struct dft_encoder *encoder = sample_encoder(DFT_DEFLATE);
    struct dft_batch batch = sample_batch(events, 0);
    const void *block;
    long size;
    size_t at = used;

    batch.key = key;
    size = dft_encode_events(encoder, &batch, &block);
    CU_ASSERT_FATAL(size > 0 && used + (size_t)size <= ROOM);
    memcpy(file + used, block, (size_t)size);
    used += (size_t)size;
    sample_batch_free(&batch);
    sample_encoder_free(encoder);
    return at;
}

static void append_bytes(uint8_t byte, size_t count)
{
    memset(file + used, byte, count);
    used += count;
}

/* The same in windows of this size, which grow where that is asked for. */
static unsigned find_in_windows(size_t window, struct dft_skipped *skipped)
{
    struct dft_block_header header;
    size_t from = 0, found;
    unsigned n = 0;

    memset(skipped, 0, sizeof *skipped);
    for (size_t length = window; from < used;) {
        size_t offset = 0, rest;
        uint32_t damaged = skipped->damaged;
        int rc;

        length = length < used - from ? length : used - from;
        rest = used - from - length;
        while ((rc = dft_block_next_of(file + from, length, rest, &offset, &header, &found, skipped)) == 1)
            CU_ASSERT_EQUAL(header.key, ++n);
        skipped->first_damaged += !damaged && skipped->damaged ? from : 0;
        CU_ASSERT_EQUAL(rc, rest ? DFT_BLOCK_MORE : 0);
        length = offset ? window : 2 * length;
        from += offset;
    }
    return n;
}

/* Finds all blocks; their keys must be 1, 2, 3 ... Windows must find the same. */
static unsigned find_all(struct dft_skipped *skipped)
{
    struct dft_block_header header;
    size_t offset = 0, found;
    unsigned n = 0;

    memset(skipped, 0, sizeof *skipped);
    while (dft_block_next(file, used, &offset, &header, &found, skipped)) {
        CU_ASSERT(found + sizeof header + header.stored <= offset && offset <= used);
        CU_ASSERT_EQUAL(header.key, ++n);
    }
    CU_ASSERT_EQUAL(offset, used);
    for (size_t window = 1; window <= used; window = window * 5 / 4 + 1) {
        struct dft_skipped other;

        CU_ASSERT_EQUAL(find_in_windows(window, &other), n);
        CU_ASSERT_EQUAL(other.holes, skipped->holes);
        CU_ASSERT_EQUAL(other.bytes, skipped->bytes);
        CU_ASSERT_EQUAL(other.damaged, skipped->damaged);
        CU_ASSERT_EQUAL(other.first_damaged, skipped->first_damaged);
        CU_ASSERT(!skipped->damaged || !strcmp(other.reason, skipped->reason));
    }
    return n;
}

static void test_holes_and_rubbish(void)
{
    struct dft_skipped skipped;

    used = 0;
    append_bytes(0, 4096);
    append(1, 50);
    append_bytes(0, 16);
    append(2, 3);
    append_bytes(0xaa, 13);
    append(3, 0); /* at no multiple of 8 */
    append_bytes(0, 5);
    CU_ASSERT_EQUAL(find_all(&skipped), 3);
    CU_ASSERT_EQUAL(skipped.holes, 4096 + 16 + 5);
    CU_ASSERT_EQUAL(skipped.bytes, 13);
    CU_ASSERT_EQUAL(skipped.damaged, 0);
}

/* cat of a trace that was cut within the padding of its last block, and another. */
static void test_cut_padding(void)
{
    struct dft_skipped skipped;

    for (unsigned events = 1; events < 12; events++) {
        struct dft_block_header header;

        used = 0;
        append(1, events);
        memcpy(&header, file, sizeof header);
        used = sizeof header + header.stored;
        append(2, 3);
        CU_ASSERT_EQUAL(find_all(&skipped), 2);
        CU_ASSERT(!skipped.holes && !skipped.bytes && !skipped.damaged);
    }
}

/* cat of a trace that was cut within a block, and others: the cut one claims bytes of the next. */
static void test_cut_in_the_middle(void)
{
    static uint8_t first[ROOM];
    struct dft_skipped skipped;
    size_t size;

    used = 0;
    append(9, 30);
    size = used;
    memcpy(first, file, size);
    for (size_t cut = 1; cut < size - 8; cut++) {
        memcpy(file, first, cut);
        used = cut;
        append(1, 20);
        append(2, 20);
        if (find_all(&skipped) != 2 || skipped.bytes + skipped.holes != cut || skipped.damaged != (cut >= 8))
            CU_FAIL_FATAL("a whole block behind a cut one is lost");
    }
}

static void rewrite_header(size_t at, const struct dft_block_header *header)
{
    struct dft_block_header copy = *header;

    copy.header_crc = 0;
    copy.header_crc = dft_crc32c(0, &copy, sizeof copy);
    memcpy(file + at, &copy, sizeof copy);
}

/* One damaged block between two whole ones. */
static void check_middle(size_t at, const struct dft_block_header *header, const char *why)
{
    struct dft_skipped skipped;

    rewrite_header(at, header);
    CU_ASSERT_EQUAL(find_all(&skipped), 2);
    CU_ASSERT_EQUAL(skipped.damaged, 1);
    CU_ASSERT_EQUAL(skipped.first_damaged, at);
    CU_ASSERT_STRING_EQUAL(skipped.reason, why);
}

static void test_headers_beyond_limits(void)
{
    struct dft_block_header header, wrong;
    struct dft_skipped skipped;
    size_t at;

    used = 0;
    append(1, 40);
    at = append(7, 400);
    append(2, 40);
    memcpy(&header, file + at, sizeof header);
    wrong = header;
    wrong.version = 2;
    check_middle(at, &wrong, "version of the format is unknown");
    wrong = header;
    wrong.flags = 2;
    check_middle(at, &wrong, "header has unknown flags");
    wrong = header;
    wrong.raw = DFT_RAW_MAX + 1;
    check_middle(at, &wrong, "larger than the format allows");
    wrong = header;
    wrong.stored = DFT_STORED_MAX + 1;
    check_middle(at, &wrong, "larger than the format allows");
    wrong = header;
    wrong.count = DFT_COUNT_MAX + 1;
    check_middle(at, &wrong, "larger than the format allows");
    wrong = header;
    wrong.tail = wrong.stored + 1;
    check_middle(at, &wrong, "sizes in the header do not agree");
    wrong = header;
    wrong.flags = 0;
    check_middle(at, &wrong, "sizes in the header do not agree");
    wrong = header;
    wrong.stored = DFT_STORED_MAX;
    check_middle(at, &wrong, "cut short");
    wrong = header;
    wrong.payload_crc ^= 1;
    check_middle(at, &wrong, "payload checksum differs");
    rewrite_header(at, &header);
    file[at + 40] ^= 1;
    CU_ASSERT_EQUAL(find_all(&skipped), 2);
    CU_ASSERT_STRING_EQUAL(skipped.reason, "header checksum differs");
}

static void test_unknown_types_are_found(void)
{
    struct dft_block_header header;
    struct dft_skipped skipped;

    used = 0;
    append(1, 10);
    memcpy(&header, file, sizeof header);
    header.type = 999;
    rewrite_header(0, &header);
    CU_ASSERT_EQUAL(find_all(&skipped), 1);
    CU_ASSERT_EQUAL(skipped.damaged, 0);
}

/* What a writer leaves that ends in the middle: passed over with all that is in it, and only as far
 * as it says. */
static void test_unfinished(void)
{
    struct dft_skipped skipped;
    size_t from, within;

    for (unsigned state = 0; state < 3; state++) {
        struct dft_block_header header;

        used = 0;
        append(1, 10);
        from = used;
        append(7, 30);
        within = used;
        append(8, 30); /* written together with the one before */
        memcpy(&header, file + from, sizeof header);
        header.type = DFT_BLOCK_UNFINISHED;
        header.flags = 0;
        header.count = header.raw = header.payload_crc = 0;
        header.stored = header.tail = (uint32_t)(used - from - sizeof header);
        rewrite_header(from, &header);
        if (state == 1)
            memset(file + from + sizeof header, 0, used - from - sizeof header);
        if (state == 2)
            memset(file + within - 16, 0, used - within + 16);
        append(2, 10);
        CU_ASSERT_EQUAL(find_all(&skipped), 2);
        CU_ASSERT_EQUAL(skipped.unfinished, 1);
        CU_ASSERT(!skipped.damaged && !skipped.bytes);
        used = from + 200; /* cut: nothing is known of what followed */
        CU_ASSERT_EQUAL(find_all(&skipped), 1);
        CU_ASSERT_EQUAL(skipped.damaged, 1);
    }
}

/* Headers that all claim the rest of a large file, with wrong payload checksums: no quadratic
 * time. */
static void test_hostile_headers(void)
{
    size_t length = 32u << 20, offset = 0, found;
    uint8_t *bytes = malloc(length);
    struct dft_block_header header = {.magic = DFT_BLOCK_MAGIC, .version = 1, .type = 4};
    struct dft_skipped skipped = {0};

    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    memset(bytes, 0x55, length);
    header.raw = header.stored = 1u << 20;
    header.payload_crc = 1;
    header.header_crc = dft_crc32c(0, &header, sizeof header);
    for (size_t at = 0; at + sizeof header <= length; at += sizeof header)
        memcpy(bytes + at, &header, sizeof header);
    CU_ASSERT_EQUAL(dft_block_next(bytes, length, &offset, &header, &found, &skipped), 0);
    CU_ASSERT_EQUAL(offset, length);
    /* 380,000 headers of 1 MiB each, were all believed to be worth a check. */
    CU_ASSERT(skipped.damaged > 0 && skipped.vain < (256u << 20));
    CU_ASSERT_EQUAL(skipped.bytes + skipped.holes, length);
    free(bytes);
}

int suite_blocks(void)
{
    CU_TestInfo tests[] = {
        {"holes and rubbish", test_holes_and_rubbish},
        {"cut within the padding", test_cut_padding},
        {"cut in the middle", test_cut_in_the_middle},
        {"headers beyond the limits", test_headers_beyond_limits},
        {"unknown types are found", test_unknown_types_are_found},
        {"what a writer left unfinished", test_unfinished},
        {"hostile headers", test_hostile_headers},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"blocks", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
