/* `dftmerge merge -o OUT`: one file from many, which reads back as they did.
 *
 * Blocks are copied as they are, in order of file and offset; those whose range was seen elsewhere are left out.
 * Live files give the blocks that the source made of them, and an END that says how the process ended, because the
 * live file itself does not come along. The inputs are opened one after another. OUT may be one of them: it is
 * replaced at the end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "outfile.h"
#include "recover.h"

struct merge {
    struct dft_source *source;
    struct dft_outfile out;
    uint64_t bytes, blocks, repeated, unknown;
};

static int put(struct merge *merge, const void *bytes, size_t length)
{
    errno = 0;
    if (fwrite(bytes, 1, length, merge->out.stream) != length)
        return errno ? -errno : -EIO;
    merge->bytes += length;
    return 0;
}

/* A block begins at a multiple of 8: what was found at another place in a damaged file gets its own again. */
static int put_block(void *context, const void *block, size_t length)
{
    static const char zeros[8];
    struct merge *merge = context;
    int error = put(merge, block, length);

    merge->blocks++;
    return error ? error : put(merge, zeros, -length & 7);
}

/* Every type but INDEX, whose offsets would be wrong, and ORIGIN, which is of one file: a block of a newer version is kept. */
static int wanted(struct merge *merge, const struct dft_block *block)
{
    if (block->state == DFT_BLOCK_IDENTICAL || block->state == DFT_BLOCK_COVERED) {
        merge->repeated++;
        return 0;
    }
    merge->unknown += block->state == DFT_BLOCK_UNKNOWN;
    return block->type != DFT_BLOCK_INDEX && block->type != DFT_BLOCK_ORIGIN;
}

static int copy_blocks(struct merge *merge)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(merge->source, &count);
    struct dft_reader *reader = dft_reader_create(merge->source);
    int error = reader ? 0 : -ENOMEM;

    for (size_t i = 0; i < count && !error; i++) {
        struct dft_block_header header;
        const void *payload;

        dft_source_progress(merge->source, "blocks copied", i + 1, count);
        if (!wanted(merge, &blocks[i]))
            continue;
        error = dft_reader_block(reader, &blocks[i], &header, &payload);
        if (!error)
            error = put_block(merge, (const char *)payload - sizeof(header), sizeof(header) + header.stored);
        else if (error != -ENOMEM)
            error = 0; /* noted; the rest is used */
    }
    if (reader)
        dft_reader_destroy(reader);
    return error;
}

/* What only live files tell of: they do not come along. */
static int put_records(struct merge *merge)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(merge->source, &count);
    int error = 0;

    for (uint32_t i = 0; i < count && !error; i++)
        error = dft_recover_records(merge->source, &processes[i], put_block, merge);
    return error;
}

static int write_out(struct merge *merge, const char *path)
{
    int error = dft_outfile_open(&merge->out, path);

    if (!error)
        error = copy_blocks(merge);
    if (!error)
        error = put_records(merge);
    if (!error)
        error = dft_outfile_commit(&merge->out, 1);
    dft_outfile_abort(&merge->out);
    if (error)
        fprintf(stderr, "dftmerge: %s: %s; nothing was written\n", path, strerror(-error));
    return error;
}

static int run(int argc, char **argv)
{
    const char *path = NULL;
    const struct dft_option own[] = {
        {.name = "output", .letter = 'o', .argument = "OUT", .text = &path, .help = "the file to write"}, {0}};
    struct dft_options options;
    struct merge merge = {0};
    uint32_t nfiles;
    int code;

    if (dft_options_parse(&options, &dft_command_merge, own, argc, argv, &code))
        return code;
    if (!path) {
        fputs("dftmerge: merge needs the file to write: dftmerge merge -o all.dft PATH...\n", stderr);
        dft_options_fini(&options);
        return DFT_EXIT_USAGE;
    }
    if (dft_command_begin(&options, &merge.source, &code))
        return code;
    code = write_out(&merge, path) ? DFT_EXIT_BAD : DFT_EXIT_OK;
    dft_source_files(merge.source, &nfiles);
    if (code == DFT_EXIT_OK && !options.source.quiet)
        fprintf(stderr, "dftmerge: %s: %llu blocks of %u files, %llu bytes; %llu repeated blocks left out\n", path,
                (unsigned long long)merge.blocks, nfiles, (unsigned long long)merge.bytes,
                (unsigned long long)merge.repeated);
    return dft_command_end(&options, merge.source, code);
}

const struct dft_command dft_command_merge = {
    .name = "merge",
    .arguments = "-o OUT PATH...",
    .brief = "one file from many; reads back identically",
    .details = "Blocks are copied as they are; what was seen twice is left out. OUT is written under a temporary name "
               "and renamed\n"
               "when it is whole, so it may be one of the inputs.",
    .example = "dftmerge merge -o all.dft traces/",
    .takes = 0,
    .run = run,
};
