/* SPDX-License-Identifier: MIT */
/* PROCESS, CLOCK, END and NAMES come back, by default values too. */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"
#include "suites.h"
#include "format/decode.h"
#include "format/hash.h"

static struct dft_decoder *decoder;
static struct dft_encoder *encoder;

static int begin(void)
{
    decoder = dft_decoder_create();
    encoder = sample_encoder(DFT_DEFLATE);
    return !decoder;
}

static int end(void)
{
    dft_decoder_destroy(decoder);
    sample_encoder_free(encoder);
    return 0;
}

static struct dft_text text_of(char *bytes, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        bytes[i] = (char)('a' + sample_below(26));
    return (struct dft_text){bytes, length};
}

static void check_process(const struct dft_process *process, uint32_t command_length)
{
    struct dft_block_header header;
    struct dft_process after;
    const void *block, *payload;
    const char *why;
    long size = dft_encode_process(encoder, process, &block);

    payload = size > 0 ? sample_block(block, (size_t)size, &header) : NULL;
    CU_ASSERT_FATAL(payload && header.type == DFT_BLOCK_PROCESS);
    CU_ASSERT_FATAL(!dft_decode_process(decoder, &header, payload, &after, &why));
    CU_ASSERT(after.key == process->key && after.parent_key == process->parent_key);
    CU_ASSERT(after.pid == process->pid && after.ppid == process->ppid);
    CU_ASSERT(after.rank == process->rank && after.local_rank == process->local_rank);
    CU_ASSERT(after.world_size == process->world_size && after.start_ns == process->start_ns);
    CU_ASSERT(after.clock_offset == process->clock_offset);
    CU_ASSERT(!sample_text_differs(after.host, process->host) && !sample_text_differs(after.job_id, process->job_id));
    CU_ASSERT(!sample_text_differs(after.exe, process->exe) && !sample_text_differs(after.cwd, process->cwd));
    CU_ASSERT(!sample_text_differs(after.version, process->version));
    CU_ASSERT(!sample_text_differs(after.options, process->options));
    CU_ASSERT(!sample_text_differs(after.live_path, process->live_path));
    CU_ASSERT(!sample_text_differs(after.notes, process->notes));
    CU_ASSERT(!sample_text_differs(after.boot_id, process->boot_id));
    CU_ASSERT(after.pid_namespace == process->pid_namespace);
    CU_ASSERT(!sample_text_differs(after.run_id, process->run_id));
    CU_ASSERT(!sample_text_differs(after.mounts, process->mounts));
    CU_ASSERT(!sample_text_differs(after.role, process->role) && !sample_text_differs(after.kept, process->kept));
    CU_ASSERT(after.command.length == command_length);
    CU_ASSERT(!command_length || !memcmp(after.command.bytes, process->command.bytes, command_length));
}

static void test_process(void)
{
    static char texts[13][100], command[100000];
    struct dft_process process = {.key = 1, .rank = -1, .local_rank = -1};

    check_process(&process, 0);
    process = (struct dft_process){.key = UINT64_MAX,
                                   .parent_key = 5,
                                   .pid = UINT32_MAX,
                                   .ppid = 1,
                                   .rank = 0,
                                   .local_rank = INT32_MAX,
                                   .world_size = 12,
                                   .start_ns = UINT64_MAX,
                                   .clock_offset = INT64_MIN,
                                   .host = text_of(texts[0], 20),
                                   .job_id = text_of(texts[1], 1),
                                   .exe = text_of(texts[2], 99),
                                   .command = text_of(command, 500),
                                   .cwd = text_of(texts[3], 30),
                                   .version = text_of(texts[4], 5),
                                   .options = text_of(texts[5], 60),
                                   .live_path = text_of(texts[6], 70),
                                   .notes = text_of(texts[7], 80),
                                   .boot_id = text_of(texts[8], 36),
                                   .pid_namespace = UINT64_MAX,
                                   .run_id = text_of(texts[9], 90),
                                   .role = text_of(texts[10], 25),
                                   .kept = text_of(texts[11], 14),
                                   .mounts = text_of(texts[12], 95)};
    check_process(&process, 500);
    process.command = text_of(command, sizeof command);
    check_process(&process, DFT_TEXT_MAX); /* cut */
}

static void test_end(void)
{
    struct dft_end before = {.key = 9,
                             .events = UINT64_MAX,
                             .overhead_ns = 7,
                             .time_ns = 8,
                             .outside = 1u << 30,
                             .status = -11,
                             .exit_kind = 4};
    struct dft_block_header header;
    struct dft_end after;
    const void *block, *payload;
    const char *why;
    long size;

    for (unsigned i = 0; i <= DFT_DROP_LAST; i++)
        before.dropped[i] = i * i * i * i;
    for (unsigned i = 0; i <= DFT_MISUSE_LAST; i++)
        before.misuse[i] = i * i * i;
    size = dft_encode_end(encoder, &before, &block);
    payload = size > 0 ? sample_block(block, (size_t)size, &header) : NULL;
    CU_ASSERT_FATAL(payload && header.type == DFT_BLOCK_END);
    CU_ASSERT_FATAL(!dft_decode_end(decoder, &header, payload, &after, &why));
    CU_ASSERT(after.key == 9 && after.events == UINT64_MAX && after.overhead_ns == 7 && after.time_ns == 8);
    CU_ASSERT(after.outside == 1u << 30);
    CU_ASSERT(after.status == -11 && after.exit_kind == 4);
    CU_ASSERT(!memcmp(before.dropped, after.dropped, sizeof after.dropped));
    CU_ASSERT(!memcmp(before.misuse, after.misuse, sizeof after.misuse));
}

