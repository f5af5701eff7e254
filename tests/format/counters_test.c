/* SPDX-License-Identifier: MIT */
/* COUNTERS: samples come back as they were, take little room, and damaged ones are refused. */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"
#include "suites.h"
#include "format/hash.h"

#define SERIES_MAX  40u
#define SAMPLES_MAX 3000u
#define SECOND      UINT64_C(1000000000)

static struct dft_encoder *encoder;
static struct dft_counter_series series[SERIES_MAX];
static struct dft_name names[SERIES_MAX];
static char texts[SERIES_MAX][32];
static struct dft_counter_sample samples[SAMPLES_MAX];

static int begin(void)
{
    encoder = sample_encoder(DFT_DEFLATE);
    for (uint32_t i = 0; i < SERIES_MAX; i++) {
        int length = snprintf(texts[i], sizeof texts[i], "process%ccounter_%u", 0, i);

        names[i] = (struct dft_name){.id = dft_name_id(texts[i], (size_t)length), .text = {texts[i], (uint32_t)length}};
        series[i] = (struct dft_counter_series){.id = names[i].id,
                                                .unit = (uint8_t)(i % (DFT_UNIT_LAST + 1)),
                                                .kind = i & 1 ? DFT_COUNTER_TOTAL : DFT_COUNTER_LEVEL,
                                                .real = i % 5 == 4};
    }
    return sample_decoder_begin();
}

static int end(void)
{
    sample_encoder_free(encoder);
    return sample_decoder_end();
}

/* Samples of some counters in any order, or all counters once a second. */
static struct dft_counters make(uint32_t count, uint32_t nseries, int wild)
{
    struct dft_counters counters = {.key = sample_random(),
                                    .stream = 2,
                                    .tid = 5,
                                    .first = sample_below(1000000),
                                    .series = series,
                                    .nseries = nseries,
                                    .samples = samples,
                                    .count = count,
                                    .names = names,
                                    .nnames = nseries};
    uint64_t time = 1700000000 * SECOND;

    for (uint32_t i = 0; i < count; i++) {
        samples[i].series = wild ? (uint32_t)sample_below(nseries) : i % nseries;
        time = wild ? (sample_below(3) ? time : sample_wild()) : time + (i % nseries ? 0 : SECOND);
        samples[i].time_ns = time;
        if (series[samples[i].series].real && !wild)
            samples[i].number = (double)sample_below(1000) / 8;
        else
            samples[i].value = wild ? (int64_t)sample_wild() : (int64_t)(i * 100 + sample_below(50));
    }
    return counters;
}

static void check(const struct dft_counters *before)
{
    struct dft_block_header header;
    struct dft_counters after;
    const void *block, *payload;
    const char *why;
    long size = dft_encode_counters(encoder, before, &block);
    uint64_t least = UINT64_MAX, most = 0;

    payload = size > 0 ? sample_block(block, (size_t)size, &header) : NULL;
    CU_ASSERT_FATAL(payload && header.type == DFT_BLOCK_COUNTERS);
    CU_ASSERT_FATAL(!dft_decode_counters(sample_decoder, &header, payload, &after, &why));
    CU_ASSERT(after.key == before->key && after.stream == 2 && after.tid == 5 && after.first == before->first);
    CU_ASSERT(header.last == before->first + before->count - (before->count != 0));
    CU_ASSERT_FATAL(after.count == before->count && after.nseries == before->nseries);
    for (uint32_t i = 0; i < after.nseries; i++) {
        const struct dft_counter_series *a = &before->series[i], *b = &after.series[i];

        CU_ASSERT(a->id == b->id && a->unit == b->unit && a->kind == b->kind && a->real == b->real);
    }
    for (uint32_t i = 0; i < after.count; i++) {
        CU_ASSERT(after.samples[i].time_ns == before->samples[i].time_ns);
        CU_ASSERT(after.samples[i].series == before->samples[i].series);
        CU_ASSERT(after.samples[i].value == before->samples[i].value);
        least = after.samples[i].time_ns < least ? after.samples[i].time_ns : least;
        most = after.samples[i].time_ns > most ? after.samples[i].time_ns : most;
    }
    CU_ASSERT(!after.count || (after.start == least && after.end == most));
    CU_ASSERT(after.nnames == before->nnames);
    for (uint32_t i = 0; i < after.nnames; i++)
        CU_ASSERT(!sample_text_differs(after.names[i].text, before->names[i].text));
}

