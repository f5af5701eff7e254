/* SPDX-License-Identifier: MIT */
/* `--format csv`: one line for every event (RFC 4180), times in ns. A field is empty where it has
 * no meaning. */
#include <errno.h>
#include <stdlib.h>

#include "command/event_parts.h"
#include "command/event_text.h"
#include "export/export_csv.h"
#include "format/ops.h"
#include "base/write_json.h"
#include "base/write_line.h"
#include "base/names.h"

struct csv {
    struct dft_export *export;
    struct dft_line line;
    FILE *memory; /* arguments as JSON; NULL: there were none yet */
    char *text;
    size_t length;
};

static void put_name(struct csv *csv, uint64_t id)
{
    struct dft_text text;
    char capacity[18];

    dft_line_char(&csv->line, ',');
    if (!id)
        return;
    text = dft_names_show(csv->export->names, id, capacity);
    dft_line_csv(&csv->line, text.bytes, text.length);
}

/* Writes the arguments as a JSON object in one field. */
static int put_arguments(struct csv *csv, const struct dft_event_at *at)
{
    struct dft_text category, name;
    struct dft_json json;
    char capacity[18];

    if (!at->nargs)
        return 0;
    if (!csv->memory)
        csv->memory = open_memstream(&csv->text, &csv->length);
    if (!csv->memory)
        return -ENOMEM;
    rewind(csv->memory);
    dft_json_init_unicode(&json, csv->memory);
    dft_json_object(&json, NULL);
    for (uint32_t i = 0; i < at->nargs; i++) {
        const struct dft_arg *arg = &at->args[i];

        dft_names_call(csv->export->names, arg->key, &category, &name, capacity);
        dft_json_key(&json, name.bytes, name.length);
        dft_export_value(&json, arg);
    }
    dft_json_end_object(&json);
    if (fflush(csv->memory) || ferror(csv->memory))
        return -ENOMEM;
    dft_line_csv(&csv->line, csv->text, csv->length);
    return 0;
}

/* Room for the numbers of a line. Texts lie between them. */
#define NUMBERS_BYTES 320u

static char *put_uint(char *to, int known, uint64_t value)
{
    *to++ = ',';
    return known ? dft_put_uint(to, value) : to;
}

static char *put_int(char *to, int known, int64_t value)
{
    *to++ = ',';
    return known ? dft_put_int(to, value) : to;
}

static void put_who(struct dft_line *line, const struct dft_event_at *at)
{
    char *to = dft_put_uint(dft_line_room(line, NUMBERS_BYTES), at->event->start_ns);

    to = put_uint(to, 1, at->event->dur_ns);
    to = put_uint(to, 1, at->process->process.pid);
    to = put_uint(to, 1, at->tid);
    to = put_int(to, at->process->process.rank >= 0, at->process->process.rank);
    line->at = put_uint(to, 1, at->sequence);
}

static void put_outcome(struct dft_line *line, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;
    int moves = dft_op_class(at->op) == DFT_CLASS_READ || dft_op_class(at->op) == DFT_CLASS_WRITE;
    char *to = dft_line_room(line, NUMBERS_BYTES);

    to = put_int(to, event->fd >= 0, event->fd);
    to = put_int(to, dft_export_has_result(at), event->result);
    to = put_uint(to, event->err && event->err != DFT_ERRNO_UNKNOWN, event->err);
    to = put_uint(to, moves, event->size);
    to = put_uint(to, moves, dft_event_bytes(event, at->op));
    to = put_uint(to, 1, event->calls);
    to = put_int(to, event->offset >= 0, event->offset);
    to = put_uint(to, 1, event->flags);
    to = put_uint(to, 1, event->mode);
    line->at = dft_put_word(to, event->bits & DFT_BIT_OPEN ? ",1," : ",0,");
}

static void put_what(struct csv *csv, const struct dft_event_at *at)
{
    struct dft_line *line = &csv->line;
    struct dft_text category, name;
    char capacity[18];

    dft_names_call(csv->export->names, at->call, &category, &name, capacity);
    dft_line_char(line, ',');
    dft_line_csv(line, category.bytes, category.length);
    dft_line_char(line, ',');
    dft_line_csv(line, name.bytes, name.length);
    dft_line_char(line, ',');
    dft_line_char(line, dft_export_phase(at->event, at->op));
    dft_line_char(line, ',');
    if (at->event->region) {
        dft_names_call(csv->export->names, at->event->region, &category, &name, capacity);
        dft_line_csv(line, name.bytes, name.length);
    }
    put_name(csv, at->event->file);
    put_name(csv, at->event->file2);
}

static int put_event(void *context, const struct dft_event_at *at)
{
    struct csv *csv = context;
    FILE *out = csv->export->out;

    dft_line_init(&csv->line, out);
    put_who(&csv->line, at);
    put_what(csv, at);
    put_outcome(&csv->line, at);
    if (put_arguments(csv, at))
        return -ENOMEM;
    dft_line_char(&csv->line, '\n');
    dft_line_flush(&csv->line);
    return ferror(out) ? -EIO : 0;
}

static void forget(struct csv *csv)
{
    if (csv->memory)
        fclose(csv->memory);
    free(csv->text);
}

static int put_head(void *context)
{
    struct csv *csv = context;

    fputs("ts,dur,pid,tid,rank,seq,cat,name,phase,region,file,file2,fd,ret,errno,size,bytes,calls,offset,flags,mode,"
          "open,args\n",
          csv->export->out);
    return 0;
}

static int write_csv(struct dft_export *export, const char *path)
{
    struct csv csv = {.export = export, .memory = NULL};
    struct dft_event_text text = {.source = export->source,
                                  .filter = export->filter,
                                  .out = &export->out,
                                  .context = &csv,
                                  .head = put_head,
                                  .event = put_event};
    int rc = dft_event_text_write(&text, path);

    forget(&csv);
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
    struct csv csv = {.export = export, .memory = NULL};
    struct dft_event_parts parts = {.source = export->source,
                                    .filter = export->filter,
                                    .ending = ".csv",
                                    .out = &export->out,
                                    .context = &csv,
                                    .head = put_head_of,
                                    .event = put_event};
    int rc = dft_event_parts_write(&parts, directory);

    forget(&csv);
    return rc;
}

const struct dft_exporter dft_export_csv = {"csv", "one line for every event", NULL, .write_text = write_csv,
                                            .write_files = write_files};
