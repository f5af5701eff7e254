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
            "Usage: dftmerge [COMMAND] [OPTION...] PATH...\n\n"
            "Tells where the I/O time of traced programs goes. PATH is a trace (.dft), a directory (searched), or a\n"
            "pattern in quotes. Without a command: summary.\n\nCommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->brief);
    fprintf(out,
            "\n`dftmerge COMMAND --help` tells about one. Exit codes: 0 all good, 1 something could not be read or\n"
            "nothing was found, 2 usage. `dftrun` makes traces.\n\n"
            "Examples:\n  dftrun -o traces -- ./app\n  dftmerge traces/\n");
}

/* For programs: all commands of this build, each with its options (options_table.h). */
static int list_options(void)
{
    char option[] = "--list-options";
    int code = DFT_EXIT_OK;

    puts("command\tdftmerge\ttells where the I/O time of traced programs goes\n"
         "option\thelp\th\t\t\tthe commands\noption\tversion\t\t\t\tthe version");
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
static int help_about(const char *name, char **argv)
{
    const struct dft_command *command = name ? find(name) : NULL;

    if (command) {
        argv[0] = argv[2];
        argv[1] = (char *)(size_t) "--help";
        argv[2] = NULL;
        return command->run(2, argv);
    }
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
static int is_misspelt(int argc, char **argv)
{
    int is = (argc > 2 || nearest_of(argv[1])) && !strpbrk(argv[1], "/.*?[-") && access(argv[1], F_OK);

    dft_comm_broadcast(&is, sizeof is);
    return is;
}

static int run(int argc, char **argv)
{
    const struct dft_command *command;
    const char *names[COMMAND_COUNT];

    if (argc < 2) {
        help(stderr);
        return DFT_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return help_about(argv[2], argv);
    if (!strcmp(argv[1], "--version")) {
        puts("dftmerge " DFT_VERSION);
        return fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
    }
    if (argc == 2 && !strcmp(argv[1], "--list-options"))
        return list_options();
    command = find(argv[1]);
    if (command)
        return command->run(argc - 1, argv + 1);
    if (is_misspelt(argc, argv)) {
        fprintf(stderr, "dftmerge: '%s' is neither a command nor a file.", argv[1]);
        say_nearest(argv[1]);
        list_names(names);
        dft_say_words(NULL, "Commands are", names, COMMAND_COUNT);
        fputs("See `dftmerge --help`\n", stderr);
        return DFT_EXIT_USAGE;
    }
    argv[0] = (char *)(size_t) "summary";
    return dft_command_summary.run(argc, argv);
}

int main(int argc, char **argv)
{
    dft_bus_catch();
    dft_guard_messages();
    return dft_comm_main(argc, argv, run);
}
