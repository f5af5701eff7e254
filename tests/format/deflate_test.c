/* SPDX-License-Identifier: MIT */
/* Deflate: blocks and streams of zlib, what is stored instead, and the memory that an encoder
 * touches. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "decoder.h"
#include "sample.h"
#include "suites.h"

/* Inflates by zlib. Returns 0: the stream holds exactly `raw` bytes. */
static int inflate_by_zlib(const uint8_t *bytes, size_t length, uint8_t *out, size_t raw)
{
    z_stream stream = {
        .next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)length, .next_out = out, .avail_out = (uInt)raw};
    int result;

    CU_ASSERT_FATAL(inflateInit2(&stream, -15) == Z_OK);
    result = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return result == Z_STREAM_END && !stream.avail_out ? 0 : -EBADMSG;
}

/* Deflates by zlib. Returns the size of the stream. */
static size_t deflate_by_zlib(const uint8_t *bytes, size_t length, uint8_t *out, size_t room)
{
    z_stream stream = {
        .next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)length, .next_out = out, .avail_out = (uInt)room};

    CU_ASSERT_FATAL(deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    CU_ASSERT_FATAL(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&stream);
    return stream.total_out;
}

/* Whatever deflates our blocks, zlib can read them, and what zlib deflates can be read here. */
static void test_zlib(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_DEFLATE);
    struct dft_batch batch = sample_batch(3000, 0);
    struct dft_block_header header;
    const void *block;
    long size = dft_encode_events(encoder, &batch, &block);
    const uint8_t *payload = size > 0 ? sample_block(block, (size_t)size, &header) : NULL;
    uint8_t *one = malloc(DFT_RAW_MAX), *other = malloc(DFT_RAW_MAX), *stream = malloc(DFT_RAW_MAX);
    size_t length;

    CU_ASSERT_PTR_NOT_NULL_FATAL(payload);
    CU_ASSERT_FATAL(header.flags & DFT_BLOCK_DEFLATED && one && other && stream);
    length = header.stored - header.tail;
    CU_ASSERT(!dft_inflate(sample_decoder->inflate, payload, length, one, header.raw));
    CU_ASSERT(!inflate_by_zlib(payload, length, other, header.raw));
    CU_ASSERT(!memcmp(one, other, header.raw));
    length = deflate_by_zlib(one, header.raw, stream, DFT_RAW_MAX);
    memset(other, 0, header.raw);
    CU_ASSERT(!dft_inflate(sample_decoder->inflate, stream, length, other, header.raw));
    CU_ASSERT(!memcmp(one, other, header.raw));
    CU_ASSERT(dft_inflate(sample_decoder->inflate, stream, length, other, header.raw - 1) == -EBADMSG);
    CU_ASSERT(dft_inflate(sample_decoder->inflate, stream, length, other, header.raw + 1) == -EBADMSG);
    CU_ASSERT(dft_inflate(sample_decoder->inflate, stream, length / 2, other, header.raw) == -EBADMSG);
    free(one);
    free(other);
    free(stream);
    sample_batch_free(&batch);
    sample_encoder_free(encoder);
}

/* One member and what stands behind it; a room that is too small; a member that is cut or
 * damaged. */
