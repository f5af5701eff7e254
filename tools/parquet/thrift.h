/* SPDX-License-Identifier: MIT */
/* Thrift's compact protocol, as far as Parquet's metadata need it. Fields of a struct come in
 * ascending order of their ids. */
#ifndef DFT_PARQUET_THRIFT_H
#define DFT_PARQUET_THRIFT_H

#include "parquet/bytes.h"

enum dft_thrift_type {
    DFT_THRIFT_TRUE = 1,
    DFT_THRIFT_FALSE = 2,
    DFT_THRIFT_I32 = 5,
    DFT_THRIFT_I64 = 6,
    DFT_THRIFT_BINARY = 8,
    DFT_THRIFT_LIST = 9,
    DFT_THRIFT_STRUCT = 12
};

#define DFT_THRIFT_DEPTH 12u

/* All zero at first, but for `out`. The outermost struct is open then. */
struct dft_thrift {
    struct dft_bytes *out;
    int16_t last[DFT_THRIFT_DEPTH]; /* id of the last field, of each struct that is open */
    unsigned depth;
};

void dft_thrift_i32(struct dft_thrift *thrift, int id, int32_t number);
void dft_thrift_i64(struct dft_thrift *thrift, int id, int64_t number);
void dft_thrift_bool(struct dft_thrift *thrift, int id, int value);
void dft_thrift_binary(struct dft_thrift *thrift, int id, const void *bytes, size_t length);
/* Opens a struct as a field; dft_thrift_end closes it, and the outermost one, too. */
void dft_thrift_struct(struct dft_thrift *thrift, int id);
void dft_thrift_end(struct dft_thrift *thrift);
/* A struct without fields. */
void dft_thrift_empty(struct dft_thrift *thrift, int id);
/* A list as a field. Its elements follow at once, by the functions below. */
void dft_thrift_list(struct dft_thrift *thrift, int id, enum dft_thrift_type type, size_t count);
void dft_thrift_item(struct dft_thrift *thrift);                        /* opens a struct; dft_thrift_end closes it */
void dft_thrift_item_number(struct dft_thrift *thrift, int64_t number); /* I32, I64 */
void dft_thrift_item_binary(struct dft_thrift *thrift, const void *bytes, size_t length);
void dft_thrift_item_bool(struct dft_thrift *thrift, int value); /* of a list of TRUE */

#endif
