/* SPDX-License-Identifier: MIT */
/* The newest of several runs, which commands for people take by themselves; and that they say so. */
#include <stdlib.h>

#include "base/write_wrapped.h"
#include "command/command.h"

#define INDENT 6u

void dft_command_take_newest(struct dft_options *options)
{
    options->source.newest |=
        !options->json && !options->csv && !options->source.runs && !options->all_runs && !options->source.jobs;
}

uint32_t dft_command_count_runs(const struct dft_source *source, const struct dft_source_job **last)
{
    uint32_t count, shown = 0;
    const struct dft_source_job *runs = dft_source_runs(source, &count, NULL);

    *last = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (runs[i].id.length && !runs[i].left_out) {
            shown++;
            *last = &runs[i];
        }
    return shown;
}

static void say_runs(FILE *out, const struct dft_source *source)
{
    uint32_t count, apart, named, shown;
    const struct dft_source_job *runs = dft_source_runs(source, &count, &apart), *last;

    if (!count)
        return;
    named = count - !runs[0].id.length;
    shown = dft_command_count_runs(source, &last);
    if (named > 1 && shown == 1)
        fprintf(out, "%s, %s%u (--run all: all of them, --run NAME: another; dftmerge ps lists them)", last->name,
                last == &runs[count - 1] ? "the newest of " : "one of ", named);
    else if (named > 1)
        fprintf(out, "%u runs, counted together (dftmerge ps lists them; --run NAME: one)", shown);
    if (runs[0].id.length || runs[0].left_out)
        return;
    if (shown)
        fprintf(out, "%swith %u process%s of no run", named > 1 ? ", " : "", runs[0].processes,
                runs[0].processes == 1 ? "" : "es");
    if (apart > 1)
        fprintf(out,
                "%snothing says what is one run%s: %u groups of processes, apart in time, are counted together as "
                "one run",
                shown ? "; " : "", shown ? " of these" : "", apart);
}

void dft_command_print_runs(const struct dft_options *options, const struct dft_source *source)
{
    struct dft_sentence text;
    FILE *out = options->source.jobs ? NULL : dft_sentence_begin(&text); /* jobs were chosen */

    if (!out)
        return;
    say_runs(out, source);
    fflush(out);
    if (text.length)
        dft_sentence_end(&text, out, "run", INDENT);
    else if (!fclose(out))
        free(text.text);
}

void dft_command_print_newest(const struct dft_options *options, const struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_job *runs = dft_source_runs(source, &count, NULL);

    if (options->source.newest && count > 1u + !runs[0].id.length)
        dft_command_print_runs(options, source);
}
