/* SPDX-License-Identifier: MIT */
/* `dftmerge anonymize -o DIR`: traces that can be shared. Names become keyed hashes, and numbers stay. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "anonymize/folder.h"
#include "anonymize/key.h"
#include "anonymize/table.h"
#include "anonymize/write.h"
#include "base/write_text.h"
#include "command/command.h"
#include "intake/source_interrupt.h"
#include "intake/source_names.h"
#include "object/source_notes.h"

struct asked {
    const char *output, *key, *new_key, *table, *translate;
    int strict;
};

static int wrong(const char *why)
{
    fprintf(stderr, "dftmerge: anonymize: %s\n", why);
    return DFT_EXIT_USAGE;
}

/* Says why the request makes no sense. Returns 0 or an exit code. */
static int check(const struct asked *asked, int npaths)
{
    int alone = (asked->new_key != NULL) + (asked->translate != NULL);

    if (alone && (alone > 1 || asked->output || asked->key || asked->table || npaths))
        return wrong("--new-key FILE and --translate TABLE stand alone, without paths");
    if (!alone && !asked->output)
        return wrong("-o DIR names the folder to write: dftmerge anonymize --key FILE -o DIR PATH...");
    if (!alone && !asked->key)
        return wrong("a key is needed, so that nobody can guess names: `dftmerge anonymize --new-key FILE` makes one, "
                     "and --key FILE takes it");
    return 0;
}

/* --- the traces ------------------------------------------------------------------------------- */

