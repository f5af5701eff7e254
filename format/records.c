/* SPDX-License-Identifier: MIT */
/* PROCESS, END, ORIGIN, GROUP, CLOCK and NAMES blocks, both directions. records.def is the one list
 * of the fields of the first two. */
#include <errno.h>

#include "decoder.h"
#include "encoder.h"

#define NUMBER DFT_MASK(DFT_ENC_LEB128)
#define BYTES  DFT_MASK(DFT_ENC_BYTES)

/* --- one value -------------------------------------------------------------------------------- */

#define MASK_U8   NUMBER
#define MASK_U32  NUMBER
#define MASK_U64  NUMBER
#define MASK_S32  NUMBER
#define MASK_S64  NUMBER
#define MASK_UP1  NUMBER
#define MASK_TEXT BYTES

static void put_U64(struct dft_raw *raw, unsigned id, uint64_t value)
{
    if (!value)
        return; /* the default */
    dft_raw_open(raw, id, DFT_ENC_LEB128);
    dft_raw_leb(raw, value);
    dft_raw_close(raw);
}

static void put_S64(struct dft_raw *raw, unsigned id, int64_t value)
{
    put_U64(raw, id, dft_zigzag((uint64_t)value));
}

static void put_UP1(struct dft_raw *raw, unsigned id, int32_t value)
{
    put_U64(raw, id, (uint32_t)value + 1u);
}

static void put_TEXT(struct dft_raw *raw, unsigned id, struct dft_text text)
{
    if (text.bytes && text.length)
        dft_raw_column(raw, id, DFT_ENC_BYTES, text.bytes, text.length < DFT_TEXT_MAX ? text.length : DFT_TEXT_MAX);
}

#define put_U8  put_U64
#define put_U32 put_U64
#define put_S32 put_S64

static uint64_t get_U64(struct dft_columns *columns, unsigned id)
{
    return dft_column_leb(columns, id);
}

static uint32_t get_U32(struct dft_columns *columns, unsigned id)
{
    return (uint32_t)dft_column_leb_max(columns, id, UINT32_MAX);
}

static uint8_t get_U8(struct dft_columns *columns, unsigned id)
{
    return (uint8_t)dft_column_leb_max(columns, id, UINT8_MAX);
}

static int64_t get_S64(struct dft_columns *columns, unsigned id)
{
    return (int64_t)dft_unzigzag(dft_column_leb(columns, id));
}

static int32_t get_S32(struct dft_columns *columns, unsigned id)
{
    return (int32_t)dft_unzigzag(dft_column_leb_max(columns, id, UINT32_MAX));
}

static int32_t get_UP1(struct dft_columns *columns, unsigned id)
{
    return (int32_t)(get_U32(columns, id) - 1u);
}

static struct dft_text get_TEXT(struct dft_columns *columns, unsigned id)
{
    size_t length = dft_column_left(columns, id);

    if (length > DFT_TEXT_MAX) {
        dft_column_fault(columns, id);
        length = 0;
    }
    return (struct dft_text){(const char *)columns->list[id].at, (uint32_t)length};
}

/* --- PROCESS ---------------------------------------------------------------------------------- */

#define DFT_RECORD_PROCESS
static const struct dft_column_spec process_specs[] = {
#define DFT_RECORD(NAME, kind, field) [DFT_PR_##NAME] = DFT_COLUMN_SPEC(NAME, MASK_##kind),
#include "records.def"
#undef DFT_RECORD
};

long dft_encode_process(struct dft_encoder *encoder, const struct dft_process *process, const void **block)
{
    struct dft_block_header header = {
        .type = DFT_BLOCK_PROCESS, .count = 1, .key = process->key, .first = process->order};

    dft_block_begin(encoder);
#define DFT_RECORD(NAME, kind, field) put_##kind(&encoder->raw, DFT_PR_##NAME, process->field);
#include "records.def"
#undef DFT_RECORD
    return dft_block_end(encoder, &header, NULL, 0, block);
}

int dft_decode_process(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                       struct dft_process *process, const char **reason)
{
    struct dft_columns *columns = &decoder->columns;
    int status =
        dft_decoder_open(decoder, header, payload, process_specs, sizeof process_specs / sizeof *process_specs, reason);

    if (status)
        return status;
    *process = (struct dft_process){.key = header->key, .order = header->first};
#define DFT_RECORD(NAME, kind, field) process->field = get_##kind(columns, DFT_PR_##NAME);
#include "records.def"
#undef DFT_RECORD
    return dft_decoder_result(decoder, 0, reason);
}
#undef DFT_RECORD_PROCESS

