/* SPDX-License-Identifier: MIT */
/* Cubes: cells in an array, found by a map from their keys. */
#include "report/cube.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"

static const struct {
    const char *name;
    unsigned bits;
} dimensions[DFT_DIMENSIONS] = {
    [DFT_DIMENSION_TIME] = {"t", 10},   [DFT_DIMENSION_WHO] = {"p", 14},  [DFT_DIMENSION_CALL] = {"c", 10},
    [DFT_DIMENSION_REGION] = {"g", 10}, [DFT_DIMENSION_FILE] = {"f", 13}, [DFT_DIMENSION_STACK] = {"k", 12},
    [DFT_DIMENSION_SIZE] = {"s", 4},    [DFT_DIMENSION_CLASS] = {"i", 3},
};

const char *dft_dimension_name(enum dft_dimension dimension)
{
    return dimensions[dimension].name;
}

uint64_t dft_cell_key(unsigned mask, const uint32_t at[DFT_DIMENSIONS])
{
    uint64_t key = 0;

    for (unsigned d = 0; d < DFT_DIMENSIONS; d++)
        if (mask >> d & 1)
            key = key << dimensions[d].bits | at[d];
    return key;
}

uint32_t dft_cell_value(unsigned mask, uint64_t key, enum dft_dimension dimension)
{
    for (unsigned d = DFT_DIMENSIONS; d-- > dimension + 1u;)
        if (mask >> d & 1)
            key >>= dimensions[d].bits;
    return (uint32_t)(key & ((UINT64_C(1) << dimensions[dimension].bits) - 1));
}

int dft_cube_add(struct dft_cube *cube, const uint32_t at[DFT_DIMENSIONS], const struct dft_cube_cell *more)
{
    uint64_t key = dft_cell_key(cube->dimensions, at), *number;
    struct dft_cube_cell *cell;

    if (cube->is_over)
        return 0;
    number = dft_map_put(&cube->numbers, key + 1);
    if (!number)
        return -ENOMEM;
    if (!*number) {
        if (cube->count == cube->limit) {
            cube->is_over = 1;
            return 0;
        }
        if (DFT_ARRAY_PUSH(cube->cells, cube->capacity, cube->count, (struct dft_cube_cell){.key = key}))
            return -ENOMEM;
        *number = cube->count;
    }
    cell = &cube->cells[*number - 1];
    cell->calls += more->calls;
    cell->errors += more->errors;
    cell->time_ns += more->time_ns;
    cell->bytes += more->bytes;
    cell->busy_ns += more->busy_ns;
    return 0;
}

static int by_key(const void *left, const void *right)
{
    const struct dft_cube_cell *a = left, *b = right;

    DFT_ORDER(a->key, b->key);
    return 0;
}

static void put_measure(const struct dft_cube *cube, struct dft_page_data *data, const char *name, size_t offset)
{
    DFT_DATA_COLUMN(data, name, DFT_DATA_UNSIGNED, cube->count,
                    *(const uint64_t *)(const void *)((const char *)&cube->cells[i] + offset));
}

void dft_cube_put(struct dft_cube *cube, struct dft_page_data *data, const char *table)
{
    char type = DFT_DATA_DELTA;

    dft_map_fini(&cube->numbers);
    if (cube->count)
        qsort(cube->cells, cube->count, sizeof *cube->cells, by_key);
    dft_data_begin_table(data, table, cube->count);
    for (unsigned d = 0; d < DFT_DIMENSIONS; d++) {
        if (!(cube->dimensions >> d & 1))
            continue;
        dft_data_begin_column(data, dimensions[d].name, type);
        for (size_t i = 0; i < cube->count; i++)
            dft_data_put(data, dft_cell_value(cube->dimensions, cube->cells[i].key, (enum dft_dimension)d));
        type = DFT_DATA_UNSIGNED;
    }
    put_measure(cube, data, "n", offsetof(struct dft_cube_cell, calls));
    put_measure(cube, data, "e", offsetof(struct dft_cube_cell, errors));
    put_measure(cube, data, "d", offsetof(struct dft_cube_cell, time_ns));
    put_measure(cube, data, "b", offsetof(struct dft_cube_cell, bytes));
    if (cube->dimensions >> DFT_DIMENSION_TIME & 1)
        put_measure(cube, data, "w", offsetof(struct dft_cube_cell, busy_ns));
}

void dft_dimensions_json(struct dft_json *json, unsigned mask)
{
    dft_json_array(json, "dims");
    for (unsigned d = 0; d < DFT_DIMENSIONS; d++)
        if (mask >> d & 1)
            dft_json_string(json, NULL, dimensions[d].name);
    dft_json_end_array(json);
}

void dft_cube_fini(struct dft_cube *cube)
{
    dft_map_fini(&cube->numbers);
    free(cube->cells);
    cube->cells = NULL;
    cube->count = cube->capacity = 0;
}
