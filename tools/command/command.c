/* SPDX-License-Identifier: MIT */
/* What commands begin and end with: the source, the notes on the source, the exit code. */
#include "command/command.h"
#include "base/names.h"
#include "base/nearest_word.h"
#include "base/write_text.h"
#include "judge/source.h"
#include "judge/source_ending.h"
#include "intake/source_names.h"
#include "object/source_notes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TELLS_WHY "`dftrun --doctor -- COMMAND` says why nothing was recorded"

static int fail(struct dft_options *options, struct dft_source *source, int *code, int rc)
{
    if (source)
        dft_source_report(source);
    if (rc)
        fprintf(stderr, "dftmerge: %s\n", strerror(-rc));
    dft_source_close(source);
    dft_options_fini(options);
    *code = DFT_EXIT_BAD;
    return 1;
}

int dft_command_clocks(const char *how, struct dft_clocks *clocks, struct dft_source *source)
{
    int rc;

    if (!strcmp(how, "none")) {
        *clocks = (struct dft_clocks){.kind = DFT_CLOCKS_NONE};
        return 0;
    }
    rc = strcmp(how, "clocks") ? dft_clocks_by_event(clocks, source, how) : dft_clocks_by_anchors(clocks, source);
    if (rc == -ENOENT)
        dft_source_note(source, DFT_BAD_OTHER,
                        "--align %s: no event of this name ends in two ranks or more: times are as recorded", how);
    return rc == -ENOENT ? 0 : rc;
}

/* Corrects times before any part of the command asks for them. Always says what was done. */
static int align(struct dft_options *options, struct dft_source *source)
{
    char *text;
    int rc = dft_command_clocks(options->align, &options->clocks, source);

    if (rc)
        return rc;
    text = dft_clocks_text(&options->clocks);
    if (!text)
        return -ENOMEM;
    dft_source_note(source, 0, "%s", text);
    free(text);
    dft_source_align(source, &options->clocks);
    return 0;
}

int dft_command_begin(struct dft_options *options, struct dft_source **source, int *code)
{
    uint32_t files, processes;
    int rc = dft_source_open(source, &options->source);

    if (rc)
        return fail(options, NULL, code, rc);
    dft_source_files(*source, &files);
    dft_source_processes(*source, &processes);
    if (!processes) {
        if (files)
            fprintf(stderr, "dftmerge: nothing in the %u file%s found could be used\n", files, files == 1 ? "" : "s");
        rc = fail(options, *source, code, 0); /* says what is wrong with each path */
        if (!files)
            fputs("dftmerge: no trace found. Traces are files named *.dft, or DFTracer's *.pfw and *.pfw.gz.\n"
                  "dftmerge: `dftrun -o DIR -- COMMAND` writes them, or COMMAND with LD_PRELOAD=libdftrace.so\n"
                  "dftmerge: DFTRACER_ENABLE=1, at the prefix DFTRACER_LOG_FILE (./trace)\n"
                  "dftmerge: " TELLS_WHY "\n",
                  stderr);
        return rc;
    }
    rc = options->align ? align(options, *source) : 0;
    if (!rc)
        rc = dft_filter_begin(&options->filter, *source);
    if (!rc && options->classes_from)
        rc = dft_source_classify(*source, &options->classes);
    if (!rc && dft_filter_has_files(&options->filter) && !options->only_queries)
        rc = dft_source_names(*source, NULL, 0);
    return rc ? fail(options, *source, code, rc) : 0;
}

/* --- nothing passes --------------------------------------------------------------------------- */

#define CHOICES 8u    /* that are named */
#define WORDS   4096u /* that are compared */

/* The hosts, programs or roles that there are. */
static void put_traits(FILE *out, const struct dft_source *source, enum dft_filter_option option)
{
    struct dft_text seen[CHOICES];
    uint32_t count, n = 0;
    const struct dft_source_process *processes = dft_source_processes(source, &count);

    for (uint32_t i = 0; i < count && n < CHOICES; i++) {
        struct dft_text text = dft_filter_trait(&processes[i].process, option);
        uint32_t k = 0;

        while (k < n && (seen[k].length != text.length || memcmp(seen[k].bytes, text.bytes, text.length) != 0))
            k++;
        if (k < n || !text.length)
            continue;
        fputs(n ? ", " : "; there is ", out);
        dft_text_escape(out, text.bytes, text.length);
        seen[n++] = text;
    }
    if (!n)
        fprintf(out, "; no process says its %s", dft_filter_name(option));
    else if (n == CHOICES)
        fputs(" ...", out);
}

/* The names of calls, as those of the table are: "category\0name". */
struct words {
    const char *words[WORDS];
    size_t count;
};

