/* SPDX-License-Identifier: MIT */
/* `--format csv`: one line for every event (RFC 4180), times in ns. A field is empty where it has
 * no meaning. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "command/event_parts.h"
#include "command/event_text.h"
#include "export/export_csv.h"
#include "format/ops.h"
#include "base/write_json.h"
#include "base/write_text.h"
#include "base/names.h"

static void put_name(const struct dft_export *export, uint64_t id)
{
    struct dft_text text;
    char capacity[18];

    putc(',', export->out);
    if (!id)
        return;
    text = dft_names_show(export->names, id, capacity);
    dft_csv_text(export->out, text.bytes, text.length);
}

/* Writes the arguments as a JSON object in one field. */
static int put_arguments(const struct dft_export *export, const struct dft_event_at *at)
{
    struct dft_text category, name;
    struct dft_json json;
    char capacity[18], *text = NULL;
    size_t length = 0;
    FILE *memory;

    if (!at->nargs)
        return 0;
    memory = open_memstream(&text, &length);
    if (!memory)
        return -ENOMEM;
    dft_json_init(&json, memory, 0);
    dft_json_object(&json, NULL);
    for (uint32_t i = 0; i < at->nargs; i++) {
        const struct dft_arg *arg = &at->args[i];

        dft_names_call(export->names, arg->key, &category, &name, capacity);
        dft_json_key(&json, name.bytes, name.length);
        dft_export_value(&json, arg);
    }
    dft_json_end_object(&json);
    if (fclose(memory) < 0)
        return -ENOMEM;
    dft_csv_text(export->out, text, length);
    free(text);
    return 0;
}

static int put_event(void *context, const struct dft_event_at *at)
{
    struct dft_export *export = context;
    const struct dft_event *event = at->event;
    int moves = dft_op_class(at->op) == DFT_CLASS_READ || dft_op_class(at->op) == DFT_CLASS_WRITE;
    struct dft_text category, name;
    FILE *out = export->out;
    char capacity[18];

    fprintf(out, "%" PRIu64 ",%" PRIu64 ",%u,%u,", event->start_ns, event->dur_ns, at->process->process.pid, at->tid);
    if (at->process->process.rank >= 0)
        fprintf(out, "%d", at->process->process.rank);
    fprintf(out, ",%" PRIu64 ",", at->sequence);
    dft_names_call(export->names, at->call, &category, &name, capacity);
    dft_csv_text(out, category.bytes, category.length);
    putc(',', out);
    dft_csv_text(out, name.bytes, name.length);
    fprintf(out, ",%c,", dft_export_phase(event, at->op));
    if (event->region) {
        dft_names_call(export->names, event->region, &category, &name, capacity);
        dft_csv_text(out, name.bytes, name.length);
    }
    put_name(export, event->file);
    put_name(export, event->file2);
    fprintf(out, event->fd >= 0 ? ",%d" : ",", event->fd);
    fprintf(out, dft_export_has_result(at) ? ",%" PRId64 : ",", event->result);
    fprintf(out, event->err && event->err != DFT_ERRNO_UNKNOWN ? ",%u" : ",", event->err);
    fprintf(out, moves ? ",%" PRIu64 : ",", event->size);
    fprintf(out, moves ? ",%" PRIu64 : ",", dft_event_bytes(event, at->op));
    fprintf(out, ",%u", event->calls);
    fprintf(out, event->offset >= 0 ? ",%" PRId64 : ",", event->offset);
    fprintf(out, ",%u,%u,%d,", event->flags, event->mode, event->bits & DFT_BIT_OPEN ? 1 : 0);
    if (put_arguments(export, at))
        return -ENOMEM;
    putc('\n', out);
    return ferror(out) ? -EIO : 0;
}

static int put_head(void *context)
{
    struct dft_export *export = context;

    fputs("ts,dur,pid,tid,rank,seq,cat,name,phase,region,file,file2,fd,ret,errno,size,bytes,calls,offset,flags,mode,"
          "open,args\n",
          export->out);
    return 0;
}

static int write_csv(struct dft_export *export, const char *path)
{
    struct dft_event_text text = {.source = export->source,
                                  .filter = export->filter,
                                  .out = &export->out,
                                  .context = export,
                                  .head = put_head,
                                  .event = put_event};

    return dft_event_text_write(&text, path);
}

static int put_head_of(void *context, const struct dft_source_process *process)
{
    (void)process;
    return put_head(context);
}

/* Every file has the head, because readers of many CSV files expect a head in each. */
static int write_files(struct dft_export *export, const char *directory)
{
    struct dft_event_parts parts = {.source = export->source,
                                    .filter = export->filter,
                                    .ending = ".csv",
                                    .out = &export->out,
                                    .context = export,
                                    .head = put_head_of,
                                    .event = put_event};

    return dft_event_parts_write(&parts, directory);
}

const struct dft_exporter dft_export_csv = {"csv", "one line for every event", NULL, .write_text = write_csv,
                                            .write_files = write_files};
