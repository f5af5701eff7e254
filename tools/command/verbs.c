/* SPDX-License-Identifier: MIT */
/* The verbs of a command: which one is meant, and their help. */
#include "command/verbs.h"

#include <stdio.h>
#include <string.h>

#include "base/write_wrapped.h"
#include "command/help.h"

#define VERBS_MAX 16u

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
static int help(const struct dft_command *command)
{
    dft_help_head(command);
    printf("\nVerbs:\n");
    for (size_t i = 0; command->verbs[i]; i++)
        dft_help_row("  ", word_of(command->verbs[i]), command->verbs[i]->brief);
    for (size_t i = 0; command->verbs[i]; i++) {
        putchar('\n');
        help_about(command->verbs[i]);
    }
    return fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

/* For programs: each verb with its options. */
static int list_options(const struct dft_command *command, char *option)
{
    int code = DFT_EXIT_OK;

    printf("command\t%s\t%s\n", command->name, command->brief);
    for (size_t i = 0; !code && command->verbs[i]; i++) {
        char *arguments[] = {(char *)(size_t)command->verbs[i]->name, option, NULL};

        code = command->verbs[i]->run(2, arguments);
    }
    return code;
}

static int deny(const struct dft_command *command, const char *word)
{
    const char *name = command->name, *words[VERBS_MAX];
    size_t count = 0;

    for (; count < VERBS_MAX && command->verbs[count]; count++)
        words[count] = word_of(command->verbs[count]);
    if (word)
        fprintf(stderr, "dftmerge %s: '%s' is no verb.", name, word);
    else
        fprintf(stderr, "dftmerge %s: which verb? For example: %s\n", name, command->example);
    dft_say_words(word, "Verbs are", words, count);
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

int dft_verbs_run(const struct dft_command *command, int argc, char **argv)
{
    const char *word;
    int asks;

    find_verb(argc, argv);
    asks = argc > 2 && is_help(argv[1]); /* help VERB */
    word = argc > 1 ? argv[asks ? 2 : 1] : NULL;
    if (argc == 2 && is_help(word))
        return help(command);
    if (argc == 2 && !strcmp(word, "--list-options"))
        return list_options(command, argv[1]);
    for (size_t i = 0; word && command->verbs[i]; i++) {
        if (strcmp(word, word_of(command->verbs[i])) != 0)
            continue;
        return asks ? help_about(command->verbs[i]) : command->verbs[i]->run(argc - 1, argv + 1);
    }
    return deny(command, word);
}
