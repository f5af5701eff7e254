/* SPDX-License-Identifier: MIT */
/* Makes the batches of a table: columns that grow. */
#include "tables/maker.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "intake/source_names.h"
#include "symbols/symbols.h"

int dft_maker_init(struct dft_maker *maker, struct dft_source *source, enum dft_table_number table, uint64_t columns)
{
    unsigned ncolumns = dft_tables_at(table)->ncolumns;

    memset(maker, 0, sizeof *maker);
    maker->source = source;
    maker->names = dft_source_names_table(source);
    maker->ncolumns = ncolumns;
    maker->asked = columns & (ncolumns == 64 ? UINT64_MAX : (UINT64_C(1) << ncolumns) - 1);
    for (unsigned i = 0; i < ncolumns; i++) {
        enum dft_cell_type type = dft_tables_at(table)->columns[i].type;
        size_t room = sizeof(int64_t);
        void *cells = dft_maker_wants(maker, i) ? malloc(room) : NULL;

        if (dft_maker_wants(maker, i) && !cells)
            return -ENOMEM;
        if (type == DFT_CELL_TEXT)
            maker->codes[i] = cells;
        else if (type == DFT_CELL_REAL)
            maker->reals[i] = cells;
        else
            maker->integers[i] = cells;
    }
    return 0;
}

void dft_maker_fini(struct dft_maker *maker)
{
    for (unsigned i = 0; i < maker->ncolumns; i++) {
        free(maker->integers[i]);
        free(maker->reals[i]);
        free(maker->codes[i]);
        dft_dictionary_fini(&maker->dictionaries[i]);
    }
    dft_memory_text_fini(&maker->memory);
    memset(maker, 0, sizeof *maker);
}

static int grow(void *list, size_t count, size_t size)
{
    void *old = *(void **)list, *bigger = old ? realloc(old, count * size) : NULL;

    if (old && !bigger)
        return -ENOMEM;
    memcpy(list, &bigger, sizeof bigger);
    return 0;
}

int dft_maker_reserve(struct dft_maker *maker, uint32_t rows)
{
    uint64_t needed = (uint64_t)maker->count + rows, capacity = maker->capacity ? maker->capacity : 64;

    if (needed <= maker->capacity)
        return 0;
    while (capacity < needed)
        capacity *= 2;
    if (capacity > UINT32_MAX)
        return -ENOMEM;
    for (unsigned i = 0; i < maker->ncolumns; i++)
        if (grow(&maker->integers[i], capacity, sizeof(int64_t)) || grow(&maker->reals[i], capacity, sizeof(double)) ||
            grow(&maker->codes[i], capacity, sizeof(uint32_t)))
            return -ENOMEM;
    maker->capacity = (uint32_t)capacity;
    return 0;
}

void dft_maker_clear(struct dft_maker *maker)
{
    maker->count = 0;
    for (unsigned i = 0; i < maker->ncolumns; i++)
        dft_dictionary_clear(&maker->dictionaries[i]);
}

size_t dft_maker_bytes(const struct dft_maker *maker)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < maker->ncolumns; i++) {
        const struct dft_dictionary *dictionary = &maker->dictionaries[i];

        bytes += dictionary->bytes + dictionary->capacity * sizeof(struct dft_text) +
                 (dictionary->by_id.capacity + dictionary->by_text.capacity) * sizeof(struct dft_map_slot);
        bytes += maker->codes[i]             ? maker->capacity * sizeof(uint32_t)
                 : dft_maker_wants(maker, i) ? maker->capacity * sizeof(int64_t)
                                             : 0;
    }
    return bytes;
}

size_t dft_maker_used_bytes(const struct dft_maker *maker)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < maker->ncolumns; i++) {
        const struct dft_dictionary *dictionary = &maker->dictionaries[i];

        bytes += dictionary->bytes + dictionary->count * (sizeof(struct dft_text) + 2 * sizeof(struct dft_map_slot));
        bytes += maker->count * (maker->codes[i] ? sizeof(uint32_t) : dft_maker_wants(maker, i) ? sizeof(int64_t) : 0);
    }
    return bytes;
}

/* --- texts ------------------------------------------------------------------------------------ */

static int put_call(struct dft_maker *maker, unsigned column, uint64_t call, int is_name, uint32_t *code)
{
    struct dft_dictionary *dictionary = &maker->dictionaries[column];
    struct dft_text category, name;
    char text[18];
    int copy;

    *code = call ? dft_dictionary_find(dictionary, call) : DFT_CODE_NULL;
    if (!call || *code != DFT_CODE_NULL)
        return 0;
    dft_names_call(maker->names, call, &category, &name, text);
    copy = name.bytes == text;
    return dft_dictionary_id(dictionary, call, is_name ? name : category, copy, code);
}

int dft_maker_category(struct dft_maker *maker, unsigned column, uint64_t call, uint32_t *code)
{
    return put_call(maker, column, call, 0, code);
}