/* A reason that this reader does not know is counted all the same. */
static void test_unknown_reason(void)
{
    static const uint8_t raw[] = {DFT_END_DROPPED, DFT_ENC_BYTES, 4, 100, 3, DFT_DROP_TORN, 2};
    struct dft_block_header header = {.type = DFT_BLOCK_END, .raw = sizeof raw, .stored = sizeof raw};
    struct dft_end after;
    const char *why;

    CU_ASSERT_FATAL(!dft_decode_end(decoder, &header, raw, &after, &why));
    CU_ASSERT(after.dropped[0] == 3 && after.dropped[DFT_DROP_TORN] == 2);
}

static void test_clock(void)
{
    static const uint64_t samples[3][2] = {{1, UINT64_MAX}, {2, 3}, {UINT64_MAX, 0}};
    const uint64_t(*after)[2];
    struct dft_block_header header;
    const void *block, *payload;
    const char *why;
    uint32_t count;

    for (uint32_t n = 0; n <= 3; n++) {
        long size = dft_encode_clock(encoder, 4, samples, n, &block);

        payload = size > 0 ? sample_block(block, (size_t)size, &header) : NULL;
        CU_ASSERT_FATAL(payload && header.type == DFT_BLOCK_CLOCK && header.key == 4);
        CU_ASSERT_FATAL(!dft_decode_clock(decoder, &header, payload, &after, &count, &why));
        CU_ASSERT(count == n && (!n || !memcmp(after, samples, n * sizeof *samples)));
    }
    header.count = 4; /* more than there are */
    CU_ASSERT(dft_decode_clock(decoder, &header, payload, &after, &count, &why) < 0);
}

static void test_names(void)
{
    for (unsigned i = 0; i < 50; i++) {
        struct dft_batch batch = sample_batch(20, 1);
        struct dft_block_header header;
        const void *block, *payload;
        const struct dft_name *names;
        uint32_t count, found = 0, with_text = 0;
        const char *why;
        long size = dft_encode_names(encoder, 3, batch.names, batch.nnames, &block);

        payload = size > 0 ? sample_block(block, (size_t)size, &header) : NULL;
        CU_ASSERT_FATAL(payload && header.type == DFT_BLOCK_NAMES);
        CU_ASSERT_FATAL(!dft_decode_names(decoder, &header, payload, &names, &count, &why));
        CU_ASSERT(count == header.count);
        for (uint32_t j = 0; j < batch.nnames; j++) {
            with_text += batch.names[j].text.bytes != NULL;
            for (uint32_t k = 0; batch.names[j].text.bytes && k < count; k++)
                if (names[k].id == batch.names[j].id && !sample_text_differs(names[k].text, batch.names[j].text)) {
                    found++;
                    break;
                }
        }
        CU_ASSERT_EQUAL(found, with_text);
        /* The names of a block of another type, by the same function. */
        size = dft_encode_events(encoder, &batch, &block);
        payload = size > 0 ? sample_block(block, (size_t)size, &header) : NULL;
        CU_ASSERT_FATAL(payload && !dft_decode_names(decoder, &header, payload, &names, &count, &why));
        sample_batch_free(&batch);
    }
}

/* Each shares its beginning with the one before the last: less than ten bytes a name are left. */
static void test_names_in_turn(void)
{
    static char texts[200][80];
    struct dft_name names[200];
    struct dft_block_header header;
    const struct dft_name *read;
    const void *block, *payload;
    const char *why;
    uint32_t count;
    long size;

    for (unsigned i = 0; i < 200; i++) {
        int length = snprintf(texts[i], sizeof texts[i], "%s/a directory of some length/file%u",
                              i % 2 ? "/copies" : "/the originals", i / 2);

        names[i] = (struct dft_name){.id = dft_name_id(texts[i], (size_t)length), .text = {texts[i], (uint32_t)length}};
    }
    dft_encoder_set_compression(encoder, DFT_STORE);
    size = dft_encode_names(encoder, 3, names, 200, &block);
    dft_encoder_set_compression(encoder, DFT_DEFLATE);
    payload = size > 0 ? sample_block(block, (size_t)size, &header) : NULL;
    CU_ASSERT_FATAL(payload && header.raw < 200 * 10);
    CU_ASSERT_FATAL(!dft_decode_names(decoder, &header, payload, &read, &count, &why) && count == 200);
    for (unsigned i = 0; i < 200; i++)
        CU_ASSERT(read[i].id == names[i].id && !sample_text_differs(read[i].text, names[i].text));
}

int suite_records(void)
{
    CU_TestInfo tests[] = {
        {"names of two trees in turn", test_names_in_turn},
        {"PROCESS", test_process},
        {"END", test_end},
        {"END with an unknown reason", test_unknown_reason},
        {"CLOCK", test_clock},
        {"NAMES", test_names},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"records", begin, end, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
