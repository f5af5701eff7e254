/* SPDX-License-Identifier: MIT */
/* The cells of the table events: a function for each column. */
#include "tables/event_columns.h"

#include <errno.h>

#include "base/facet_words.h"
#include "base/write_args.h"
#include "format/io.h"
#include "format/ops.h"
#include "symbols/stacks.h"
#include "tables/columns.h"

/* Puts the cells of `count` events behind the rows that are there. Returns 0 or -ENOMEM. */
typedef int fill_fn(struct dft_maker *maker, const struct dft_event_at *const *events, uint32_t count);

static int has_result(const struct dft_event_at *at)
{
    return at->event->phase == DFT_PHASE_COMPLETE && at->op != DFT_OP_REGION && at->event->result != DFT_RESULT_UNKNOWN;
}

static int64_t errno_of(const struct dft_event *event)
{
    return event->err == DFT_ERRNO_UNKNOWN ? DFT_CELL_NULL : event->err;
}

/* Regions may say a size, too. */
static int64_t size_of(const struct dft_event_at *at)
{
    return dft_op_is_data(at->op) || at->event->size ? (int64_t)at->event->size : DFT_CELL_NULL;
}

static int64_t bytes_of(const struct dft_event_at *at)
{
    return dft_op_is_data(at->op) && !at->event->err ? (int64_t)dft_event_bytes(at->event, at->op) : DFT_CELL_NULL;
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
INTEGERS(TIME, at->event->start_ns)
INTEGERS(DUR, at->event->phase == DFT_PHASE_COMPLETE ? at->event->dur_ns : 0)
INTEGERS(PROCESS, at->process->number)
INTEGERS(RANK, at->process->process.rank >= 0 ? at->process->process.rank : DFT_CELL_NULL)
INTEGERS(PID, at->process->known ? (int64_t)at->process->process.pid : DFT_CELL_NULL)
INTEGERS(TID, at->tid)
INTEGERS(SEQ, at->sequence)
INTEGERS(TURN, (at->event->bits & DFT_BIT_TURN) != 0)
INTEGERS(FD, at->event->fd >= 0 ? at->event->fd : DFT_CELL_NULL)
INTEGERS(RET, has_result(at) ? at->event->result : DFT_CELL_NULL)
INTEGERS(ERRNO, errno_of(at->event))
INTEGERS(IS_IO, dft_is_io(at->io))
INTEGERS(SIZE, size_of(at))
INTEGERS(BYTES, bytes_of(at))
INTEGERS(CALLS, at->event->calls)
INTEGERS(OFFSET, at->event->offset >= 0 ? at->event->offset : DFT_CELL_NULL)
INTEGERS(FLAGS, at->event->flags)
INTEGERS(MODE, at->event->mode)
#undef INTEGERS

#define TEXTS(COLUMN, put)                                                                                             \
    static int fill_##COLUMN(struct dft_maker *maker, const struct dft_event_at *const *events, uint32_t count)        \
    {                                                                                                                  \
        uint32_t *to = maker->codes[DFT_EVENTS_##COLUMN] + maker->count;                                               \
        int rc = 0;                                                                                                    \
                                                                                                                       \
        for (uint32_t i = 0; i < count && !rc; i++) {                                                                  \
            const struct dft_event_at *at = events[i];                                                                 \
                                                                                                                       \
            rc = put;                                                                                                  \
        }                                                                                                              \
        return rc;                                                                                                     \
    }

/* Codes of words: `number` is below 64 and stands for one of them. */
static int put_word(struct dft_maker *maker, unsigned column, uint8_t number, const char *word, uint32_t *code)
{
    struct dft_dictionary *dictionary = &maker->dictionaries[column];
    struct dft_text text = dft_text_from(word);

    *code = word ? dft_dictionary_find(dictionary, number + 1u) : DFT_CODE_NULL;
    return !word || *code != DFT_CODE_NULL ? 0 : dft_dictionary_id(dictionary, number + 1u, text, 0, code);
}

static int put_class(struct dft_maker *maker, const struct dft_event_at *at, uint32_t *code)
{
    return put_word(maker, DFT_EVENTS_CLASS, at->io, dft_io_word(at->io), code);
}

static int put_access(struct dft_maker *maker, const struct dft_event_at *at, uint32_t *code)
{
    uint8_t access = dft_facets_access(dft_event_facets(at->event, at->op));

    return put_word(maker, DFT_EVENTS_ACCESS, access, dft_access_word(access), code);
}

/* The text that dft_line has written into the maker's memory. */
static int put_written(struct dft_maker *maker, unsigned column, uint64_t id, uint32_t *code)
{
    struct dft_text text;

    if (fflush(maker->memory) || ferror(maker->memory) || maker->length > UINT32_MAX)
        return -ENOMEM;
    text = (struct dft_text){maker->text, (uint32_t)maker->length};
    return id ? dft_dictionary_id(&maker->dictionaries[column], id, text, 1, code)
              : dft_dictionary_text(&maker->dictionaries[column], text, 1, code);
}

/* Begins a text in the maker's memory. */
static int begin_text(struct dft_maker *maker, struct dft_line *line)
{
    if (!maker->memory)
        maker->memory = open_memstream(&maker->text, &maker->length);
    if (!maker->memory)
        return -ENOMEM;
    rewind(maker->memory);
    dft_line_init(line, maker->memory);
    line->is_unicode = 1; /* DuckDB and others take no lone surrogates */
    return 0;
}

static int put_args(struct dft_maker *maker, const struct dft_event_at *at, uint32_t *code)
{
    struct dft_line line;

    *code = DFT_CODE_NULL;
    if (!at->nargs)
        return 0;
    if (begin_text(maker, &line))
        return -ENOMEM;
    dft_line_args(&line, maker->names, at->args, at->nargs);
    dft_line_flush(&line);
    return put_written(maker, DFT_EVENTS_ARGS, 0, code);
}

static int put_stack(struct dft_maker *maker, uint64_t stack, uint32_t *code)
{
    struct dft_line line;

    *code = stack ? dft_dictionary_find(&maker->dictionaries[DFT_EVENTS_STACK], stack) : DFT_CODE_NULL;
    if (!stack || *code != DFT_CODE_NULL)
        return 0;
    if (begin_text(maker, &line))
        return -ENOMEM;
    dft_line_stack(&line, maker->names, stack);
    dft_line_flush(&line);
    return put_written(maker, DFT_EVENTS_STACK, stack, code);
}

TEXTS(CAT, dft_maker_category(maker, DFT_EVENTS_CAT, at->call, &to[i]))
TEXTS(NAME, dft_maker_call(maker, DFT_EVENTS_NAME, at->call, &to[i]))
TEXTS(CLASS, put_class(maker, at, &to[i]))
TEXTS(ACCESS, put_access(maker, at, &to[i]))
TEXTS(REGION_CAT, dft_maker_category(maker, DFT_EVENTS_REGION_CAT, at->event->region, &to[i]))
TEXTS(REGION, dft_maker_call(maker, DFT_EVENTS_REGION, at->event->region, &to[i]))
TEXTS(FILE, dft_maker_name(maker, DFT_EVENTS_FILE, at->event->file, &to[i]))
TEXTS(FILE2, dft_maker_name(maker, DFT_EVENTS_FILE2, at->event->file2, &to[i]))
TEXTS(ARGS, put_args(maker, at, &to[i]))
TEXTS(STACK, put_stack(maker, at->event->stack, &to[i]))
#undef TEXTS

#define FILL(COLUMN) [DFT_EVENTS_##COLUMN] = fill_##COLUMN
static fill_fn *const fills[DFT_EVENTS_COLUMNS] = {
    FILL(TIME),   FILL(DUR),   FILL(PROCESS), FILL(RANK),  FILL(PID),    FILL(TID),   FILL(SEQ),
    FILL(CAT),    FILL(NAME),  FILL(CLASS),   FILL(IS_IO), FILL(ACCESS), FILL(TURN),  FILL(REGION_CAT),
    FILL(REGION), FILL(FILE),  FILL(FILE2),   FILL(FD),    FILL(RET),    FILL(ERRNO), FILL(SIZE),
    FILL(BYTES),  FILL(CALLS), FILL(OFFSET),  FILL(FLAGS), FILL(MODE),   FILL(ARGS),  FILL(STACK),
};
#undef FILL

int dft_maker_events(struct dft_maker *maker, const struct dft_event_at *const *events, uint32_t count)
{
    int rc = dft_maker_reserve(maker, count);

    for (unsigned i = 0; i < DFT_EVENTS_COLUMNS && !rc; i++)
        if (dft_maker_wants(maker, i))
            rc = fills[i](maker, events, count);
    maker->count += rc ? 0 : count;
    return rc;
}
