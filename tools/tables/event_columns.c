/* SPDX-License-Identifier: MIT */
/* The cells of the table events: a function for each column. */
#include "tables/event_columns.h"

#include <errno.h>

#include "base/write_args.h"
#include "symbols/stacks.h"
#include "tables/event_cells.h"

/* Puts the cells of `count` events behind the rows that are there. Returns 0 or -ENOMEM. */
typedef int fill_fn(struct dft_maker *maker, const struct dft_event_at *const *events, uint32_t count);

/* Codes of words: each number stands for one of them. */
static int put_word(struct dft_maker *maker, unsigned column, uint8_t number, const char *word, uint32_t *code)
{
    struct dft_dictionary *dictionary = &maker->dictionaries[column];
    struct dft_text text = dft_text_from(word);

    *code = word ? dft_dictionary_find(dictionary, number + 1u) : DFT_CODE_NULL;
    return !word || *code != DFT_CODE_NULL ? 0 : dft_dictionary_id(dictionary, number + 1u, text, 0, code);
}

/* Begins a text in the maker's memory. */
static int begin_text(struct dft_maker *maker, struct dft_line *line)
{
    FILE *out = dft_memory_text_begin(&maker->memory);

    if (!out)
        return -ENOMEM;
    dft_line_init(line, out);
    line->is_unicode = 1; /* DuckDB and others take no lone surrogates */
    return 0;
}

static int put_args(struct dft_maker *maker, unsigned column, const struct dft_event_at *at, uint32_t *code)
{
    struct dft_line line;
    struct dft_text text;

    *code = DFT_CODE_NULL;
    if (!at->nargs)
        return 0;
    if (begin_text(maker, &line))
        return -ENOMEM;
    dft_line_args(&line, maker->names, at->args, at->nargs);
    dft_line_flush(&line);
    return dft_memory_text_end(&maker->memory, &text)
               ? -ENOMEM
               : dft_dictionary_text(&maker->dictionaries[column], text, 1, code);
}

static int put_stack(struct dft_maker *maker, unsigned column, uint64_t stack, uint32_t *code)
{
    struct dft_line line;
    struct dft_text text;

    *code = stack ? dft_dictionary_find(&maker->dictionaries[column], stack) : DFT_CODE_NULL;
    if (!stack || *code != DFT_CODE_NULL)
        return 0;
    if (begin_text(maker, &line))
        return -ENOMEM;
    dft_line_stack(&line, maker->names, stack);
    dft_line_flush(&line);
    return dft_memory_text_end(&maker->memory, &text)
               ? -ENOMEM
               : dft_dictionary_id(&maker->dictionaries[column], stack, text, 1, code);
}

#define INTEGERS(COLUMN, value)                                                                                        \
    static int fill_##COLUMN(struct dft_maker *maker, const struct dft_event_at *const *events, uint32_t count)        \
    {                                                                                                                  \
        int64_t *to = maker->integers[DFT_EVENTS_##COLUMN] + maker->count;                                             \
                                                                                                                       \
        for (uint32_t i = 0; i < count; i++) {                                                                         \
            const struct dft_event_at *at = events[i];                                                                 \
                                                                                                                       \
            to[i] = (int64_t)(value);                                                                                  \
        }                                                                                                              \
        return 0;                                                                                                      \
    }
#define TEXTS(COLUMN, put, ...)                                                                                        \
    static int fill_##COLUMN(struct dft_maker *maker, const struct dft_event_at *const *events, uint32_t count)        \
    {                                                                                                                  \
        uint32_t *to = maker->codes[DFT_EVENTS_##COLUMN] + maker->count;                                               \
        int rc = 0;                                                                                                    \
                                                                                                                       \
        for (uint32_t i = 0; i < count && !rc; i++) {                                                                  \
            const struct dft_event_at *at = events[i];                                                                 \
                                                                                                                       \
            rc = put(maker, DFT_EVENTS_##COLUMN, __VA_ARGS__, &to[i]);                                                 \
        }                                                                                                              \
        return rc;                                                                                                     \
    }
#define DFT_EVENT_TIME(COLUMN, value)        INTEGERS(COLUMN, value)
#define DFT_EVENT_INT(COLUMN, known, value)  INTEGERS(COLUMN, (known) ? (int64_t)(value) : DFT_CELL_NULL)
#define DFT_EVENT_UINT(COLUMN, known, value) DFT_EVENT_INT(COLUMN, known, value)
#define DFT_EVENT_FLAG(COLUMN, value)        INTEGERS(COLUMN, value)
#define DFT_EVENT_WORD(COLUMN, number, word) TEXTS(COLUMN, put_word, number, word)
#define DFT_EVENT_CALL(CATEGORY, NAME, id)                                                                             \
    TEXTS(CATEGORY, dft_maker_category, id)                                                                            \
    TEXTS(NAME, dft_maker_call, id)
#define DFT_EVENT_PATH(COLUMN, id)  TEXTS(COLUMN, dft_maker_name, id)
#define DFT_EVENT_ARGS(COLUMN)      TEXTS(COLUMN, put_args, at)
#define DFT_EVENT_STACK(COLUMN, id) TEXTS(COLUMN, put_stack, id)
#include "tables/event_cells.def"

#define FILL(COLUMN) [DFT_EVENTS_##COLUMN] = fill_##COLUMN,
static fill_fn *const fills[DFT_EVENTS_COLUMNS] = {
#define DFT_EVENT_TIME(COLUMN, value)        FILL(COLUMN)
#define DFT_EVENT_INT(COLUMN, known, value)  FILL(COLUMN)
#define DFT_EVENT_UINT(COLUMN, known, value) FILL(COLUMN)
#define DFT_EVENT_FLAG(COLUMN, value)        FILL(COLUMN)
#define DFT_EVENT_WORD(COLUMN, number, word) FILL(COLUMN)
#define DFT_EVENT_CALL(CATEGORY, NAME, id)   FILL(CATEGORY) FILL(NAME)
#define DFT_EVENT_PATH(COLUMN, id)           FILL(COLUMN)
#define DFT_EVENT_ARGS(COLUMN)               FILL(COLUMN)
#define DFT_EVENT_STACK(COLUMN, id)          FILL(COLUMN)
#include "tables/event_cells.def"
};

int dft_maker_events(struct dft_maker *maker, const struct dft_event_at *const *events, uint32_t count)
{
    int rc = dft_maker_reserve(maker, count);

    for (unsigned i = 0; i < DFT_EVENTS_COLUMNS && !rc; i++)
        if (dft_maker_wants(maker, i))
            rc = fills[i](maker, events, count);
    maker->count += rc ? 0 : count;
    return rc;
}
