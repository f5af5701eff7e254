/* SPDX-License-Identifier: MIT */
/* Help: what stands where, and in which columns. */
#include "command/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "command/options_table.h"

#define WORD_COLUMNS   10u
#define OPTION_COLUMNS 24u

static void print_row(const char *before, const char *word, unsigned columns, const char *meaning)
{
    char title[80];

    snprintf(title, sizeof title, "%s%-*s ", before, (int)columns, word);
    dft_text_wrapped(stdout, title, (unsigned)dft_text_columns(before) + columns + 1, meaning);
}

void dft_help_row(const char *before, const char *word, const char *meaning)
{
    print_row(before, word, WORD_COLUMNS, meaning);
}

static void print_option(char letter, const char *name, const char *argument, const char *text)
{
    char left[64];
    int n = letter ? snprintf(left, sizeof left, "-%c, ", letter) : snprintf(left, sizeof left, "    ");

    snprintf(left + n, sizeof left - (size_t)n, "--%s%s%s", name, argument ? " " : "", argument ? argument : "");
    print_row("  ", left, OPTION_COLUMNS, text);
}

/* Where the text of a line begins behind its mark, or its first words. */
static size_t text_of(const char *line, size_t length)
{
    size_t blanks = strspn(line, " "), gap = blanks;

    if (!strncmp(line + blanks, "- ", 2))
        return blanks + 2;
    while (gap + 1 < length && strncmp(line + gap, "  ", 2) != 0)
        gap++;
    return gap + 1 < length ? gap + strspn(line + gap, " ") : blanks;
}

void dft_help_text(const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n"), from = text_of(text, length);
        char *title = strndup(text, from), *rest = strndup(text + from, length - from);

        if (title && rest)
            dft_text_wrapped(stdout, title, (unsigned)from, rest);
        free(title);
        free(rest);
        text += length + (text[length] == '\n');
    }
}

void dft_help_head(const struct dft_command *command)
{
    char usage[256];

    snprintf(usage, sizeof usage, "dftmerge %s [OPTION...] %s", command->name, command->arguments);
    dft_text_wrapped(stdout, "Usage: ", 7, usage);
    printf("\n");
    dft_print_wrapped("%s.", command->brief);
    if (command->example)
        printf("\nExample:\n  %s\n", command->example);
}

/* Is the option described by `dftmerge help filters`? */
static int is_filter(const struct dft_common_option *option)
{
    return option->id >= OPT_FILTER || option->takes == OF_TRACES;
}

/* The names of the filters that the command takes. */
static void print_filters(const struct dft_command *command, const struct dft_option *own)
{
    char names[1024];
    size_t n = 0;

    for (size_t i = 0; i < DFT_COMMON_OPTIONS && n < sizeof names; i++)
        if (is_filter(&dft_common_options[i]) && dft_takes_option(command, own, &dft_common_options[i], 1))
            n += (size_t)snprintf(names + n, sizeof names - n, "%s--%s", n ? " " : "", dft_common_options[i].name);
    if (!n)
        return;
    printf("\n");
    dft_print_wrapped("Filters, and which traces are read (`dftmerge help filters` describes each):");
    dft_text_wrapped(stdout, "  ", 2, names);
}

void dft_help_command(const struct dft_command *command, const struct dft_option *own)
{
    dft_help_head(command);
    printf("\nOptions:\n");
    for (const struct dft_option *option = own; option && option->name; option++)
        if (option->help)
            print_option(option->letter, option->name, option->argument, option->help);
    for (size_t i = 0; i < DFT_COMMON_OPTIONS; i++) {
        const struct dft_common_option *option = &dft_common_options[i];

        if (!is_filter(option) && dft_takes_option(command, own, option, 1))
            print_option(option->letter, option->name, option->argument, option->help);
    }
    print_filters(command, own);
    if (command->details) {
        printf("\n");
        dft_help_text(command->details);
    }
}

static void print_of(int of_traces)
{
    for (size_t i = 0; i < DFT_COMMON_OPTIONS; i++) {
        const struct dft_common_option *option = &dft_common_options[i];

        if (is_filter(option) && (option->takes == OF_TRACES) == of_traces)
            print_option(option->letter, option->name, option->argument, option->help);
    }
}

void dft_help_filters(void)
{
    dft_print_wrapped(
        "Which events count. An event passes all filters that are given; words of a LIST are alternatives. "
        "A command takes those that its --help names.");
    printf("\n");
    print_of(0);
    printf("\n");
    dft_print_wrapped(
        "Which traces are read. PATH is a trace (.dft, or .pfw and .pfw.gz of DFTracer), what a running or "
        "killed process left (.dft.live), a directory (searched), or a pattern in quotes.");
    printf("\n");
    print_of(1);
    printf("\nExample:\n  dftmerge summary --rank 0-7 --dir /scratch --last 10min traces/\n");
}
