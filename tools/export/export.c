/* `dftmerge export`: the command and the list of formats; each has a file of its own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "command/command.h"
#include "export/export.h"
#include "format/ops.h"
#include "base/outfile.h"
#include "source/source_names.h"
#include "source/source_notes.h"

static const struct dft_exporter *const exporters[] = {&dft_export_perfetto, &dft_export_pfw,
                                                       &dft_export_csv,      &dft_export_perfflow,
                                                       &dft_export_folded,   &dft_export_folded_bytes};
#define EXPORTERS (sizeof(exporters) / sizeof(exporters[0]))

char dft_export_phase(const struct dft_event *event, uint8_t op)
{
    static const char letters[] = {
        [DFT_PHASE_COMPLETE] = 'X',   [DFT_PHASE_BEGIN] = 'B',       [DFT_PHASE_END] = 'E',
        [DFT_PHASE_INSTANT] = 'i',    [DFT_PHASE_ASYNC_BEGIN] = 'b', [DFT_PHASE_ASYNC_END] = 'e',
        [DFT_PHASE_FLOW_START] = 's', [DFT_PHASE_FLOW_END] = 'f',    [DFT_PHASE_COUNTER] = 'C',
        [DFT_PHASE_METADATA] = 'M',   [DFT_PHASE_FLOW_STEP] = 't'};

    if (op == DFT_OP_INSTANT)
        return 'i';
    if (op == DFT_OP_COUNTER)
        return 'C';
    if (op == DFT_OP_METADATA)
        return 'M';
    if ((op == DFT_OP_EXEC || op == DFT_OP_FORK) && event->phase == DFT_PHASE_BEGIN)
        return 'X'; /* it did not return here (exec, vfork): there will be no end */
    return event->phase < sizeof(letters) ? letters[event->phase] : 'X';
}

const char *dft_export_mark(const struct dft_event *event, uint8_t op)
{
    switch (dft_export_phase(event, op)) {
    case 'i':
        return "instant";
    case 'b':
        return "async_begin";
    case 'e':
        return "async_end";
    case 's':
        return "flow_start";
    case 't':
        return "flow_step";
    case 'f':
        return "flow_end";
    default: /* what a call between two files wrote, which is counted where it read */
        return event->calls ? NULL : "written";
    }
}

const struct dft_arg *dft_export_argument(const struct dft_export *export, const struct dft_event_at *at,
                                          const char *name)
{
    struct dft_text category, text;
    char room[18];

    for (uint32_t i = 0; i < at->nargs; i++) {
        dft_names_call(export->names, at->args[i].key, &category, &text, room);
        if (text.length == strlen(name) && memcmp(text.bytes, name, text.length) == 0)
            return &at->args[i];
    }
    return NULL;
}

int dft_export_is_last(const struct dft_event_at *at, uint32_t i)
{
    for (uint32_t later = i + 1; later < at->nargs; later++)
        if (at->args[later].key == at->args[i].key)
            return 0;
    return 1;
}

void dft_export_value(struct dft_json *json, const struct dft_arg *arg)
{
    if (arg->type == DFT_ARG_INT)
        dft_json_int(json, NULL, arg->i);
    else if (arg->type == DFT_ARG_DOUBLE)
        dft_json_double(json, NULL, arg->d);
    else
        dft_json_text(json, NULL, arg->s.bytes, arg->s.length);
}

static const struct dft_exporter *find(const char *name)
{
    for (size_t i = 0; i < EXPORTERS; i++)
        if (name && strcmp(exporters[i]->name, name) == 0)
            return exporters[i];
    return NULL;
}

static void say_formats(const char *name)
{
    fprintf(stderr,
            name ? "dftmerge: export cannot write '%s'. Formats:" : "dftmerge: export needs --format FORMAT:", name);
    for (size_t i = 0; i < EXPORTERS; i++)
        fprintf(stderr, " %s", exporters[i]->name);
    fputs("\nFor example: dftmerge export --format perfetto -o trace.json traces/\n", stderr);
}

/* Of many ranks the first has the file, and the others nowhere to write. */
static int write_whole(struct dft_export *export, const struct dft_exporter *exporter, const char *path)
{
    struct dft_outfile out;
    int error = dft_comm_agree(dft_outfile_open(&out, dft_comm_rank() ? "-" : path));

    if (!error) {
        export->out = out.stream;
        error = dft_source_names_locate(export->source);
    }
    if (!error)
        error = dft_comm_agree(exporter->write(export));
    return dft_comm_agree(dft_outfile_close(&out, error, 0));
}

static int write_out(struct dft_export *export, const struct dft_exporter *exporter, const char *path)
{
    int error = exporter->write_text ? exporter->write_text(export, path) : write_whole(export, exporter, path);

    if (error)
        dft_outfile_say(path, error);
    return error;
}

/* The one file of a format, in a directory. */
static int write_inside(struct dft_export *export, const struct dft_exporter *exporter, const char *directory)
{
    char *path = dft_outfile_inside(directory, exporter->file);
    int error = dft_comm_agree(path ? 0 : -ENOMEM);

    if (!error)
        error = write_out(export, exporter, path);
    free(path);
    return error;
}

