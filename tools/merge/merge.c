/* SPDX-License-Identifier: MIT */
/* `dftmerge merge -o OUT`: writes one file from many, which reads back as they did. In a directory,
 * merge writes one file for each process, rank, host, or group of events.
 *
 * Blocks are copied as they are, in order of file and offset. Blocks whose range was seen elsewhere
 * are left out, but their texts of names are kept. Live files give the blocks that the source made
 * of them, and an END that says how the process ended. The END is needed because the live file
 * itself does not come along. The inputs are opened one after another. OUT may be one of the
 * inputs, because OUT is replaced only at the end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "command/command.h"
#include "merge/merge_encoder.h"
#include "merge/merge_groups.h"
#include "merge/merge_split.h"
#include "live/recover.h"
#include "intake/source_exchange.h"
#include "object/source_notes.h"
#include "intake/source_read.h"

/* --- one archive ------------------------------------------------------------------------------ */

static uint64_t count_repeated(const struct dft_source *source)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(source, &count);
    uint64_t repeated = 0;

    for (size_t i = 0; i < count; i++)
        repeated += blocks[i].state == DFT_BLOCK_IDENTICAL || blocks[i].state == DFT_BLOCK_COVERED;
    return repeated;
}

static int copy_blocks(struct dft_archive *archive)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(archive->source, &count);
    struct dft_reader *reader = dft_reader_create(archive->source);
    struct dft_encoder *encoder = dft_merge_encoder();
    int error = reader && encoder ? 0 : -ENOMEM;

    for (size_t i = 0; i < count && !error; i++) {
        dft_source_progress(archive->source, "blocks copied", i + 1, count);
        error = dft_archive_wants(&blocks[i]) ? dft_archive_copy(archive, reader, &blocks[i])
                                              : dft_merge_covered_names(archive, reader, encoder, &blocks[i]);
    }
    dft_reader_destroy(reader);
    dft_merge_encoder_free(encoder);
    return error;
}

/* Writes what only live files tell, because live files do not come along. */
static int put_records(struct dft_archive *archive)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(archive->source, &count);
    int error = 0;

    for (uint32_t i = 0; i < count && !error; i++)
        error = dft_recover_records(archive->source, &processes[i], dft_archive_put, archive);
    return error;
}

static int write_file(struct dft_archive *archive, const char *path)
{
    int error = dft_archive_open(archive, archive->source, path, 1);

    if (!error)
        error = copy_blocks(archive);
    if (!error)
        error = put_records(archive);
    return error ? error : dft_archive_commit(archive, 1);
}

/* Rank 0 writes. The other ranks give rank 0 the blocks that they alone can read. */
static int write_one(struct dft_source *source, const char *path, int quiet)
{
    struct dft_archive archive = {.source = source};
    uint32_t nfiles;
    int error, noted;

    if (dft_exchange_serve(source, &error)) {
        error = write_file(&archive, path);
        dft_exchange_served(source);
    }
    error = dft_comm_agree(error);
    if (error)
        dft_outfile_say(path, error);
    dft_source_files(source, &nfiles);
    if (!error && !quiet)
        fprintf(stderr, "dftmerge: %s: %llu blocks of %u files, %llu bytes; %llu repeated blocks left out\n", path,
                (unsigned long long)archive.blocks, nfiles, (unsigned long long)archive.bytes,
                (unsigned long long)count_repeated(source));
    dft_archive_fini(&archive);
    noted = dft_exchange_notes(source);
    return error ? error : noted;
}

/* --- the command ------------------------------------------------------------------------------ */

static const char *split_word(size_t i)
{
    return i == 0 ? "rank" : i == 1 ? "host" : NULL;
}

/* Says on stderr why the request makes no sense. */
static int is_wrong(const char *path, const char *split, const char *rules)
{
    if (!path)
        fputs("dftmerge: merge needs the file to write: dftmerge merge -o all.dft PATH...\n", stderr);
    else if (split && strcmp(split, "rank") && strcmp(split, "host"))
        fprintf(stderr, "dftmerge: merge --split-by %s: by rank or by host\n", split);
    else if (split && rules)
        fputs("dftmerge: merge: --split-by and --group one after the other: an archive can be split again\n", stderr);
    else if ((split || rules) && !strcmp(path, "-"))
        fputs("dftmerge: merge -o -: what is split goes into a directory\n", stderr);
    else
        return 0;
    return 1;
}

static enum dft_split_by by(const char *split)
{
    return !split ? DFT_SPLIT_BY_PROCESS : strcmp(split, "host") ? DFT_SPLIT_BY_RANK : DFT_SPLIT_BY_HOST;
}

static int run(int argc, char **argv)
{
    const char *path = NULL, *split = NULL, *rules = NULL;
    const struct dft_option own[] = {
        {.name = "output", .letter = 'o', .argument = "OUT", .text = &path, .help = "The file, or directory, to write"},
        {.name = "split-by",
         .argument = "KEY",
         .text = &split,
         .help = "One archive a rank, or a host, into OUT",
         .word = split_word},
        {.name = "group", .argument = "RULES", .text = &rules, .help = "One archive a group of events, into OUT"},
        {0}};
    struct dft_options options;
    struct dft_source *source;
    int code, error, in_parts;

    if (dft_options_parse(&options, &dft_command_merge, own, argc, argv, &code))
        return code;
    if (is_wrong(path, split, rules)) {
        dft_options_fini(&options);
        return DFT_EXIT_USAGE;
    }
    options.source.copied = 1;
    in_parts = dft_comm_agree(!dft_comm_rank() && dft_outfile_is_directory(path));
    if (dft_command_begin(&options, &source, &code))
        return code;
    if (split || (in_parts && !rules))
        error = dft_merge_split(source, path, by(split), options.source.quiet);
    else if (rules)
        error = dft_merge_groups(source, path, rules, options.source.quiet);
    else
        error = write_one(source, path, options.source.quiet);
    code = error == -EINVAL ? DFT_EXIT_USAGE : error ? DFT_EXIT_BAD : DFT_EXIT_OK;
    return dft_command_end(&options, source, code);
}

const struct dft_command dft_command_merge = {
    .name = "merge",
    .arguments = "-o OUT [--split-by rank|host | --group RULES] PATH...",
    .brief = "One file from many; reads back identically",
    .details =
        "Blocks are copied as they are, and what was seen twice is left out. OUT is written under a temporary name "
        "and renamed when it is whole, so it may be one of the inputs. An OUT that ends in / or is a directory "
        "gets a file for each process, and is made when it is not there; with dftmerge-mpi all ranks write.\n"
        "\n"
        "--split-by rank writes OUT/rank-00017.dft and so on, and OUT/no-rank.dft for processes without one; host "
        "alike.\n"
        "\n"
        "--group writes OUT/NAME.dft for each group of events, and OUT/other.dft for events of no group. RULES is "
        "a file of lines, or the lines themselves with ';' between them. The first line that fits an event "
        "decides:\n"
        "  NAME: [cat=GLOBS] [name=GLOBS] [class=read,write,meta,none] [path=GLOBS] [region=GLOBS]\n"
        "GLOBS are shell "
        "patterns with commas between them, \"in quotes\" when there are blanks in one. A path is that of the file "
        "(* also fits /). A region fits itself, and what was done directly inside it. Every group is a trace by "
        "itself, and all groups together are the whole trace. Calls that are known only as aggregates cannot be "
        "grouped: they go to OUT/aggregates.dft.",
    .example = "dftmerge merge -o groups --group 'scratch: path=/scratch/*; meta: class=meta' traces/",
    .takes = DFT_TAKES_RANKS,
    .run = run,
};
