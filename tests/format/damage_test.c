/* SPDX-License-Identifier: MIT */
/* Damage: a small file of several blocks, cut at every byte, and with every single byte changed;
 * and payloads changed behind the back of the checksum. All other blocks are read, and nothing
 * crashes. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"
#include "suites.h"
#include "format/block.h"
#include "format/decode.h"

#define BLOCKS 5u

static uint8_t *file;
static size_t used, ends[BLOCKS];
static struct dft_decoder *decoder;

static void append(unsigned number, long size, const void *const *block)
{
    if (size > 0)
        memcpy(file + used, *block, (size_t)size);
    used += size > 0 ? (size_t)size : 0;
    ends[number] = used;
}

static int begin(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_DEFLATE);
    struct dft_process process = {.key = 5, .pid = 7, .rank = 3, .host = {"host", 4}, .command = {"a\0b\0", 4}};
    struct dft_end end = {.key = 5, .events = 100, .dropped = {[1] = 5}};
    struct dft_buckets buckets;
    struct dft_batch batch;
    const void *block;

    file = malloc(1u << 20);
    decoder = dft_decoder_create();
    if (!file || !decoder)
        return 1;
    sample_seed(11);
    used = 0;
    append(0, dft_encode_process(encoder, &process, &block), &block);
    batch = sample_batch(90, 0);
    append(1, dft_encode_events(encoder, &batch, &block), &block);
    sample_batch_free(&batch);
    buckets = sample_buckets(6, 0);
    append(2, dft_encode_buckets(encoder, &buckets, &block), &block);
    sample_buckets_free(&buckets);
    batch = sample_batch(4, 0);
    append(3, dft_encode_events(encoder, &batch, &block), &block);
    sample_batch_free(&batch);
    append(4, dft_encode_end(encoder, &end, &block), &block);
    sample_encoder_free(encoder);
    return 0;
}

static int end(void)
{
    dft_decoder_destroy(decoder);
    free(file);
    return 0;
}

/* Decodes one block by its type. Returns 0 or a negative error; an error has a text. */
static int decode(const struct dft_block_header *header, const void *payload)
{
    const char *why = NULL;
    struct dft_process process;
    struct dft_buckets buckets;
    struct dft_batch batch;
    struct dft_end ending;
    const struct dft_name *names;
    const uint64_t(*samples)[2];
    uint32_t count;
    int status = 0;

    switch (header->type) {
    case DFT_BLOCK_PROCESS:
        status = dft_decode_process(decoder, header, payload, &process, &why);
        break;
    case DFT_BLOCK_EVENTS:
        status = dft_decode_events(decoder, header, payload, &batch, &why);
        break;
    case DFT_BLOCK_BUCKETS:
        status = dft_decode_buckets(decoder, header, payload, &buckets, &why);
        break;
    case DFT_BLOCK_END:
        status = dft_decode_end(decoder, header, payload, &ending, &why);
        break;
    case DFT_BLOCK_CLOCK:
        status = dft_decode_clock(decoder, header, payload, &samples, &count, &why);
        break;
    default:
        status = dft_decode_names(decoder, header, payload, &names, &count, &why);
    }
    if (status && !why)
        CU_FAIL("an error without a text");
    return status;
}

/* Reads `length` bytes. Returns a mask of the blocks that were found, by where they end, and
 * decoded. */
static unsigned read_all(const uint8_t *bytes, size_t length, struct dft_skipped *skipped)
{
    struct dft_block_header header;
    size_t offset = 0, found;
    unsigned mask = 0;

    memset(skipped, 0, sizeof *skipped);
    while (dft_block_next(bytes, length, &offset, &header, &found, skipped))
        for (unsigned i = 0; i < BLOCKS; i++)
            if (found == (i ? ends[i - 1] : 0) && !decode(&header, bytes + found + sizeof header))
                mask |= 1u << i;
    return mask;
}

static void test_whole(void)
{
    struct dft_skipped skipped;

    CU_ASSERT_EQUAL(read_all(file, used, &skipped), (1u << BLOCKS) - 1);
    CU_ASSERT(!skipped.damaged && !skipped.bytes && !skipped.holes);
}

static void test_every_cut(void)
{
    for (size_t cut = 0; cut <= used; cut++) {
        uint8_t *copy = malloc(cut + 1); /* of its own, so that a sanitizer sees a read behind it */
        struct dft_skipped skipped;
        unsigned expected = 0, got;

        CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
        memcpy(copy, file, cut);
        got = read_all(copy, cut, &skipped);
        for (unsigned i = 0; i < BLOCKS; i++) {
            struct dft_block_header header;
            size_t start = i ? ends[i - 1] : 0;

            memcpy(&header, file + start, sizeof header);
            if (cut >= start + sizeof header + header.stored)
                expected |= 1u << i;
        }
        if (got != expected)
            CU_FAIL_FATAL("a cut loses a whole block, or gives one that is not whole");
        free(copy);
    }
}