static int add_word(void *context, uint64_t id, struct dft_text text)
{
    struct words *words = context;
    const char *name = text.length ? memchr(text.bytes, 0, text.length) : NULL;

    (void)id;
    if (name && words->count < WORDS)
        words->words[words->count++] = strndup(name + 1, text.length - (size_t)(name + 1 - text.bytes));
    return 0;
}

/* The name that a misspelt pattern was likely meant to be. The filter has fetched the names. */
static void put_nearest(FILE *out, const struct dft_filter_values *values, const struct dft_source *source)
{
    struct words words = {.count = 0};

    if (values->count)
        dft_names_each(dft_source_names_table(source), add_word, &words);
    for (size_t i = 0; i < values->count; i++) {
        const char *pattern = values->patterns[i];
        const char *nearest = dft_nearest_word(pattern, strlen(pattern), words.words, words.count);

        if (nearest && strcmp(nearest, pattern) != 0)
            fprintf(out, "; did you mean %s?", nearest);
    }
    while (words.count)
        free((char *)(uintptr_t)words.words[--words.count]);
}

/* Writes the possible values, such as the ranks of the source after --rank. */
static void put_choice(FILE *out, const struct dft_filter *filter, const struct dft_source *source)
{
    uint64_t start, end;
    uint32_t count;
    int32_t low = INT32_MAX, high = -1;
    const struct dft_source_process *processes = dft_source_processes(source, &count);

    for (uint32_t i = 0; i < count; i++) {
        int32_t rank = processes[i].process.rank;

        low = rank >= 0 && rank < low ? rank : low;
        high = rank > high ? rank : high;
    }
    if (dft_filter_has(filter, DFT_FILTER_RANK) && high < 0)
        fputs("; no process says its rank", out);
    else if (dft_filter_has(filter, DFT_FILTER_RANK))
        fprintf(out, "; there are ranks from %d to %d", low, high);
    dft_source_lives(source, &start, &end);
    if (dft_filter_has_times(filter))
        fprintf(out, "; times are from 0 to %.9f s", (double)(end - start) / 1e9);
    if (dft_filter_has_files(filter))
        fputs("; files are compared by their absolute paths, as `dftmerge summary --by file` has them", out);
    put_nearest(out, &filter->values[DFT_FILTER_NAME], source);
    put_nearest(out, &filter->values[DFT_FILTER_REGION], source);
    for (enum dft_filter_option i = DFT_FILTER_HOST; i <= DFT_FILTER_ROLE; i++)
        if (dft_filter_has(filter, i))
            put_traits(out, source, i);
    for (enum dft_filter_option i = DFT_FILTER_REGION; i <= DFT_FILTER_ERRNO; i++)
        if (dft_filter_has(filter, i) && i != DFT_FILTER_FILE)
            fprintf(out, "; `dftmerge summary --by %s` has what there is", dft_filter_name(i));
}

void dft_command_nothing(const struct dft_options *options, struct dft_source *source)
{
    const struct dft_filter *filter = &options->filter;
    char *given = dft_filter_text(dft_filter_options(filter)), *text = NULL;
    char buffer[DFT_TEXT_ROOM];
    size_t length;
    FILE *out = given && *given ? open_memstream(&text, &length) : NULL;

    if (out) {
        fprintf(out, "no event passes%s", given);
        if (dft_filter_has(filter, DFT_FILTER_SLOWER))
            fprintf(out, " (%s)", dft_text_ns(buffer, (uint64_t)filter->values[DFT_FILTER_SLOWER].ns));
        put_choice(out, filter, source);
        if (!fclose(out))
            dft_source_note(source, options->json || options->csv ? DFT_BAD_NOTHING : DFT_BAD_OTHER, "%s", text);
        free(text);
    } else if (given) {
        dft_source_note(source, DFT_BAD_NOTHING, "there is no event; " TELLS_WHY);
    }
    free(given);
    dft_source_note_outside(source);
}

int dft_command_aggregates(struct dft_source *source, const char *command)
{
    enum dft_kept_events kept = dft_source_kept(source);

    if (kept == DFT_KEPT_SOME)
        dft_source_note(source, 0, "some events were kept only as aggregates: %s cannot show them, summary counts them",
                        command);
    else if (kept == DFT_KEPT_NONE)
        dft_source_note(
            source, 1,
            "there are no single events here for %s: all were kept only as aggregates, which `dftmerge summary` "
            "shows; without DFTRACER_ENABLE_AGGREGATION (dftrun --aggregate) events are kept",
            command);
    return kept == DFT_KEPT_NONE;
}

int dft_command_end(struct dft_options *options, struct dft_source *source, int code)
{
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "dftmerge: standard output: %s\n", strerror(errno));
        code = code ? code : DFT_EXIT_BAD;
    }
    dft_source_report(source);
    if (!code && dft_source_status(source))
        code = DFT_EXIT_BAD;
    dft_source_close(source);
    dft_options_fini(options);
    return code;
}