static int write_all(struct dft_export *export, const struct dft_exporter *exporter, const char *path, int in_parts)
{
    int error;

    if (!in_parts)
        return write_out(export, exporter, path);
    error = dft_comm_agree(dft_comm_rank() ? 0 : dft_outfile_make_directory(path));
    if (error && !dft_comm_rank())
        dft_outfile_say(path, error);
    if (error)
        return error;
    return exporter->write_files ? exporter->write_files(export, path) : write_inside(export, exporter, path);
}

/* Formats that only one rank can write; the others get 0. */
static int takes_part(const struct dft_exporter *exporter, int quiet)
{
    char what[64];

    snprintf(what, sizeof what, "export --format %s", exporter->name);
    return !exporter->alone || dft_comm_alone(what, quiet);
}

/* What the options of this command said. */
struct asked {
    const char *format, *path;
    const char *to, *until; /* --to was once what --format is, and --until what --to is */
};

/* What is asked makes no sense: said on stderr, NULL. */
static const struct dft_exporter *understand(struct asked *asked, struct dft_filter *filter)
{
    const struct dft_exporter *exporter;
    const char *until = asked->until;

    if (asked->to && (find(asked->to) || !asked->format))
        asked->format = asked->to;
    else if (asked->to)
        until = asked->to;
    exporter = find(asked->format);
    if (!exporter) {
        say_formats(asked->format);
    } else if (!asked->path) {
        fprintf(stderr, "dftmerge: export needs the file to write: dftmerge export --format %s -o OUT PATH...\n",
                exporter->name);
    } else if (until && dft_filter_seconds(&filter->to_rel_ns, until) < 0) {
        fprintf(stderr, "dftmerge: export: --%s takes seconds, not '%s'\n", until == asked->to ? "to" : "until", until);
    } else {
        filter->has_to = until != NULL;
        return exporter;
    }
    return NULL;
}

static void note_left_out(const struct dft_export *export, const struct dft_exporter *exporter)
{
    const int folded = exporter == &dft_export_folded || exporter == &dft_export_folded_bytes;

    if (export->left_out)
        dft_source_note(export->source, 0,
                        folded
                            ? "%llu events without a call stack were left out of %s (DFTRACER_STACK=16 records stacks)"
                            : "%llu events were left out: %s has no form for them (--format perfetto has)",
                        (unsigned long long)export->left_out, exporter->name);
}

static int run(int argc, char **argv)
{
    struct asked asked = {0};
    const struct dft_option own[] = {{.name = "format",
                                      .argument = "FORMAT",
                                      .text = &asked.format,
                                      .help = "perfetto, pfw, perfflow, csv, folded or folded-bytes"},
                                     {.name = "output",
                                      .letter = 'o',
                                      .argument = "OUT",
                                      .text = &asked.path,
                                      .help = "the file to write, or DIRECTORY/; - is standard output"},
                                     {.name = "to", .argument = "FORMAT", .text = &asked.to},
                                     {.name = "until", .argument = "SECONDS", .text = &asked.until},
                                     {0}};
    const struct dft_exporter *exporter;
    struct dft_export export = {0};
    struct dft_options options;
    int code, in_parts;

    if (dft_options_parse(&options, &dft_command_export, own, argc, argv, &code))
        return code;
    exporter = understand(&asked, &options.filter);
    in_parts = exporter && dft_comm_agree(!dft_comm_rank() && dft_outfile_is_directory(asked.path));
    if (!exporter || !takes_part(exporter, options.source.quiet)) {
        dft_options_fini(&options);
        return exporter ? DFT_EXIT_OK : DFT_EXIT_USAGE;
    }
    if (dft_command_begin(&options, &export.source, &code))
        return code;
    if (dft_command_aggregates(export.source, "export"))
        return dft_command_end(&options, export.source, DFT_EXIT_BAD);
    export.filter = &options.filter;
    export.names = dft_source_names_table(export.source);
    code = write_all(&export, exporter, asked.path, in_parts) ? DFT_EXIT_BAD : DFT_EXIT_OK;
    dft_comm_sum(&export.left_out, 1);
    note_left_out(&export, exporter);
    return dft_command_end(&options, export.source, code);
}

const struct dft_command dft_command_export = {
    .name = "export",
    .arguments = "--format FORMAT -o OUT PATH...",
    .brief = "for other tools: perfetto, pfw, perfflow, csv, flame graphs",
    .details =
        "perfetto  one JSON object for ui.perfetto.dev and chrome://tracing; microseconds after otherData.origin_ns\n"
        "pfw       JSON lines as DFTracer 1.0.8 writes them, for its analysers; whole microseconds; into a directory\n"
        "          a .pfw.gz a process, which they read in parallel\n"
        "perfflow  what PerfFlowAspect would have written of the functions that it has woven; into a directory\n"
        "          a file a process, named as PERFFLOW_OPTIONS had it\n"
        "csv       one line for every event, nanoseconds; into a directory a .csv a process, each with the head\n"
        "folded    a line for each call stack (DFTRACER_STACK) with its time in ns, for tools that draw flame graphs;\n"
        "          folded-bytes: with the bytes moved\n"
        "An OUT that ends in / or is a directory gets files of the format's own names; it is made when it is not there.\n"
        "An OUT that ends in .gz is compressed, in members that can be decompressed independently.",
    .example = "dftmerge export --format perfetto -o trace.json traces/",
    .takes = DFT_TAKES_FILTER | DFT_TAKES_ALIGN | DFT_TAKES_RANKS,
    .run = run,
};
