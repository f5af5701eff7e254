/* SPDX-License-Identifier: MIT */
/* dftmerge spans: performance data of workflows in a database of SQLite. The command and its verbs. */
#include <stdio.h>
#include <string.h>

#include "base/write_wrapped.h"
#include "command/command.h"
#include "spans/verbs.h"

static const struct dft_spans_verb *const verbs[] = {
    &dft_spans_import, &dft_spans_types, &dft_spans_sequences, &dft_spans_between,
    &dft_spans_states, &dft_spans_rate,  &dft_spans_graph,     &dft_spans_plot,
};
#define VERBS (sizeof verbs / sizeof *verbs)

static int is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help");
}

static int help_about(const struct dft_spans_verb *verb)
{
    char option[] = "--help", *arguments[] = {(char *)(size_t)verb->name, option, NULL};

    return verb->run(2, arguments);
}

/* All verbs, and then the help of each. */
static int help(void)
{
    printf("Usage: dftmerge %s %s\n\n%s.\n\n%s\n\nVerbs:\n", dft_command_spans.name, dft_command_spans.arguments,
           dft_command_spans.brief, dft_command_spans.details);
    for (size_t i = 0; i < VERBS; i++)
        printf("  %-10s %s\n", verbs[i]->name, verbs[i]->brief);
    printf("\nExample:\n  %s\n", dft_command_spans.example);
    for (size_t i = 0; i < VERBS; i++) {
        putchar('\n');
        help_about(verbs[i]);
    }
    return fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

/* For programs: each verb with its options. */
static int list_options(char *option)
{
    int code = DFT_EXIT_OK;

    printf("command\t%s\t%s\n", dft_command_spans.name, dft_command_spans.brief);
    for (size_t i = 0; !code && i < VERBS; i++) {
        char *arguments[] = {(char *)(size_t)verbs[i]->name, option, NULL};

        code = verbs[i]->run(2, arguments);
    }
    return code;
}

static int deny(const char *word)
{
    const char *names[VERBS];

    for (size_t i = 0; i < VERBS; i++)
        names[i] = verbs[i]->name;
    if (word)
        fprintf(stderr, "dftmerge spans: '%s' is no verb.", word);
    else
        fprintf(stderr, "dftmerge spans: which verb? For example: %s\n", dft_command_spans.example);
    dft_say_words(word, "Verbs are", names, VERBS);
    return DFT_EXIT_USAGE;
}

/* Brings the verb to the front: `dftmerge -q spans VERB` has an option before it. */
static void find_verb(int argc, char **argv)
{
    int at = 1;
    char *verb;

    while (at < argc && argv[at][0] == '-' && !is_help(argv[at]))
        at++;
    if (at == argc)
        return;
    verb = argv[at];
    memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof *argv);
    argv[1] = verb;
}

static int run(int argc, char **argv)
{
    const char *word;
    int asks;

    find_verb(argc, argv);
    asks = argc > 2 && is_help(argv[1]); /* help VERB */
    word = argc > 1 ? argv[asks ? 2 : 1] : NULL;
    if (argc == 2 && is_help(word))
        return help();
    if (argc == 2 && !strcmp(word, "--list-options"))
        return list_options(argv[1]);
    for (size_t i = 0; word && i < VERBS; i++) {
        if (strcmp(word, verbs[i]->name))
            continue;
        return asks ? help_about(verbs[i]) : verbs[i]->run(argc - 1, argv + 1);
    }
    return deny(word);
}

const struct dft_command dft_command_spans = {
    .name = "spans",
    .arguments = "VERB FILE.db [OPTION...]",
    .brief = "workflows: tasks and their events in SQL, orderings, times between, states",
    .details = "FILE.db is a database of SQLite with the tables span, event, subspan and facet.\n"
               "`dftmerge spans VERB --help` tells about one verb.",
    .example = "dftmerge spans sequences workflow.db --root parsl.monitoring.task",
    .takes = DFT_TAKES_NONE,
    .run = run,
};