int dft_maker_call(struct dft_maker *maker, unsigned column, uint64_t call, uint32_t *code)
{
    return put_call(maker, column, call, 1, code);
}

int dft_maker_name(struct dft_maker *maker, unsigned column, uint64_t id, uint32_t *code)
{
    struct dft_dictionary *dictionary = &maker->dictionaries[column];
    struct dft_text text;

    *code = id ? dft_dictionary_find(dictionary, id) : DFT_CODE_NULL;
    if (!id || *code != DFT_CODE_NULL)
        return 0;
    text = dft_names_text(maker->names, id);
    return text.bytes ? dft_dictionary_id(dictionary, id, text, 0, code) : dft_dictionary_want(dictionary, id, code);
}

/* Gives the wanted texts of a column. Names without a text anywhere are shown by their ids. */
static int set_wanted(struct dft_dictionary *dictionary, const struct dft_names *texts)
{
    int rc = 0;

    for (size_t i = 0; i < dictionary->nwanted && !rc; i++) {
        char text[18];

        rc = dft_dictionary_set(dictionary, dictionary->wanted[i].code,
                                dft_names_show(texts, dictionary->wanted[i].id, text));
    }
    dictionary->nwanted = 0;
    return rc;
}

static int find_wanted(struct dft_maker *maker, struct dft_dictionary *dictionary)
{
    struct dft_names *texts = dft_names_create(dft_symbols_show);
    uint64_t *ids = malloc(dictionary->nwanted * sizeof *ids);
    int rc = texts && ids ? 0 : -ENOMEM;

    for (size_t i = 0; i < dictionary->nwanted && ids; i++)
        ids[i] = dictionary->wanted[i].id;
    rc = rc ? rc : dft_source_names_take(maker->source, texts, ids, dictionary->nwanted);
    rc = rc ? rc : set_wanted(dictionary, texts);
    free(ids);
    dft_names_destroy(texts);
    return rc;
}

int dft_maker_finish(struct dft_maker *maker, struct dft_table_batch *batch)
{
    for (unsigned i = 0; i < maker->ncolumns; i++) {
        struct dft_dictionary *dictionary = &maker->dictionaries[i];
        int rc = dictionary->nwanted ? find_wanted(maker, dictionary) : 0;

        if (rc)
            return rc;
        maker->cells[i] = (struct dft_cells){.integers = maker->integers[i],
                                             .reals = maker->reals[i],
                                             .codes = maker->codes[i],
                                             .texts = dictionary->texts,
                                             .ntexts = dictionary->count};
    }
    *batch = (struct dft_table_batch){.count = maker->count, .cells = maker->cells};
    return 0;
}

/* --- row by row ------------------------------------------------------------------------------- */

int dft_maker_row(struct dft_maker *maker)
{
    uint32_t row = maker->count;

    if (dft_maker_reserve(maker, 1))
        return -ENOMEM;
    maker->count++;
    for (unsigned i = 0; i < maker->ncolumns; i++) {
        if (maker->integers[i])
            maker->integers[i][row] = DFT_CELL_NULL;
        if (maker->reals[i])
            maker->reals[i][row] = (double)NAN;
        if (maker->codes[i])
            maker->codes[i][row] = DFT_CODE_NULL;
    }
    return 0;
}

void dft_maker_set(struct dft_maker *maker, unsigned column, int64_t value)
{
    if (maker->integers[column])
        maker->integers[column][maker->count - 1] = value;
}

void dft_maker_set_real(struct dft_maker *maker, unsigned column, double value)
{
    if (maker->reals[column])
        maker->reals[column][maker->count - 1] = value;
}

void dft_maker_set_code(struct dft_maker *maker, unsigned column, uint32_t code)
{
    if (maker->codes[column])
        maker->codes[column][maker->count - 1] = code;
}

int dft_maker_set_text(struct dft_maker *maker, unsigned column, struct dft_text text)
{
    uint32_t code;

    if (!text.bytes || !text.length || !maker->codes[column])
        return 0;
    if (dft_dictionary_text(&maker->dictionaries[column], text, 1, &code))
        return -ENOMEM;
    maker->codes[column][maker->count - 1] = code;
    return 0;
}

int dft_maker_set_word(struct dft_maker *maker, unsigned column, const char *text)
{
    return text ? dft_maker_set_text(maker, column, dft_text_from(text)) : 0;
}

int dft_maker_set_call(struct dft_maker *maker, unsigned category, unsigned name, uint64_t call)
{
    uint32_t code;
    int rc = 0;

    if (dft_maker_wants(maker, category)) {
        rc = dft_maker_category(maker, category, call, &code);
        dft_maker_set_code(maker, category, code);
    }
    if (!rc && dft_maker_wants(maker, name)) {
        rc = dft_maker_call(maker, name, call, &code);
        dft_maker_set_code(maker, name, code);
    }
    return rc;
}