static void test_there_and_back(void)
{
    for (unsigned i = 0; i < 300; i++) {
        struct dft_counters counters =
            make((uint32_t)sample_below(i % 10 ? 60 : SAMPLES_MAX), 1 + (uint32_t)sample_below(SERIES_MAX), i % 2);

        check(&counters);
    }
}

static void test_nothing(void)
{
    struct dft_counters none = make(0, 1, 0);

    check(&none);
    none.nseries = none.nnames = 0;
    check(&none);
}

/* What a process samples: totals that grow by some thousands, levels that change little. */
static void test_size(void)
{
    const uint32_t n = 15, moments = 60;
    struct dft_counters counters = make(n * moments, n, 0);
    const void *block;
    long size;

    for (uint32_t i = 0; i < counters.count; i++)
        samples[i].value = series[i % n].real ? 0 : (int64_t)((i / n) * (sample_below(2) ? 4096 : 90) + i % n);
    size = dft_encode_counters(encoder, &counters, &block);
    CU_ASSERT(size > 0 && size < (long)(40 * moments));
}

static void test_refused(void)
{
    struct dft_counters counters = make(10, 3, 0);
    const void *block;

    samples[4].series = 3;
    CU_ASSERT(dft_encode_counters(encoder, &counters, &block) < 0);
    counters = make(10, 3, 0);
    counters.nseries = 0;
    CU_ASSERT(dft_encode_counters(encoder, &counters, &block) < 0);
    counters = make(10, 3, 0);
    counters.count = DFT_COUNT_MAX + 1;
    CU_ASSERT(dft_encode_counters(encoder, &counters, &block) < 0);
}

/* Payloads changed behind the back of the checksum are refused with a text, or are other samples. */
static void test_mangled(void)
{
    unsigned errors = 0, rounds = 0;

    dft_encoder_set_compression(encoder, DFT_STORE);
    for (unsigned i = 0; i < 4000; i++, rounds++) {
        struct dft_counters counters = make((uint32_t)sample_below(200), 1 + (uint32_t)sample_below(20), i % 2), after;
        struct dft_block_header header;
        const char *why = NULL;
        const void *block;
        uint8_t *payload;

        CU_ASSERT_FATAL(dft_encode_counters(encoder, &counters, &block) > 0);
        memcpy(&header, block, sizeof header);
        payload = malloc(header.stored);
        CU_ASSERT_PTR_NOT_NULL_FATAL(payload);
        memcpy(payload, (const uint8_t *)block + sizeof header, header.stored);
        for (uint64_t n = 1 + sample_below(4); n; n--)
            payload[sample_below(header.stored)] = (uint8_t)sample_random();
        header.count = sample_below(4) ? header.count : (uint32_t)sample_below(2 * header.count + 2);
        if (dft_decode_counters(sample_decoder, &header, payload, &after, &why)) {
            CU_ASSERT_PTR_NOT_NULL(why);
            errors++;
        }
        free(payload);
    }
    CU_ASSERT(errors > rounds / 10);
    dft_encoder_set_compression(encoder, DFT_DEFLATE);
}

int suite_counters(void)
{
    CU_TestInfo tests[] = {
        {"there and back", test_there_and_back}, {"nothing", test_nothing},
        {"the size of a moment", test_size},     {"what is refused", test_refused},
        {"mangled payloads", test_mangled},      CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"counters", begin, end, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