static void test_every_byte_changed(void)
{
    uint8_t *copy = malloc(used);

    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    memcpy(copy, file, used);
    for (size_t at = 0; at < used; at++)
        for (unsigned change = 0; change < 3; change++) {
            struct dft_skipped skipped;
            unsigned hit = 0, got;
            struct dft_block_header header;
            size_t start;

            copy[at] ^= (uint8_t[]){1, 0x80, 0xff}[change];
            while (at >= ends[hit])
                hit++;
            start = hit ? ends[hit - 1] : 0;
            memcpy(&header, file + start, sizeof header);
            got = read_all(copy, used, &skipped);
            if (at >= start + sizeof header + header.stored) { /* padding: nobody minds */
                if (got != (1u << BLOCKS) - 1)
                    CU_FAIL_FATAL("a changed padding loses a block");
            } else if (got != (((1u << BLOCKS) - 1) & ~(1u << hit)) || skipped.bytes + skipped.holes == 0) {
                CU_FAIL_FATAL("a changed byte is not noticed, or loses another block");
            }
            copy[at] = file[at];
        }
    free(copy);
}

/* The bytes of a block's columns, as they are before deflate, changed at random and given to the
 * decoder under a matching header. */
static void mangle(uint8_t *payload, struct dft_block_header *header)
{
    for (uint64_t n = 1 + sample_below(4); n; n--) {
        size_t at = sample_below(header->stored);

        switch (sample_below(4)) {
        case 0:
            payload[at] ^= (uint8_t)(1u << sample_below(8));
            break;
        case 1:
            payload[at] = (uint8_t)sample_random();
            break;
        case 2:
            payload[at] = 0xff;
            break;
        default:
            header->count = (uint32_t)sample_below(2 * header->count + 2);
        }
    }
}

static void test_mangled_payloads(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_STORE);
    unsigned errors = 0, rounds = 0;

    for (unsigned i = 0; i < 3000; i++) {
        struct dft_batch batch = sample_batch((uint32_t)sample_below(120), i % 2);
        struct dft_buckets buckets = sample_buckets((uint32_t)sample_below(20), i % 2);
        struct dft_block_header header;
        const void *block;
        long size = i % 3 ? dft_encode_events(encoder, &batch, &block) : dft_encode_buckets(encoder, &buckets, &block);
        uint8_t *payload;

        CU_ASSERT_FATAL(size > 0);
        memcpy(&header, block, sizeof header);
        payload = malloc(header.stored + 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(payload);
        memcpy(payload, (const uint8_t *)block + sizeof header, header.stored);
        for (unsigned k = 0; k < 4 && header.stored && header.stored < 20000; k++, rounds++) {
            mangle(payload, &header);
            errors += decode(&header, payload) != 0;
        }
        free(payload);
        sample_batch_free(&batch);
        sample_buckets_free(&buckets);
    }
    CU_ASSERT(errors > rounds / 10); /* it does meet the checks */
    sample_encoder_free(encoder);
}

/* Deflate streams, cut and changed. */
static void test_mangled_streams(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_DEFLATE);
    struct dft_batch batch = sample_batch(700, 0);
    struct dft_block_header header;
    const void *block;
    uint8_t *payload;

    CU_ASSERT_FATAL(dft_encode_events(encoder, &batch, &block) > 0);
    memcpy(&header, block, sizeof header);
    CU_ASSERT_FATAL(header.flags & DFT_BLOCK_DEFLATED);
    payload = malloc(header.stored);
    CU_ASSERT_PTR_NOT_NULL_FATAL(payload);
    for (unsigned i = 0; i < 5000; i++) {
        struct dft_block_header wrong = header;

        memcpy(payload, (const uint8_t *)block + sizeof header, header.stored);
        mangle(payload, &wrong);
        if (sample_below(4) == 0)
            wrong.raw = (uint32_t)sample_below(DFT_RAW_MAX + 2);
        if (sample_below(4) == 0)
            wrong.tail = (uint32_t)sample_below(header.stored + 2);
        decode(&wrong, payload);
    }
    CU_ASSERT(!decode(&header, (const uint8_t *)block + sizeof header));
    free(payload);
    sample_batch_free(&batch);
    sample_encoder_free(encoder);
}

int suite_damage(void)
{
    CU_TestInfo tests[] = {
        {"the whole file", test_whole},
        {"every cut", test_every_cut},
        {"every byte changed", test_every_byte_changed},
        {"mangled payloads", test_mangled_payloads},
        {"mangled deflate streams", test_mangled_streams},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"damage", begin, end, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
