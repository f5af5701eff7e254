/* SPDX-License-Identifier: MIT */
/* Thrift's compact protocol; see thrift.h. */
#include "parquet/thrift.h"

static void put_byte(struct dft_thrift *thrift, unsigned byte)
{
    dft_bytes_number(thrift->out, byte, 1);
}

/* The head of a field: its type, and how far its id is from the last one. */
static void put_field(struct dft_thrift *thrift, int id, enum dft_thrift_type type)
{
    int step = id - thrift->last[thrift->depth];

    if (step > 0 && step < 16) {
        put_byte(thrift, (unsigned)step << 4 | type);
    } else {
        put_byte(thrift, type);
        dft_bytes_varint(thrift->out, dft_zigzag((uint64_t)id));
    }
    thrift->last[thrift->depth] = (int16_t)id;
}

void dft_thrift_i32(struct dft_thrift *thrift, int id, int32_t number)
{
    put_field(thrift, id, DFT_THRIFT_I32);
    dft_thrift_item_number(thrift, number);
}

void dft_thrift_i64(struct dft_thrift *thrift, int id, int64_t number)
{
    put_field(thrift, id, DFT_THRIFT_I64);
    dft_thrift_item_number(thrift, number);
}

void dft_thrift_bool(struct dft_thrift *thrift, int id, int value)
{
    put_field(thrift, id, value ? DFT_THRIFT_TRUE : DFT_THRIFT_FALSE);
}

void dft_thrift_binary(struct dft_thrift *thrift, int id, const void *bytes, size_t length)
{
    put_field(thrift, id, DFT_THRIFT_BINARY);
    dft_thrift_item_binary(thrift, bytes, length);
}

void dft_thrift_struct(struct dft_thrift *thrift, int id)
{
    put_field(thrift, id, DFT_THRIFT_STRUCT);
    dft_thrift_item(thrift);
}

void dft_thrift_end(struct dft_thrift *thrift)
{
    put_byte(thrift, 0);
    thrift->depth -= thrift->depth > 0;
}

void dft_thrift_empty(struct dft_thrift *thrift, int id)
{
    dft_thrift_struct(thrift, id);
    dft_thrift_end(thrift);
}

void dft_thrift_list(struct dft_thrift *thrift, int id, enum dft_thrift_type type, size_t count)
{
    put_field(thrift, id, DFT_THRIFT_LIST);
    if (count < 15) {
        put_byte(thrift, (unsigned)count << 4 | type);
    } else {
        put_byte(thrift, 0xf0u | type);
        dft_bytes_varint(thrift->out, count);
    }
}

void dft_thrift_item(struct dft_thrift *thrift)
{
    thrift->last[++thrift->depth] = 0;
}

void dft_thrift_item_number(struct dft_thrift *thrift, int64_t number)
{
    dft_bytes_varint(thrift->out, dft_zigzag((uint64_t)number));
}

void dft_thrift_item_binary(struct dft_thrift *thrift, const void *bytes, size_t length)
{
    dft_bytes_varint(thrift->out, length);
    dft_bytes_put(thrift->out, bytes, length);
}

void dft_thrift_item_bool(struct dft_thrift *thrift, int value)
{
    put_byte(thrift, value ? DFT_THRIFT_TRUE : DFT_THRIFT_FALSE);
}
