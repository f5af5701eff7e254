/* SPDX-License-Identifier: MIT */
/* The verbs of a command: which one is meant, and their help. */
#include "command/verbs.h"

#include <stdio.h>
#include <string.h>

#include "base/write_wrapped.h"
#include "command/help.h"

static int is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help");
}

static const char *word_of(const struct dft_command *verb)
{
    return strchr(verb->name, ' ') + 1;
}

static int help_about(const struct dft_command *verb)
{
    char option[] = "--help", *arguments[] = {(char *)(size_t)verb->name, option, NULL};

    return verb->run(2, arguments);
}

/* All verbs, and then the help of each. */
static int help(const struct dft_verbs *verbs)
{
    dft_help_head(verbs->command);
    printf("\nVerbs:\n");
    for (size_t i = 0; i < verbs->count; i++)
        dft_help_row("  ", word_of(verbs->all[i]), verbs->all[i]->brief);
    for (size_t i = 0; i < verbs->count; i++) {
        putchar('\n');
        help_about(verbs->all[i]);
    }
    return fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

/* For programs: each verb with its options. */
static int list_options(const struct dft_verbs *verbs, char *option)
{
    int code = DFT_EXIT_OK;

    printf("command\t%s\t%s\n", verbs->command->name, verbs->command->brief);
    for (size_t i = 0; !code && i < verbs->count; i++) {
        char *arguments[] = {(char *)(size_t)verbs->all[i]->name, option, NULL};

        code = verbs->all[i]->run(2, arguments);
    }
    return code;
}

static int deny(const struct dft_verbs *verbs, const char *word)
{
    const char *name = verbs->command->name, *words[DFT_VERBS_MAX];

    for (size_t i = 0; i < verbs->count; i++)
        words[i] = word_of(verbs->all[i]);
    if (word)
        fprintf(stderr, "dftmerge %s: '%s' is no verb.", name, word);
    else
        fprintf(stderr, "dftmerge %s: which verb? For example: %s\n", name, verbs->command->example);
    dft_say_words(word, "Verbs are", words, verbs->count);
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

int dft_verbs_run(const struct dft_verbs *verbs, int argc, char **argv)
{
    const char *word;
    int asks;

    find_verb(argc, argv);
    asks = argc > 2 && is_help(argv[1]); /* help VERB */
    word = argc > 1 ? argv[asks ? 2 : 1] : NULL;
    if (argc == 2 && is_help(word))
        return help(verbs);
    if (argc == 2 && !strcmp(word, "--list-options"))
        return list_options(verbs, argv[1]);
    for (size_t i = 0; word && i < verbs->count; i++) {
        if (strcmp(word, word_of(verbs->all[i])) != 0)
            continue;
        return asks ? help_about(verbs->all[i]) : verbs->all[i]->run(argc - 1, argv + 1);
    }
    return deny(verbs, word);
}