/* --- END -------------------------------------------------------------------------------------- */

#define DFT_RECORD_END
static const struct dft_column_spec end_specs[] = {
#define DFT_RECORD(NAME, kind, field) [DFT_END_##NAME] = DFT_COLUMN_SPEC(NAME, MASK_##kind),
#include "records.def"
#undef DFT_RECORD
    [DFT_END_DROPPED] = DFT_COLUMN_SPEC(DROPPED, BYTES),
    [DFT_END_MISUSE] = DFT_COLUMN_SPEC(MISUSE, BYTES),
};

/* Pairs of a reason and its count; reasons above `last` are added up as 0. */
static void put_counts(struct dft_raw *raw, unsigned id, const uint64_t *counts, unsigned last)
{
    dft_raw_open(raw, id, DFT_ENC_BYTES);
    for (unsigned i = 0; i <= last; i++) {
        if (!counts[i])
            continue;
        dft_raw_leb(raw, i);
        dft_raw_leb(raw, counts[i]);
    }
    dft_raw_close(raw);
}

static void get_counts(struct dft_columns *columns, unsigned id, uint64_t *counts, unsigned last)
{
    while (dft_column_left(columns, id) && !columns->reason) {
        uint64_t reason = dft_column_leb(columns, id);

        counts[reason <= last ? reason : 0] += dft_column_leb(columns, id);
    }
}

long dft_encode_end(struct dft_encoder *encoder, const struct dft_end *end, const void **block)
{
    struct dft_block_header header = {.type = DFT_BLOCK_END, .count = 1, .key = end->key};
    struct dft_raw *raw = &encoder->raw;

    dft_block_begin(encoder);
#define DFT_RECORD(NAME, kind, field) put_##kind(raw, DFT_END_##NAME, end->field);
#include "records.def"
#undef DFT_RECORD
    put_counts(raw, DFT_END_DROPPED, end->dropped, DFT_DROP_LAST);
    for (unsigned i = 0; i <= DFT_MISUSE_LAST; i++)
        if (end->misuse[i]) {
            put_counts(raw, DFT_END_MISUSE, end->misuse, DFT_MISUSE_LAST);
            break;
        }
    return dft_block_end(encoder, &header, NULL, 0, block);
}

int dft_decode_end(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                   struct dft_end *end, const char **reason)
{
    struct dft_columns *columns = &decoder->columns;
    int status = dft_decoder_open(decoder, header, payload, end_specs, sizeof end_specs / sizeof *end_specs, reason);

    if (status)
        return status;
    *end = (struct dft_end){.key = header->key};
#define DFT_RECORD(NAME, kind, field) end->field = get_##kind(columns, DFT_END_##NAME);
#include "records.def"
#undef DFT_RECORD
    get_counts(columns, DFT_END_DROPPED, end->dropped, DFT_DROP_LAST);
    get_counts(columns, DFT_END_MISUSE, end->misuse, DFT_MISUSE_LAST);
    return dft_decoder_result(decoder, 0, reason);
}
#undef DFT_RECORD_END

/* --- ORIGIN ----------------------------------------------------------------------------------- */

#define DFT_RECORD_ORIGIN
static const struct dft_column_spec origin_specs[] = {
#define DFT_RECORD(NAME, kind, field) [DFT_OR_##NAME] = DFT_COLUMN_SPEC(NAME, MASK_##kind),
#include "records.def"
#undef DFT_RECORD
};

long dft_encode_origin(struct dft_encoder *encoder, const struct dft_origin *origin, const void **block)
{
    struct dft_block_header header = {.type = DFT_BLOCK_ORIGIN, .count = 1, .key = origin->key};

    dft_block_begin(encoder);
#define DFT_RECORD(NAME, kind, field) put_##kind(&encoder->raw, DFT_OR_##NAME, origin->field);
#include "records.def"
#undef DFT_RECORD
    return dft_block_end(encoder, &header, NULL, 0, block);
}

int dft_decode_origin(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                      struct dft_origin *origin, const char **reason)
{
    struct dft_columns *columns = &decoder->columns;
    int status =
        dft_decoder_open(decoder, header, payload, origin_specs, sizeof origin_specs / sizeof *origin_specs, reason);

    if (status)
        return status;
    *origin = (struct dft_origin){.key = header->key};
#define DFT_RECORD(NAME, kind, field) origin->field = get_##kind(columns, DFT_OR_##NAME);
#include "records.def"
#undef DFT_RECORD
    return dft_decoder_result(decoder, 0, reason);
}
#undef DFT_RECORD_ORIGIN

