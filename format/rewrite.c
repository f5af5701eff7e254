/* SPDX-License-Identifier: MIT */
/* Blocks with other names and texts. Columns refer to names by position, so only the columns that
 * hold ids or texts themselves are made again. */
#include "format/rewrite.h"

#include <errno.h>

#include "args.h"
#include "decoder.h"
#include "encoder.h"

#define ANY    0xffu
#define NSPECS (DFT_COL_CLASSES + 1u)

struct rewrite {
    struct dft_decoder *decoder;
    struct dft_columns *columns;
    struct dft_raw *raw;
    const struct dft_rewriting *how;
    const struct dft_column *list; /* the columns as they were before they were read */
};

/* --- the columns ------------------------------------------------------------------------------ */

/* The last column of a type besides NAMES, CALLS and CLASSES; 0: such blocks are not rewritten. */
static unsigned last_column(unsigned type)
{
    switch (type) {
    case DFT_BLOCK_EVENTS:
        return DFT_EV_NUMBER;
    case DFT_BLOCK_BUCKETS:
        return DFT_BK_STRIDES;
    case DFT_BLOCK_COUNTERS:
        return DFT_CN_VALUE;
    case DFT_BLOCK_CLOCK:
        return DFT_CLOCK_SAMPLES;
    default:
        return 0;
    }
}

/* CLOCK has a column of its own numbers alone; COUNTERS has no calls. */
static int is_known(unsigned type, unsigned id)
{
    if (id == DFT_COL_NAMES)
        return type != DFT_BLOCK_CLOCK;
    if (id == DFT_COL_CALLS || id == DFT_COL_CLASSES)
        return type == DFT_BLOCK_EVENTS || type == DFT_BLOCK_BUCKETS;
    return id > DFT_COL_CALLS && id <= last_column(type);
}

static void find_specs(unsigned type, struct dft_column_spec specs[NSPECS])
{
    static const struct dft_column_spec known = DFT_COLUMN_SPEC(of names or texts, ANY);

    for (unsigned id = 0; id < NSPECS; id++)
        specs[id] = is_known(type, id) ? known : (struct dft_column_spec){0};
}

/* How many columns stand in the block that are not known. The list was parsed before. */
static uint64_t count_unknown(const struct dft_decoder *decoder, uint32_t length)
{
    const uint8_t *at = decoder->raw.bytes, *end = at + length;
    uint64_t count = 0, id = 0, encoding = 0, size = 0;

    while (at && at < end) {
        at = dft_leb_get(at, end, &id);
        at = at ? dft_leb_get(at, end, &encoding) : NULL;
        at = at ? dft_leb_get(at, end, &size) : NULL;
        at = at ? at + size : NULL;
        count += at && (id >= NSPECS || !decoder->columns.list[id].present);
    }
    return count;
}

/* --- names and calls -------------------------------------------------------------------------- */

static void put_word(struct dft_raw *raw, uint64_t word)
{
    dft_raw_bytes(raw, &word, sizeof word); /* little-endian, as this machine */
}

static int put_name(struct rewrite *rewrite, const struct dft_name *name)
{
    uint64_t id = 0;
    int rc = rewrite->how->name(rewrite->how->context, name->id, name->text, &id);

    dft_raw_leb(rewrite->raw, 0);
    put_word(rewrite->raw, id);
    return rc;
}

static int put_counter(struct rewrite *rewrite, const struct dft_name *name)
{
    struct dft_text text;
    int rc = rewrite->how->counter(rewrite->how->context, name->text, &text);

    if (rc)
        return rc;
    dft_raw_leb(rewrite->raw, 1);
    dft_raw_leb(rewrite->raw, text.length);
    dft_raw_bytes(rewrite->raw, text.bytes, text.length);
    return 0;
}

static int put_names(struct rewrite *rewrite, int are_counters)
{
    const struct dft_name *names;
    int rc = dft_names_get(rewrite->decoder);

    if (rc)
        return rc;
    names = rewrite->decoder->names.bytes;
    dft_raw_open(rewrite->raw, DFT_COL_NAMES, DFT_ENC_BYTES);
    for (uint32_t i = 0; i < rewrite->decoder->nnames && !rc; i++)
        rc = are_counters && names[i].text.bytes && !names[i].cut ? put_counter(rewrite, &names[i])
                                                                  : put_name(rewrite, &names[i]);
    dft_raw_close(rewrite->raw);
    return rc;
}

static int put_call(struct rewrite *rewrite)
{
    struct dft_columns *columns = rewrite->columns;
    struct dft_text text, other;
    uint64_t length;
    int rc;

    dft_raw_leb(rewrite->raw, dft_column_leb_max(columns, DFT_COL_CALLS, UINT8_MAX));
    length = dft_column_leb_max(columns, DFT_COL_CALLS, DFT_TEXT_MAX);
    if (!length) {
        dft_raw_leb(rewrite->raw, 0);
        dft_raw_leb(rewrite->raw, dft_column_leb(columns, DFT_COL_CALLS));
        return 0;
    }
    text = (struct dft_text){(const char *)dft_column_bytes(columns, DFT_COL_CALLS, length), (uint32_t)length};
    if (!text.bytes)
        return -EBADMSG;
    rc = rewrite->how->call(rewrite->how->context, text, &other);
    if (rc)
        return rc;
    dft_raw_leb(rewrite->raw, other.length);
    dft_raw_bytes(rewrite->raw, other.bytes, other.length);
    return 0;
}

