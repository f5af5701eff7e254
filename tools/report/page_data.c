/* SPDX-License-Identifier: MIT */
/* Tables of columns: values as LEB128, texts with their length. */
#include "report/page_data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/write_text.h"
#include "format/leb128.h"

#define TEXT_MAX 4096u

void dft_data_begin_table(struct dft_page_data *data, const char *name, uint64_t rows)
{
    struct dft_data_table table = {.rows = rows, .first = data->ncolumns};

    snprintf(table.name, sizeof table.name, "%s", name);
    data->error |= DFT_ARRAY_PUSH(data->tables, data->tables_capacity, data->ntables, table);
}

void dft_data_begin_column(struct dft_page_data *data, const char *name, char type)
{
    struct dft_data_column column = {.at = data->count, .type = type};

    snprintf(column.name, sizeof column.name, "%s", name);
    data->last = 0;
    data->error |= DFT_ARRAY_PUSH(data->columns, data->columns_capacity, data->ncolumns, column);
}

/* Room for so many bytes more; NULL: there is none. */
static unsigned char *reserve(struct dft_page_data *data, size_t bytes)
{
    if (data->error)
        return NULL;
    data->error = DFT_ARRAY_RESERVE(data->bytes, data->capacity, data->count + bytes);
    return data->error ? NULL : data->bytes + data->count;
}

static void put_uint(struct dft_page_data *data, uint64_t value)
{
    unsigned char *at = reserve(data, DFT_LEB_MAX);

    if (at)
        data->count = (size_t)(dft_leb_put(at, value) - data->bytes);
}

void dft_data_put(struct dft_page_data *data, uint64_t value)
{
    char type = data->ncolumns ? data->columns[data->ncolumns - 1].type : DFT_DATA_UNSIGNED;
    unsigned char *at;

    if (type == DFT_DATA_BYTE) {
        at = reserve(data, 1);
        if (at)
            data->bytes[data->count++] = (unsigned char)value;
        return;
    }
    put_uint(data, type == DFT_DATA_DELTA ? dft_zigzag(value - data->last) : value);
    data->last = value;
}

void dft_data_text(struct dft_page_data *data, const char *bytes, size_t length)
{
    int cut = length > TEXT_MAX;
    char *text = dft_text_escaped(bytes, cut ? TEXT_MAX : length);
    size_t n = text ? strlen(text) : 0;
    unsigned char *at;

    if (!text) {
        data->error = -ENOMEM;
        return;
    }
    put_uint(data, n + (cut ? 3 : 0));
    at = reserve(data, n + 3);
    if (at) {
        memcpy(at, text, n);
        memcpy(at + n, "...", 3);
        data->count += n + (cut ? 3 : 0);
    }
    free(text);
}

int dft_data_status(const struct dft_page_data *data)
{
    return data->error ? -ENOMEM : 0;
}

void dft_data_json(struct dft_json *json, const struct dft_page_data *data, uint64_t at)
{
    dft_json_object(json, "tables");
    for (size_t t = 0; t < data->ntables; t++) {
        size_t end = t + 1 < data->ntables ? data->tables[t + 1].first : data->ncolumns;

        dft_json_object(json, data->tables[t].name);
        dft_json_uint(json, "rows", data->tables[t].rows);
        dft_json_object(json, "columns");
        for (size_t c = data->tables[t].first; c < end; c++) {
            const struct dft_data_column *column = &data->columns[c];
            size_t next = c + 1 < data->ncolumns ? data->columns[c + 1].at : data->count;

            dft_json_object(json, column->name);
            dft_json_text(json, "type", &column->type, 1);
            dft_json_uint(json, "at", at + column->at);
            dft_json_uint(json, "bytes", next - column->at);
            dft_json_end_object(json);
        }
        dft_json_end_object(json);
        dft_json_end_object(json);
    }
    dft_json_end_object(json);
}

void dft_data_fini(struct dft_page_data *data)
{
    free(data->bytes);
    free(data->tables);
    free(data->columns);
    *data = (struct dft_page_data){0};
}
