/* SPDX-License-Identifier: MIT */
/* `dftmerge export`: the command and the list of formats. Each format has a file of its own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "command/command.h"
#include "export/export_csv.h"
#include "export/export_dlio.h"
#include "export/export_fio.h"
#include "export/export_folded.h"
#include "export/export_parquet.h"
#include "export/export_perfetto.h"
#include "export/export_perfflow.h"
#include "export/export_pfw.h"
#include "export/export_sqlite.h"
#include "format/ops.h"
#include "base/write_wrapped.h"
#include "base/outfile.h"
#include "intake/source_names.h"
#include "object/source_notes.h"

static const struct dft_exporter *const exporters[] = {
    &dft_export_perfetto,     &dft_export_pfw, &dft_export_csv,  &dft_export_perfflow, &dft_export_folded,
    &dft_export_folded_bytes, &dft_export_fio, &dft_export_dlio, &dft_export_sqlite,   &dft_export_parquet};
#define EXPORTERS (sizeof(exporters) / sizeof(exporters[0]))

static const char *format_word(size_t i)
{
    return i < EXPORTERS ? exporters[i]->name : NULL;
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
    const char *names[EXPORTERS];

    for (size_t i = 0; i < EXPORTERS; i++)
        names[i] = exporters[i]->name;
    fprintf(stderr, name ? "dftmerge: export cannot write '%s'." : "dftmerge: export needs --format FORMAT.", name);
    dft_say_words(name, "Formats are", names, EXPORTERS);
    fputs("For example: dftmerge export --format perfetto -o trace.json traces/\n", stderr);
}

/* Only rank 0 has the file. The other ranks have nowhere to write. */
static int write_whole(struct dft_export *export, const struct dft_exporter *exporter, const char *path)
{
    struct dft_outfile out;
    int error = dft_comm_rank() ? dft_outfile_open(&out, "-") : dft_export_open(export, &out, path);

    error = dft_comm_agree(error);
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

    if (error && error != DFT_EXPORT_SAID)
        dft_outfile_say(path, error);
    return error;
}

static int is_always_directory(const struct dft_exporter *exporter)
{
    return !exporter->write && !exporter->write_text;
}

/* Writes the one file of a format into a directory. */
static int write_inside(struct dft_export *export, const struct dft_exporter *exporter, const char *directory)
{
    char *path = dft_outfile_inside(directory, exporter->file);
    int error = dft_comm_agree(path ? 0 : -ENOMEM);

    export->is_inside = 1;
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

/* Leaves a format that only one rank can write to rank 0. The other ranks get 0. */
static int takes_part(const struct dft_exporter *exporter, int quiet)
{
    char what[64];

    snprintf(what, sizeof what, "export --format %s", exporter->name);
    return !exporter->alone || dft_comm_alone(what, quiet);
}

/* The values of this command's own options. */
struct asked {
    const char *format, *path, *max_bytes;
    /* --to once meant what --format means now, and --until what --to means now */
    const char *to, *until;
};

/* Says on stderr why the request makes no sense, and returns NULL then. */
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
    } else if (is_always_directory(exporter) && !strcmp(asked->path, "-")) {
        fprintf(stderr, "dftmerge: export: --format %s writes a directory: -o DIR/, not to standard output\n",
                exporter->name);
    } else if (until && dft_filter_seconds(&filter->values[DFT_FILTER_TO].ns, until) < 0) {
        fprintf(stderr, "dftmerge: export: --%s takes seconds, not '%s'\n", until == asked->to ? "to" : "until", until);
    } else {
        filter->values[DFT_FILTER_TO].count = until != NULL;
        if (!dft_filter_contradiction(filter))
            return exporter;
        fprintf(stderr, "dftmerge: export: %s\n", dft_filter_contradiction(filter));
    }
    return NULL;
}

/* Understands --max-bytes. Says on stderr what is wrong with it. Returns 0 or -EINVAL. */
static int limit(struct dft_export *export, const struct asked *asked, const struct dft_exporter *exporter)
{
    if (!asked->max_bytes)
        return 0;
    if (!exporter->fits)
        fprintf(stderr, "dftmerge: export: --max-bytes has no effect on %s; --format perfetto takes it\n",
                exporter->name);
    else if (dft_filter_bytes(&export->max_bytes, asked->max_bytes) || !export->max_bytes)
        fprintf(stderr, "dftmerge: export: --max-bytes takes a size above 0, as in 50M or 1GiB, not '%s'\n",
                asked->max_bytes);
    else
        return 0;
    return -EINVAL;
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
    const struct dft_option own[] = {
        {.name = "format",
         .argument = "FORMAT",
         .text = &asked.format,
         .help = "One of perfetto, pfw, perfflow, csv, folded, folded-bytes, fio, dlio, sqlite or parquet",
         .word = format_word},
        {.name = "output",
         .letter = 'o',
         .argument = "OUT",
         .text = &asked.path,
         .help = "The file to write, or DIRECTORY/; - is standard output"},
        {.name = "max-bytes",
         .argument = "SIZE",
         .text = &asked.max_bytes,
         .help = "Perfetto: leave out the shortest slices so that the file has at most SIZE (50M)"},
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
    in_parts = exporter && (is_always_directory(exporter) ||
                            dft_comm_agree(!dft_comm_rank() && dft_outfile_is_directory(asked.path)));
    if (exporter && limit(&export, &asked, exporter))
        exporter = NULL;
    if (!exporter || !takes_part(exporter, options.source.quiet)) {
        dft_options_fini(&options);
        return exporter ? DFT_EXIT_OK : DFT_EXIT_USAGE;
    }
    if (dft_command_begin(&options, &export.source, &code))
        return code;
    if (!exporter->takes_rows && dft_command_aggregates(export.source, "export"))
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
    .brief = "For other tools: perfetto, csv, parquet, sqlite, fio and more",
    .details =
        "perfetto  one JSON object for ui.perfetto.dev and chrome://tracing; microseconds after "
        "otherData.origin_ns; with counter tracks of bytes, calls and samples, also where only aggregates were "
        "kept\n"
        "pfw       JSON lines as DFTracer 1.0.8 writes them, for its analysers; whole microseconds; into a "
        "directory a .pfw.gz a process, which they read in parallel\n"
        "perfflow  what PerfFlowAspect would have written of the functions that it has woven; into a directory a "
        "file a process, named as PERFFLOW_OPTIONS had it\n"
        "csv       one line for every event, nanoseconds; into a directory a .csv a process, each with the head\n"
        "folded    a line for each call stack (DFTRACER_STACK) with its time in ns, for tools that draw flame "
        "graphs; folded-bytes: with the bytes moved\n"
        "fio       a job file for the benchmark fio, with like sizes, files, threads and pauses; it lists what it "
        "lacks\n"
        "dlio      a workload for DLIO benchmark: files, samples, batch, workers, epochs; it lists what it lacks\n"
        "sqlite    a database with the tables and views of `dftmerge sql` (docs/sql.md), which DuckDB attaches, "
        "too\n"
        "parquet   tables (events, rows, files, processes ...) for DuckDB, Polars, pandas, Spark and others: "
        "always into a directory, DIR/TABLE/part-RANK-NUMBER.parquet; `dftmerge sql` has the same tables\n"
        "An OUT "
        "that ends in / or is a directory gets files of the format's own names; it is made when it is not there. "
        "An OUT that ends in .gz is compressed, in members that can be decompressed independently.",
    .example = "dftmerge export --format perfetto -o trace.json traces/",
    .takes = DFT_TAKES_FILTER | DFT_TAKES_ALIGN | DFT_TAKES_RANKS,
    .run = run,
};