static int put_calls(struct rewrite *rewrite)
{
    int rc = 0;

    dft_raw_open(rewrite->raw, DFT_COL_CALLS, DFT_ENC_BYTES);
    while (!rc && !rewrite->columns->reason && dft_column_left(rewrite->columns, DFT_COL_CALLS))
        rc = put_call(rewrite);
    dft_raw_close(rewrite->raw);
    return rc;
}

/* --- stacks and arguments --------------------------------------------------------------------- */

static int put_stacks(struct rewrite *rewrite)
{
    int rc = 0;

    dft_raw_open(rewrite->raw, DFT_EV_STACK, DFT_ENC_BYTES);
    while (!rc && !rewrite->columns->reason && dft_column_left(rewrite->columns, DFT_EV_STACK)) {
        uint64_t id = dft_column_word(rewrite->columns, DFT_EV_STACK), other = id;

        if (id)
            rc = rewrite->how->name(rewrite->how->context, id, (struct dft_text){NULL, 0}, &other);
        put_word(rewrite->raw, other);
    }
    dft_raw_close(rewrite->raw);
    return rc;
}

static int put_arg(struct rewrite *rewrite, struct dft_arg *arg)
{
    int rc;

    if (arg->type == DFT_ARG_STRING && rewrite->how->without_texts)
        arg->s.length = 0;
    rc = rewrite->how->arg(rewrite->how->context, arg);
    if (rc)
        return rc;
    if (arg->type == DFT_ARG_INT) {
        dft_raw_leb(rewrite->raw, dft_zigzag((uint64_t)arg->i));
    } else if (arg->type == DFT_ARG_DOUBLE) {
        dft_raw_bytes(rewrite->raw, &arg->d, sizeof arg->d);
    } else {
        dft_raw_leb(rewrite->raw, arg->s.length);
        dft_raw_bytes(rewrite->raw, arg->s.bytes, arg->s.length);
    }
    return 0;
}

static int put_args(struct rewrite *rewrite, const struct dft_block_header *header)
{
    struct dft_batch batch = {.nargs = 0};
    int rc = dft_args_get(rewrite->decoder, header, &batch);

    dft_raw_open(rewrite->raw, DFT_EV_ARG_VALUE, DFT_ENC_BYTES);
    for (uint32_t i = 0; i < batch.nargs && !rc; i++)
        rc = put_arg(rewrite, &batch.args[i]);
    dft_raw_close(rewrite->raw);
    return rc;
}

/* --- the block -------------------------------------------------------------------------------- */

/* Does the column hold ids or texts? */
static int is_made_again(unsigned type, unsigned id)
{
    return (type != DFT_BLOCK_CLOCK && id == DFT_COL_NAMES) || id == DFT_COL_CALLS ||
           (type == DFT_BLOCK_EVENTS && (id == DFT_EV_STACK || id == DFT_EV_ARG_VALUE));
}

static int put_columns(struct rewrite *rewrite, const struct dft_block_header *header)
{
    int rc = 0, has_args = header->type == DFT_BLOCK_EVENTS && rewrite->list[DFT_EV_ARG_EVENT].present;

    for (unsigned id = 0; id < NSPECS; id++) {
        const struct dft_column *column = &rewrite->list[id];

        if (column->present && !is_made_again(header->type, id))
            dft_raw_column(rewrite->raw, id, (enum dft_encoding)column->encoding, column->at,
                           (size_t)(column->end - column->at));
    }
    if (rewrite->list[DFT_COL_NAMES].present && header->type != DFT_BLOCK_CLOCK)
        rc = put_names(rewrite, header->type == DFT_BLOCK_COUNTERS);
    if (!rc && rewrite->list[DFT_COL_CALLS].present)
        rc = put_calls(rewrite);
    if (!rc && header->type == DFT_BLOCK_EVENTS && rewrite->list[DFT_EV_STACK].present)
        rc = put_stacks(rewrite);
    return !rc && has_args ? put_args(rewrite, header) : rc;
}

long dft_rewrite_block(struct dft_decoder *decoder, struct dft_encoder *encoder, const struct dft_block_header *header,
                       const void *payload, const struct dft_rewriting *rewriting, const void **block,
                       uint64_t *unknown, const char **reason)
{
    struct dft_column_spec specs[NSPECS];
    struct dft_column list[NSPECS];
    struct dft_block_header other = *header;
    struct rewrite rewrite = {decoder, &decoder->columns, &encoder->raw, rewriting, list};
    int rc;

    find_specs(header->type, specs);
    if (!last_column(header->type))
        return -EINVAL;
    rc = dft_decoder_open(decoder, header, payload, specs, NSPECS, reason);
    if (rc)
        return rc;
    memcpy(list, decoder->columns.list, sizeof list);
    *unknown += count_unknown(decoder, header->raw);
    other.flags = 0;
    other.key = rewriting->process(rewriting->context, header->key);
    dft_block_begin(encoder);
    rc = dft_decoder_result(decoder, put_columns(&rewrite, header), reason);
    if (rc)
        return rc;
    return dft_block_end(encoder, &other, (const uint8_t *)payload + header->stored - header->tail, header->tail,
                         block);
}
