/* SPDX-License-Identifier: MIT */
/* `--format csv`: one line for every event (RFC 4180), times in ns. A field is empty where it has
 * no meaning. */
#include "base/memory_text.h"
#include "base/names.h"
#include "base/write_args.h"
#include "command/event_parts.h"
#include "command/event_text.h"
#include "export/export_csv.h"
#include "symbols/stacks.h"
#include "tables/event_cells.h"

struct csv {
    struct dft_export *export;
    struct dft_line line;
    struct dft_memory_text memory; /* JSON in a field */
    int error;
};

/* Room for the numbers and words between two texts. */
#define NUMBERS_BYTES 320u

static char *put_text(struct csv *csv, char *to, struct dft_text text)
{
    csv->line.at = to;
    dft_line_csv(&csv->line, text.bytes, text.length);
    return dft_line_room(&csv->line, NUMBERS_BYTES);
}

static char *put_name(struct csv *csv, char *to, uint64_t id)
{
    char text[18];

    return put_text(csv, to, dft_names_show(csv->export->names, id, text));
}

static char *put_call(struct csv *csv, char *to, uint64_t id)
{
    struct dft_text category, name;
    char text[18];

    dft_names_call(csv->export->names, id, &category, &name, text);
    to = put_text(csv, to, category);
    *to++ = ',';
    return put_text(csv, to, name);
}

/* The arguments, or else the stack, as JSON in one field. */
static char *put_json(struct csv *csv, char *to, const struct dft_event_at *at, uint64_t stack)
{
    FILE *out = dft_memory_text_begin(&csv->memory);
    struct dft_text text = {0};
    struct dft_line line;

    csv->error |= !out;
    if (!out)
        return to;
    dft_line_init(&line, out);
    line.is_unicode = 1;
    if (stack)
        dft_line_stack(&line, csv->export->names, stack);
    else
        dft_line_args(&line, csv->export->names, at->args, at->nargs);
    dft_line_flush(&line);
    csv->error |= dft_memory_text_end(&csv->memory, &text) != 0;
    return put_text(csv, to, text);
}

/* Which columns lines have. */
#define DFT_TABLE(NAME, name, help)
#define DFT_TABLE_COLUMN(NAME, COLUMN, name, type, unit, help)
#define DFT_TABLE_END(NAME)
#define DFT_EVENT_COLUMN(COLUMN, name, line, type, unit, absent, help) HAS_##COLUMN = sizeof line > 1,
enum {
#include "tables/tables.def"
};

/* Each field ends in a comma; that of the last one becomes the end of the line. */
#define FIELD(COLUMN, known, put)                                                                                      \
    if (HAS_##COLUMN) {                                                                                                \
        to = (known) ? put : to;                                                                                       \
        *to++ = ',';                                                                                                   \
    }
#define DFT_EVENT_TIME(COLUMN, value)        FIELD(COLUMN, 1, dft_put_uint(to, value))
#define DFT_EVENT_INT(COLUMN, known, value)  FIELD(COLUMN, known, dft_put_int(to, value))
#define DFT_EVENT_UINT(COLUMN, known, value) FIELD(COLUMN, known, dft_put_uint(to, value))
#define DFT_EVENT_FLAG(COLUMN, value)        FIELD(COLUMN, 1, dft_put_word(to, (value) ? "1" : "0"))
#define DFT_EVENT_WORD(COLUMN, number, word) FIELD(COLUMN, word, stpcpy(to, word))
#define DFT_EVENT_CALL(CATEGORY, NAME, id)   FIELD(CATEGORY, 1, (id) ? put_call(csv, to, id) : dft_put_word(to, ","))
#define DFT_EVENT_PATH(COLUMN, id)           FIELD(COLUMN, id, put_name(csv, to, id))
#define DFT_EVENT_ARGS(COLUMN)               FIELD(COLUMN, at->nargs, put_json(csv, to, at, 0))
#define DFT_EVENT_STACK(COLUMN, id)          FIELD(COLUMN, id, put_json(csv, to, at, id))

static int put_event(void *context, const struct dft_event_at *at)
{
    struct csv *csv = context;
    FILE *out = csv->export->out;
    char *to = csv->line.bytes;

    dft_line_init(&csv->line, out);
#include "tables/event_cells.def"
    to[-1] = '\n';
    csv->line.at = to;
    dft_line_flush(&csv->line);
    return csv->error ? -ENOMEM : ferror(out) ? -EIO : 0;
}

static int put_head(void *context)
{
    static const char head[] =
#define DFT_EVENT_COLUMN(COLUMN, name, line, type, unit, absent, help) "," line
#include "tables/tables.def"
#undef DFT_TABLE
#undef DFT_TABLE_COLUMN
#undef DFT_TABLE_END
        "\n";
    struct csv *csv = context;

    for (const char *at = head + 1; *at; at++)
        if (at[-1] != ',' || *at != ',') /* a column that lines lack */
            fputc(*at, csv->export->out);
    return 0;
}

static int write_csv(struct dft_export *export, const char *path)
{
    struct csv csv = {.export = export};
    struct dft_event_text text = {.source = export->source,
                                  .filter = export->filter,
                                  .out = &export->out,
                                  .context = &csv,
                                  .head = put_head,
                                  .event = put_event};
    int rc = dft_event_text_write(&text, path);

    dft_memory_text_fini(&csv.memory);
    return rc;
}

static int put_head_of(void *context, const struct dft_source_process *process)
{
    (void)process;
    return put_head(context);
}

/* Every file has the head, because readers of many CSV files expect a head in each. */
static int write_files(struct dft_export *export, const char *directory)
{
    struct csv csv = {.export = export};
    struct dft_event_parts parts = {.source = export->source,
                                    .filter = export->filter,
                                    .ending = ".csv",
                                    .out = &export->out,
                                    .context = &csv,
                                    .head = put_head_of,
                                    .event = put_event};
    int rc = dft_event_parts_write(&parts, directory);

    dft_memory_text_fini(&csv.memory);
    return rc;
}

const struct dft_exporter dft_export_csv = {"csv", "one line for every event", NULL, .write_text = write_csv,
                                            .write_files = write_files};
