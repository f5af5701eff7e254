/* SPDX-License-Identifier: MIT */
/* dftmerge dump: events one by one, as text or as one JSON object a line. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mpi/comm.h"
#include "command/command.h"
#include "dump/dump_batches.h"
#include "dump/dump_event.h"
#include "command/event_text.h"

static int emit_json(void *context, const struct dft_event_at *at)
{
    struct dft_dump *dump = context;

    dft_dump_json(dump, at);
    dump->events++;
    return ferror(dump->out) ? -EIO : 0;
}

static int emit_text(void *context, const struct dft_event_at *at)
{
    struct dft_dump *dump = context;

    dft_dump_text(dump, at);
    dump->events++;
    return ferror(dump->out) ? -EIO : 0;
}

/* As dft_dump_columns. One rank alone writes batches. */
static int columns_of(struct dft_dump_columns *columns, const char *names)
{
    if (dft_comm_size() == 1)
        return dft_dump_columns(columns, names);
    fprintf(stderr, "dftmerge dump: --batches is for one rank; run dftmerge\n");
    return -EINVAL;
}

static int run(int argc, char **argv)
{
    struct dft_options options;
    struct dft_source *source;
    struct dft_dump dump = {0};
    struct dft_event_text text = {.filter = &options.filter, .out = &dump.out, .context = &dump};
    const char *batches = NULL;
    const struct dft_option own[] = {
        {"unsorted", 'u', NULL, NULL, &text.unsorted, "In the order of the files, not of time: starts at once"},
        {"batches", 0, "COLUMNS", &batches, NULL, "For programs: batches of these columns, in order of time"},
        {0}};
    struct dft_dump_columns columns;
    uint64_t end;
    int code, rc;

    if (dft_options_parse(&options, &dft_command_dump, own, argc, argv, &code))
        return code;
    options.json |= batches != NULL;
    if (batches && columns_of(&columns, batches)) {
        dft_options_fini(&options);
        return DFT_EXIT_USAGE;
    }
    if (dft_command_begin(&options, &source, &code))
        return code;
    dump.names = dft_source_names_table(source);
    dft_source_lives(source, &dump.origin_ns, &end);
    text.source = source;
    text.event = options.json ? emit_json : emit_text;
    if (batches)
        dump.out = stdout;
    rc = batches ? dft_dump_batches(&dump, source, &options.filter, &columns) : dft_event_text_write(&text, "-");
    if (rc && !ferror(stdout))
        fprintf(stderr, "dftmerge dump: %s\n", strerror(-rc));
    /* on standard error, because standard output is for the events */
    dft_command_aggregates(source, "dump");
    dft_comm_sum(&dump.events, 1);
    if (!rc && !dump.events)
        dft_command_nothing(&options, source);
    return dft_command_end(&options, source, rc ? DFT_EXIT_BAD : DFT_EXIT_OK);
}

const struct dft_command dft_command_dump = {
    .name = "dump",
    .arguments = "PATH...",
    .brief = "Events one by one, in order of time",
    .details = "Text: seconds since the start of the first process, duration, rank or -, pid/tid, call, arguments, "
               "result. JSON: one object a line, times in ns since the Unix epoch.",
    .example = "dftmerge dump --json --name read --file '*.h5' traces/ | head",
    .takes = DFT_TAKES_JSON | DFT_TAKES_FILTER | DFT_TAKES_ALIGN | DFT_TAKES_CLASSES | DFT_TAKES_RANKS,
    .run = run,
};