/* --- GROUP ------------------------------------------------------------------------------------ */

#define DFT_RECORD_GROUP
static const struct dft_column_spec group_specs[] = {
#define DFT_RECORD(NAME, kind, field) [DFT_GR_##NAME] = DFT_COLUMN_SPEC(NAME, MASK_##kind),
#include "records.def"
#undef DFT_RECORD
};

long dft_encode_group(struct dft_encoder *encoder, const struct dft_group_record *group, const void **block)
{
    struct dft_block_header header = {.type = DFT_BLOCK_GROUP, .count = 1, .key = group->key};

    dft_block_begin(encoder);
#define DFT_RECORD(NAME, kind, field) put_##kind(&encoder->raw, DFT_GR_##NAME, group->field);
#include "records.def"
#undef DFT_RECORD
    return dft_block_end(encoder, &header, NULL, 0, block);
}

int dft_decode_group(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                     struct dft_group_record *group, const char **reason)
{
    struct dft_columns *columns = &decoder->columns;
    int status =
        dft_decoder_open(decoder, header, payload, group_specs, sizeof group_specs / sizeof *group_specs, reason);

    if (status)
        return status;
    *group = (struct dft_group_record){.key = header->key};
#define DFT_RECORD(NAME, kind, field) group->field = get_##kind(columns, DFT_GR_##NAME);
#include "records.def"
#undef DFT_RECORD
    return dft_decoder_result(decoder, 0, reason);
}
#undef DFT_RECORD_GROUP

/* --- CLOCK ------------------------------------------------------------------------------------ */

static const struct dft_column_spec clock_specs[] = {
    [DFT_CLOCK_SAMPLES] = DFT_COLUMN_SPEC(SAMPLES, BYTES),
};

long dft_encode_clock(struct dft_encoder *encoder, uint64_t key, const uint64_t (*samples)[2], uint32_t count,
                      const void **block)
{
    struct dft_block_header header = {.type = DFT_BLOCK_CLOCK, .count = count, .key = key};

    if (count > DFT_COUNT_MAX)
        return -EINVAL;
    dft_block_begin(encoder);
    dft_raw_column(&encoder->raw, DFT_CLOCK_SAMPLES, DFT_ENC_BYTES, samples, count * sizeof *samples);
    return dft_block_end(encoder, &header, NULL, 0, block);
}

int dft_decode_clock(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                     const uint64_t (**samples)[2], uint32_t *count, const char **reason)
{
    struct dft_columns *columns = &decoder->columns;
    int status =
        dft_decoder_open(decoder, header, payload, clock_specs, sizeof clock_specs / sizeof *clock_specs, reason);
    size_t bytes;

    if (status)
        return status;
    bytes = dft_column_left(columns, DFT_CLOCK_SAMPLES);
    if (bytes != header->count * sizeof **samples)
        dft_column_fault(columns, DFT_CLOCK_SAMPLES);
    else if (dft_buffer_reserve(&decoder->samples, bytes))
        return -ENOMEM;
    else if (bytes)
        memcpy(decoder->samples.bytes, columns->list[DFT_CLOCK_SAMPLES].at, bytes);
    *samples = decoder->samples.bytes;
    *count = header->count;
    return dft_decoder_result(decoder, 0, reason);
}

/* --- NAMES ------------------------------------------------------------------------------------ */

static const struct dft_column_spec names_specs[] = {
    [DFT_COL_NAMES] = DFT_COLUMN_SPEC(NAMES, BYTES),
};

long dft_encode_names(struct dft_encoder *encoder, uint64_t key, const struct dft_name *names, uint32_t count,
                      const void **block)
{
    struct dft_block_header header = {.type = DFT_BLOCK_NAMES, .key = key};
    struct dft_entries entries;
    int status;

    dft_block_begin(encoder);
    status = dft_entries_begin(encoder, &entries, count);
    if (!status)
        status = dft_entries_define(&entries, names, count);
    if (status)
        return status;
    header.count = dft_names_put(&encoder->raw, &entries);
    return dft_block_end(encoder, &header, NULL, 0, block);
}

int dft_decode_names(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                     const struct dft_name **names, uint32_t *count, const char **reason)
{
    int status =
        dft_decoder_open(decoder, header, payload, names_specs, sizeof names_specs / sizeof *names_specs, reason);

    if (status)
        return status;
    status = dft_names_get(decoder);
    *names = decoder->names.bytes;
    *count = decoder->nnames;
    return dft_decoder_result(decoder, status, reason);
}
