/* SPDX-License-Identifier: MIT */
/* Tables of columns, in the bytes that the page reads (report/README.md, "The data").
 *
 * The caller begins a table, then one column after the other, and puts as many values as the table
 * has rows. An error stays until the end: dft_data_status. One thread. */
#ifndef DFT_PAGE_DATA_H
#define DFT_PAGE_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "base/write_json.h"

/* Types of columns. */
#define DFT_DATA_UNSIGNED 'u'
#define DFT_DATA_DELTA    'd'
#define DFT_DATA_TEXT     's'
#define DFT_DATA_BYTE     'b'

#define DFT_DATA_NAME 16u

struct dft_data_column {
    char name[DFT_DATA_NAME];
    size_t at;
    char type;
};

struct dft_data_table {
    char name[DFT_DATA_NAME];
    uint64_t rows;
    size_t first; /* of its columns */
};

/* All zero at first. */
struct dft_page_data {
    unsigned char *bytes;
    size_t count, capacity;
    struct dft_data_table *tables;
    size_t ntables, tables_capacity;
    struct dft_data_column *columns;
    size_t ncolumns, columns_capacity;
    uint64_t last; /* value of a DELTA column */
    int error;
};

void dft_data_begin_table(struct dft_page_data *data, const char *name, uint64_t rows);
void dft_data_begin_column(struct dft_page_data *data, const char *name, char type);
/* Puts the next value of an UNSIGNED, DELTA or BYTE column. */
void dft_data_put(struct dft_page_data *data, uint64_t value);
/* A whole column of numbers: `value` of each row i. */
#define DFT_DATA_COLUMN(data, name, type, rows, value)                                                                 \
    do {                                                                                                               \
        dft_data_begin_column(data, name, type);                                                                       \
        for (size_t i = 0; i < (rows); i++)                                                                            \
            dft_data_put(data, value);                                                                                 \
    } while (0)
/* Puts a text with its control characters escaped. A text of more than 4 KiB is cut, with "..." at
 * its end. */
void dft_data_text(struct dft_page_data *data, const char *bytes, size_t length);
/* Returns 0 or -ENOMEM. */
int dft_data_status(const struct dft_page_data *data);
/* Writes the member "tables". `at`: where the bytes lie among those of the page. */
void dft_data_json(struct dft_json *json, const struct dft_page_data *data, uint64_t at);
void dft_data_fini(struct dft_page_data *data);

#endif
