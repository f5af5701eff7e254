/* SPDX-License-Identifier: MIT */
/* dftmerge: one binary, one table of subcommands. Without a command's name the first argument is a
 * path, and the command is summary. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bus_error.h"
#include "base/guard.h"
#include "base/nearest_word.h"
#include "base/write_wrapped.h"
#include "mpi/comm.h"
#include "command/command.h"
#include "command/options_table.h"

static const struct dft_command *const commands[] = {
    &dft_command_summary,   &dft_command_findings, &dft_command_dump,     &dft_command_ps,       &dft_command_top,
    &dft_command_check,     &dft_command_merge,    &dft_command_export,   &dft_command_stat,     &dft_command_calls,
    &dft_command_ranks,     &dft_command_compare,  &dft_command_counters, &dft_command_timeline, &dft_command_control,
    &dft_command_overlap,   &dft_command_lineage,  &dft_command_plot,     &dft_command_report,   &dft_command_serve,
    &dft_command_layers,    &dft_command_spans,    &dft_command_replay,   &dft_command_sql,      &dft_command_collect,
    &dft_command_anonymize,
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static void help(FILE *out)
{
    fprintf(out,
            "Usage: dftmerge [OPTION...] [COMMAND] [OPTION...] PATH...\n\n"
            "Tells where the I/O time of traced programs goes. PATH is a trace (.dft), a directory (searched), or a\n"
            "pattern in quotes. Without a command: summary.\n\nCommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->brief);
    fprintf(
        out,
        "\n`dftmerge COMMAND --help` tells about one, -V or --version the version. Exit codes: 0 all good, 1 something could not be read or\n"
        "nothing was found, 2 usage. `dftrun` makes traces.\n\n"
        "Examples:\n  dftrun -o traces -- ./app\n  dftmerge traces/\n");
}

/* For programs: all commands of this build, each with its options (options_table.h). */
static int list_options(void)
{
    char option[] = "--list-options";
    int code = DFT_EXIT_OK;

    puts("command\tdftmerge\ttells where the I/O time of traced programs goes\n"
         "option\thelp\th\t\t\tthe commands\noption\tversion\tV\t\t\tthe version");
    for (size_t i = 0; !code && i < COMMAND_COUNT; i++) {
        char *arguments[] = {(char *)(size_t)commands[i]->name, option, NULL};

        if (commands[i]->arguments) /* else the command is lacking in this build */
            code = commands[i]->run(2, arguments);
    }
    return code || fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

static const struct dft_command *find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(name, commands[i]->name))
            return commands[i];
    return NULL;
}

static void list_names(const char *names[COMMAND_COUNT])
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
}

static const char *nearest_of(const char *word)
{
    const char *names[COMMAND_COUNT];

    list_names(names);
    return dft_nearest_word(word, strlen(word), names, COMMAND_COUNT);
}

static void say_nearest(const char *word)
{
    const char *nearest = nearest_of(word);

    if (nearest)
        fprintf(stderr, " Did you mean '%s'?", nearest);
}

/* "help" or "help COMMAND". */
static int help_about(const char *name)
{
    const struct dft_command *command = name ? find(name) : NULL;
    char *arguments[] = {(char *)(uintptr_t)name, (char *)(uintptr_t) "--help", NULL};

    if (command)
        return command->run(2, arguments);
    if (name)
        fprintf(stderr, "dftmerge: there is no command '%s'.", name);
    if (name) {
        say_nearest(name);
        fputc('\n', stderr);
    }
    help(name ? stderr : stdout);
    return name ? DFT_EXIT_USAGE : fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

/* Before paths, or near a command's name, a word that is none, nor an option or a pattern: a
 * command that somebody has misspelt. Files are looked for by rank 0 alone. */
static int is_misspelt(const char *word, int is_last)
{
    int is = word && (!is_last || nearest_of(word)) && !strpbrk(word, "/.*?[-") && access(word, F_OK);

    dft_comm_broadcast(&is, sizeof is);
    return is;
}

static int deny(const char *word)
{
    const char *names[COMMAND_COUNT];

    fprintf(stderr, "dftmerge: '%s' is neither a command nor a file.", word);
    say_nearest(word);
    list_names(names);
    dft_say_words(NULL, "Commands are", names, COMMAND_COUNT);
    fputs("See `dftmerge --help`\n", stderr);
    return DFT_EXIT_USAGE;
}

/* How many arguments the option at argv[0] is. What a command's own option takes is not known here: a word behind one
 * is taken to be its argument, unless the word is a command. */
static int length_of(char **argv)
{
    const char *option = argv[0];
    int is_common = 0;

    if (strchr(option, '=') || !argv[1])
        return 1;
    for (size_t i = 0; i < DFT_COMMON_OPTIONS; i++) {
        const struct dft_common_option *common = &dft_common_options[i];
        const char letter[] = {'-', common->letter, 0};

        if (!strncmp(option, "--", 2) ? strcmp(option + 2, common->name) : !common->letter || strcmp(option, letter))
            continue;
        if (common->argument)
            return 2;
        is_common = 1;
    }
    return is_common || (argv[1][0] == '-' && argv[1][1]) || find(argv[1]) ? 1 : 2; /* "-" is a file's name */
}

static int is_version(const char *word)
{
    return !strcmp(word, "--version") || !strcmp(word, "-V");
}

/* The first argument that is no option, nor the argument of one, or asks for the version; argc: there is none. */
static int find_word(int argc, char **argv)
{
    int at = 1;

    while (at < argc && argv[at][0] == '-' && argv[at][1] && strcmp(argv[at], "--") != 0 && !is_version(argv[at]))
        at += length_of(argv + at);
    return at < argc ? at : argc;
}

/* Does the word ask for no traces, but about dftmerge? Then answers. */
static int ask_itself(const char *word, const char *next, int *code)
{
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        *code = help_about(next);
    } else if (is_version(word)) {
        puts("dftmerge " DFT_VERSION);
        *code = fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
    } else if (!next && !strcmp(word, "--list-options")) {
        *code = list_options();
    } else {
        return 0;
    }
    return 1;
}

static int run(int argc, char **argv)
{
    const struct dft_command *command;
    int at, code;

    if (argc < 2) {
        help(stderr);
        return DFT_EXIT_USAGE;
    }
    at = find_word(argc, argv);
    if (ask_itself(argv[1], argv[2], &code) || (at < argc && ask_itself(argv[at], argv[at + 1], &code)))
        return code;
    command = at < argc ? find(argv[at]) : NULL;
    if (command && at + 1 < argc && is_version(argv[at + 1])) {
        ask_itself(argv[at + 1], NULL, &code);
        return code;
    }
    if (!command && at < argc && (at == 1 || length_of(argv + at - 1) == 1) && is_misspelt(argv[at], at + 1 == argc))
        return deny(argv[at]);
    argv[0] = command ? argv[at] : (char *)(size_t)dft_command_summary.name;
    if (!command)
        return dft_command_summary.run(argc, argv);
    memmove(argv + at, argv + at + 1,
            (size_t)(argc - at) * sizeof *argv); /* options may stand before the command, too */
    return command->run(argc - 1, argv);
}

int main(int argc, char **argv)
{
    dft_bus_catch();
    dft_guard_messages();
    return dft_comm_main(argc, argv, run);
}