static void test_gzip(void)
{
    uint8_t text[5000], member[6000], out[6000];
    z_stream stream = {.next_in = text, .avail_in = sizeof text, .next_out = member, .avail_out = sizeof member};
    size_t length, used, got;

    for (unsigned i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)sample_below(50);
    CU_ASSERT_FATAL(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    CU_ASSERT_FATAL(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&stream);
    length = stream.total_out;
    CU_ASSERT(!dft_inflate_gzip(sample_decoder->inflate, member, length + 3, &used, out, sizeof out, &got));
    CU_ASSERT(used == length && got == sizeof text && !memcmp(out, text, got));
    CU_ASSERT(!dft_inflate_gzip(sample_decoder->inflate, member, length, &used, out, sizeof text, &got));
    CU_ASSERT(dft_inflate_gzip(sample_decoder->inflate, member, length, &used, out, sizeof text - 1, &got) == -ENOSPC);
    CU_ASSERT(dft_inflate_gzip(sample_decoder->inflate, member, length - 1, &used, out, sizeof out, &got) == -EBADMSG);
    CU_ASSERT(dft_inflate_gzip(sample_decoder->inflate, member, length / 2, &used, out, sizeof out, &got) == -EBADMSG);
    member[length - 6] ^= 1; /* of the checksum */
    CU_ASSERT(dft_inflate_gzip(sample_decoder->inflate, member, length, &used, out, sizeof out, &got) == -EBADMSG);
    member[0] = 0;
    CU_ASSERT(dft_inflate_gzip(sample_decoder->inflate, member, length, &used, out, sizeof out, &got) == -EBADMSG);
}

static unsigned pages_touched(void *memory, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t entry, pages = 0;
    FILE *file = fopen("/proc/self/pagemap", "rb");

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (size_t at = 0; at < bytes; at += page) {
        CU_ASSERT_FATAL(!fseek(file, (long)(((uintptr_t)memory + at) / page * 8), SEEK_SET));
        CU_ASSERT_FATAL(fread(&entry, 8, 1, file) == 1);
        pages += entry >> 62 ? 1 : 0; /* present, or swapped */
    }
    fclose(file);
    return (unsigned)pages;
}

/* Memory in proportion to the batch: the encoder of a process with ten events must stay small. */
static void test_pages_touched(void)
{
    static const struct {
        uint32_t events;
        unsigned pages;
    } cases[] = {{1, 10}, {10, 10}, {100, 20}};

    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dft_encoder *encoder = sample_encoder(DFT_DEFLATE);
        struct dft_batch batch = sample_batch(cases[i].events, 0), bare = batch;
        const void *block;
        unsigned pages;

        dft_encoder_store_first(encoder, 8192);
        bare.nargs = bare.nnames = 0;
        CU_ASSERT(dft_encode_events(encoder, &bare, &block) > 0);
        pages = pages_touched(encoder, dft_encoder_bytes());
        if (pages > cases[i].pages)
            printf("\n    %u events: %u pages\n", cases[i].events, pages);
        CU_ASSERT(pages <= cases[i].pages);
        sample_batch_free(&batch);
        sample_encoder_free(encoder);
    }
}

/* The header of a batch's block. */
static struct dft_block_header encode(struct dft_encoder *encoder, const struct dft_batch *batch)
{
    struct dft_block_header header = {0};
    const void *block;
    long size = dft_encode_events(encoder, batch, &block);

    CU_ASSERT_FATAL(size > 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sample_block(block, (size_t)size, &header));
    return header;
}

/* The first blocks are stored, as long as they hold no more than was said. Later ones are as
 * without that. */
static void test_store_first(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_DEFLATE), *plain = sample_encoder(DFT_DEFLATE);
    struct dft_batch few = sample_batch(200, 0), many = sample_batch(3000, 0);
    struct dft_block_header first, stored;
    const void *block, *same;
    struct dft_batch bare = few;
    long size;

    bare.nargs = bare.nnames = 0;
    first = encode(encoder, &bare);
    CU_ASSERT(first.flags == DFT_BLOCK_DEFLATED);
    dft_encoder_store_first(encoder, 2 * first.raw);
    CU_ASSERT(encode(encoder, &many).flags == DFT_BLOCK_DEFLATED);
    for (unsigned i = 0; i < 2; i++) {
        stored = encode(encoder, &bare);
        CU_ASSERT(stored.flags == 0 && stored.raw == first.raw && stored.stored - stored.tail == stored.raw);
    }
    CU_ASSERT(encode(encoder, &bare).flags == DFT_BLOCK_DEFLATED);
    size = dft_encode_events(encoder, &many, &block);
    CU_ASSERT(size > 0 && size == dft_encode_events(plain, &many, &same) && !memcmp(block, same, (size_t)size));
    sample_batch_free(&few);
    sample_batch_free(&many);
    sample_encoder_free(encoder);
    sample_encoder_free(plain);
}

int suite_deflate(void)
{
    CU_TestInfo tests[] = {
        {"read by zlib, and written by zlib", test_zlib},
        {"gzip members", test_gzip},
        {"pages touched", test_pages_touched},
        {"the first blocks are stored", test_store_first},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"deflate", sample_decoder_begin, sample_decoder_end, NULL, NULL, tests},
                             CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
