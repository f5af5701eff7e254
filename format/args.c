/* SPDX-License-Identifier: MIT */
/* The arguments of events, both directions. */
#include "args.h"

#include <errno.h>

int dft_args_begin(struct dft_encoder *encoder, struct dft_entries *entries, const struct dft_batch *batch,
                   uint32_t events, uint32_t **keys)
{
    const struct dft_arg *args = batch->args;

    if (batch->nargs > DFT_ARGS_MAX)
        return -EINVAL;
    *keys = dft_arena_take(encoder, (uint64_t)batch->nargs * 4);
    if (!*keys)
        return -E2BIG;
    for (uint32_t i = 0; i < batch->nargs; i++) {
        struct dft_entry *entry = dft_entries_get(entries, args[i].key);

        if (!entry)
            return -E2BIG;
        if (args[i].event >= events || args[i].type > DFT_ARG_STRING || (i && args[i].event < args[i - 1].event))
            return -EINVAL;
        (*keys)[i] = dft_entries_refer(entries, entry);
    }
    return 0;
}

static void put_value(struct dft_raw *raw, const struct dft_arg *arg)
{
    if (arg->type == DFT_ARG_INT) {
        dft_raw_leb(raw, dft_zigzag((uint64_t)arg->i));
    } else if (arg->type == DFT_ARG_DOUBLE) {
        dft_raw_bytes(raw, &arg->d, 8);
    } else {
        dft_raw_leb(raw, arg->s.length);
        dft_raw_bytes(raw, arg->s.bytes, arg->s.length);
    }
}

void dft_args_put(struct dft_raw *raw, const struct dft_batch *batch, const uint32_t *keys)
{
    const struct dft_arg *args = batch->args;

    if (!batch->nargs)
        return;
    dft_raw_open(raw, DFT_EV_ARG_EVENT, DFT_ENC_LEB128);
    for (uint32_t i = 0; i < batch->nargs; i++)
        dft_raw_leb(raw, args[i].event - (i ? args[i - 1].event : 0));
    dft_raw_close(raw);
    dft_raw_open(raw, DFT_EV_ARG_KEY, DFT_ENC_LEB128);
    for (uint32_t i = 0; i < batch->nargs; i++)
        dft_raw_leb(raw, keys[i]);
    dft_raw_close(raw);
    dft_raw_open(raw, DFT_EV_ARG_TYPE, DFT_ENC_LEB128);
    for (uint32_t i = 0; i < batch->nargs; i++)
        dft_raw_leb(raw, args[i].type);
    dft_raw_close(raw);
    dft_raw_open(raw, DFT_EV_ARG_VALUE, DFT_ENC_BYTES);
    for (uint32_t i = 0; i < batch->nargs; i++)
        put_value(raw, &args[i]);
    dft_raw_close(raw);
}

static void get_value(struct dft_columns *columns, struct dft_arg *arg)
{
    uint64_t word;

    switch (arg->type) {
    case DFT_ARG_INT:
        arg->i = (int64_t)dft_unzigzag(dft_column_leb(columns, DFT_EV_ARG_VALUE));
        break;
    case DFT_ARG_DOUBLE:
        word = dft_column_word(columns, DFT_EV_ARG_VALUE);
        memcpy(&arg->d, &word, 8);
        break;
    default:
        arg->s.length = (uint32_t)dft_column_leb_max(columns, DFT_EV_ARG_VALUE, DFT_RAW_MAX);
        arg->s.bytes = (const char *)dft_column_bytes(columns, DFT_EV_ARG_VALUE, arg->s.length);
    }
}

int dft_args_get(struct dft_decoder *decoder, const struct dft_block_header *header, struct dft_batch *batch)
{
    struct dft_columns *columns = &decoder->columns;
    const struct dft_name *names = decoder->names.bytes;
    uint64_t event = 0, key;
    struct dft_arg *arg;

    while (dft_column_left(columns, DFT_EV_ARG_EVENT) && !columns->reason) {
        if (batch->nargs == DFT_ARGS_MAX) {
            dft_columns_fault(columns, "more arguments than a block may hold");
            break;
        }
        if (dft_buffer_reserve(&decoder->args, (batch->nargs + 1) * sizeof *arg))
            return -ENOMEM;
        arg = (struct dft_arg *)decoder->args.bytes + batch->nargs++;
        event += dft_column_leb_max(columns, DFT_EV_ARG_EVENT, DFT_COUNT_MAX);
        key = dft_column_leb(columns, DFT_EV_ARG_KEY);
        if (event >= header->count)
            dft_column_fault(columns, DFT_EV_ARG_EVENT);
        if (key >= decoder->nnames)
            dft_column_fault(columns, DFT_EV_ARG_KEY);
        else
            arg->key = names[key].id;
        arg->event = (uint32_t)event;
        arg->type = (uint8_t)dft_column_leb_max(columns, DFT_EV_ARG_TYPE, DFT_ARG_STRING);
        get_value(columns, arg);
    }
    batch->args = decoder->args.bytes;
    return columns->reason ? -EBADMSG : 0;
}