static int begin(struct dft_anonymizer *anonymizer, int strict)
{
    void *memory = mmap(NULL, dft_encoder_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int rc = dft_public_init(&anonymizer->texts.public, strict);

    anonymizer->encoder = memory == MAP_FAILED ? NULL : dft_encoder_init(memory);
    anonymizer->decoder = dft_decoder_create();
    if (!rc && (!anonymizer->encoder || !anonymizer->decoder))
        rc = -ENOMEM;
    return rc ? rc : dft_source_names(anonymizer->source, NULL, 0);
}

static void end(struct dft_anonymizer *anonymizer)
{
    if (anonymizer->encoder)
        munmap(anonymizer->encoder, dft_encoder_bytes());
    dft_decoder_destroy(anonymizer->decoder);
    dft_public_fini(&anonymizer->texts.public);
    dft_hashes_fini(&anonymizer->texts.words);
    dft_map_fini(&anonymizer->ids);
    dft_map_fini(&anonymizer->referred);
    free(anonymizer->text.bytes);
}

/* What the result lacks is no secret of dftmerge. */
static void note_left_out(const struct dft_anonymizer *anonymizer, const struct dft_anonymized *done)
{
    if (done->left_out + anonymizer->unknown)
        dft_source_note(anonymizer->source, 0,
                        "left out: %llu blocks and %llu columns of a newer version, which may hold names",
                        (unsigned long long)done->left_out, (unsigned long long)anonymizer->unknown);
    if (anonymizer->without_texts)
        dft_source_note(anonymizer->source, 0,
                        "texts of arguments of %llu blocks left out: hashes are longer, and had no room",
                        (unsigned long long)anonymizer->without_texts);
}

/* Once all traces are written: the table, then the name of the folder. */
static int finish(struct dft_anonymizer *anonymizer, struct dft_folder *folder, const char *table)
{
    int rc = 0;

    if (anonymizer->texts.words.collided) {
        fputs("dftmerge: anonymize: two names have the same hash; nothing was written: take another key\n", stderr);
        return -EEXIST;
    }
    if (table)
        rc = dft_table_write(&anonymizer->texts.words, table);
    if (!rc) {
        rc = dft_folder_commit(folder);
        if (rc && table)
            unlink(table);
    }
    return rc;
}

/* Says why nothing was written, but for what is said already. */
static int say(const struct asked *asked, int rc)
{
    if (rc == -ECANCELED)
        fputs("dftmerge: anonymize: stopped; nothing was written\n", stderr);
    else if (rc)
        fprintf(stderr, "dftmerge: anonymize -o %s: %s; nothing was written\n", asked->output, strerror(-rc));
    return rc;
}

static int anonymize(struct dft_anonymizer *anonymizer, const struct asked *asked, const struct dft_options *options,
                     struct dft_anonymized *done)
{
    const _Atomic int *stopped = dft_source_interruptible(anonymizer->source);
    struct dft_folder folder = {0};
    int rc = say(asked, begin(anonymizer, asked->strict));

    if (!rc)
        rc = dft_folder_open(&folder, asked->output, options->source.paths, options->source.npaths);
    if (!rc)
        rc = say(asked, dft_anonymize_write(anonymizer, folder.temporary, stopped, done));
    if (!rc)
        rc = finish(anonymizer, &folder, asked->table);
    dft_folder_abort(&folder);
    dft_source_uninterruptible(anonymizer->source);
    return rc;
}

static int run_source(struct dft_options *options, const struct asked *asked)
{
    struct dft_anonymizer anonymizer = {0};
    struct dft_anonymized done = {0};
    int code = DFT_EXIT_BAD, rc;
    char size[DFT_TEXT_ROOM];

    if (dft_key_read(asked->key, &anonymizer.texts.words.key)) {
        dft_options_fini(options);
        return DFT_EXIT_USAGE;
    }
    options->source.copied = 1;
    if (dft_command_begin(options, &anonymizer.source, &code))
        return code;
    rc = anonymize(&anonymizer, asked, options, &done);
    if (!rc)
        note_left_out(&anonymizer, &done);
    if (!rc && !options->source.quiet)
        fprintf(stderr, "dftmerge: %s: %u trace%s, %llu block%s, %s\n", asked->output, done.files,
                done.files == 1 ? "" : "s", (unsigned long long)done.blocks, done.blocks == 1 ? "" : "s",
                dft_text_bytes(size, done.bytes));
    end(&anonymizer);
    code = rc == -EINVAL ? DFT_EXIT_USAGE : rc ? DFT_EXIT_BAD : DFT_EXIT_OK;
    return dft_command_end(options, anonymizer.source, code);
}

/* --- the command ------------------------------------------------------------------------------ */

static int run(int argc, char **argv)
{
    struct asked asked = {0};
    const struct dft_option own[] = {
        {.name = "output",
         .letter = 'o',
         .argument = "DIR",
         .text = &asked.output,
         .help = "The folder to write, a new or an empty one"},
        {.name = "key",
         .argument = "FILE",
         .text = &asked.key,
         .help = "The key of the hashes: a file of 16 bytes or more"},
        {.name = "new-key", .argument = "FILE", .text = &asked.new_key, .alone = 1, .help = "Make a key, and no more"},
        {.name = "table",
         .argument = "FILE",
         .text = &asked.table,
         .help = "Write what each hash stands for. Keep it to yourself"},
        {.name = "translate",
         .argument = "TABLE",
         .text = &asked.translate,
         .alone = 1,
         .help = "Put the names back into a text from standard input"},
        {.name = "strict",
         .flag = &asked.strict,
         .help = "Keep no path that is the same on every machine, and no extension"},
        {0}};
    struct dft_options options;
    int code;

    if (dft_options_parse(&options, &dft_command_anonymize, own, argc, argv, &code))
        return code;
    code = check(&asked, options.source.npaths);
    if (!code && asked.translate)
        code = dft_table_translate(asked.translate) || fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
    else if (!code && !dft_key_can_hash())
        code = DFT_EXIT_USAGE;
    else if (!code && asked.new_key)
        code = dft_key_make(asked.new_key) ? DFT_EXIT_BAD : DFT_EXIT_OK;
    else if (!code)
        return run_source(&options, &asked);
    dft_options_fini(&options);
    return code;
}

const struct dft_command dft_command_anonymize = {
    .name = "anonymize",
    .arguments = "--key FILE -o DIR PATH...",
    .brief = "Traces without names, to give away",
    .details =
        "Names of files, hosts, programs, jobs, regions, and texts of arguments become keyed hashes. Numbers stay: "
        "times, sizes, offsets, counts, ranks, pids. A name has the same hash everywhere, so every command answers "
        "as before, but for the names. Folders stay folders, numbered files stay numbered, and usual extensions, "
        "places that are the same on every machine, and words such as \"epoch\" stay. docs/privacy.md says of each "
        "part what becomes of it.\n"
        "\n"
        "DIR appears whole or not at all. What a killed process left, and traces of DFTracer, become traces in it.",
    .example = "dftmerge anonymize --key my.key --table my.table -o public/ traces/",
    .takes = 0,
    .run = run,
};
