/* SPDX-License-Identifier: MIT */
/* dftmerge: one binary, one table of subcommands. Without a command's name the first argument is a
 * path, and the command is summary. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bus_error.h"
#include "base/guard.h"
#include "base/nearest_word.h"
#include "base/settings.h"
#include "base/write_wrapped.h"
#include "mpi/comm.h"
#include "command/command.h"
#include "command/help.h"
#include "command/options_table.h"

/* In the order of --help, group by group; what has no group is not listed there. */
static const struct entry {
    const char *group;
    const struct dft_command *command;
} commands[] = {
#define DFT_COMMAND(group, name, schemas) {group, &dft_command_##name},
#define DFT_COMMAND_VERB(command, name, schemas)
#include "command/commands.def"
#undef DFT_COMMAND
#undef DFT_COMMAND_VERB
};
#define COMMANDS (sizeof commands / sizeof *commands)

/* What "dftmerge stat" and "dftmerge calls" were called before "dftmerge debug". */
static const struct dft_command *const former[] = {
#define DFT_COMMAND(group, name, schemas)
#define DFT_COMMAND_VERB(command, name, schemas) &dft_command_##name,
#include "command/commands.def"
#undef DFT_COMMAND
#undef DFT_COMMAND_VERB
};

static void list_commands(void)
{
    for (size_t i = 0; i < COMMANDS && *commands[i].group; i++) {
        const int is_first = !i || strcmp(commands[i].group, commands[i - 1].group) != 0;
        char title[16];

        snprintf(title, sizeof title, "%-10s ", is_first ? commands[i].group : "");
        dft_help_row(title, commands[i].command->name, commands[i].command->brief);
    }
}

static int help(void)
{
    puts("Usage: dftmerge [OPTION...] [COMMAND] [OPTION...] PATH...\n");
    dft_print_wrapped(
        "Tells where the I/O time of traced programs goes. PATH is a trace (.dft), a directory (searched), "
        "or a pattern in quotes. Without a command: summary. Without anything: summary of ./traces.");
    puts("\nCommands:");
    list_commands();
    puts("");
    dft_print_wrapped("`dftmerge help COMMAND` describes one, `dftmerge help filters` how to choose processes, files "
                      "and calls, `dftmerge debug` what traces are made of, -V the version. `dftrun` makes traces.");
    dft_print_wrapped("Exit codes: 0 fine; 1 worse, nothing found, or something not readable; 2 wrong usage.");
    puts("\nExample: dftrun -o traces -- ./app && dftmerge traces/");
    return fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

/* For programs: all commands of this build, each with its options (options_table.h). */
static int list_options(void)
{
    char option[] = "--list-options";
    int code = DFT_EXIT_OK;

    puts("command\tdftmerge\tTells where the I/O time of traced programs goes\n"
         "option\thelp\th\t\t\tThe commands\noption\tversion\tV\t\t\tThe version");
    for (size_t i = 0; !code && i < COMMANDS; i++) {
        const struct dft_command *command = commands[i].command;
        char *arguments[] = {(char *)(size_t)command->name, option, NULL};

        if (command->arguments) /* else the command is lacking in this build */
            code = command->run(2, arguments);
    }
    return code || fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

static const struct dft_command *find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(name, commands[i].command->name))
            return commands[i].command;
    for (size_t i = 0; i < sizeof former / sizeof *former; i++)
        if (!strcmp(name, strchr(former[i]->name, ' ') + 1))
            return former[i];
    return NULL;
}

static void list_names(const char *names[COMMANDS])
{
    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].command->name;
}

static const char *nearest_of(const char *word)
{
    const char *names[COMMANDS];

    list_names(names);
    return dft_nearest_word(word, strlen(word), names, COMMANDS);
}

static void say_nearest(const char *word)
{
    const char *nearest = nearest_of(word);

    if (nearest)
        fprintf(stderr, " Did you mean '%s'?", nearest);
}

static int refuse_more(const char *word)
{
    fprintf(stderr, "dftmerge: nothing is known to do with '%s' here. See `dftmerge --help`\n", word);
    return DFT_EXIT_USAGE;
}

/* "help", "help COMMAND [VERB]" or "help filters": `words` is what stands behind "help". */
static int help_about(char **words)
{
    const char *name = words[0];
    const struct dft_command *command = name ? find(name) : NULL;
    char option[] = "--help", *arguments[] = {words[0], option, NULL};

    if (name && words[1] && !(command && command->verbs))
        return refuse_more(words[1]);
    if (command && words[1])
        return words[2] ? refuse_more(words[2]) : command->run(3, (char *[]){words[0], words[1], option, NULL});
    if (command)
        return command->run(2, arguments);
    if (!name)
        return help();
    if (!strcmp(name, "filters")) {
        dft_help_filters();
        return fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
    }
    fprintf(stderr, "dftmerge: there is no command '%s'.", name);
    say_nearest(name);
    fputs(" See `dftmerge --help`\n", stderr);
    return DFT_EXIT_USAGE;
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
    const char *names[COMMANDS];

    list_names(names);
    fprintf(stderr, "dftmerge: '%s' is neither a command nor a file.", word);
    say_nearest(word);
    dft_say_words(NULL, "Commands are", names, COMMANDS);
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

/* Does the first of the words ask for no traces, but about dftmerge? Then answers. The words end with NULL. */
static int ask_itself(char **words, int *code)
{
    if (!strcmp(words[0], "--help") || !strcmp(words[0], "-h") || !strcmp(words[0], "help")) {
        *code = help_about(words + 1);
    } else if (is_version(words[0])) {
        if (!words[1])
            puts("dftmerge " DFT_VERSION);
        *code = words[1] ? refuse_more(words[1]) : fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
    } else if (!words[1] && !strcmp(words[0], "--list-options")) {
        *code = list_options();
    } else {
        return 0;
    }
    return 1;
}

static int is_directory(const char *path)
{
    struct stat st;

    return path && !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* The directory of traces where nothing is named: that of dftrun, or that of the variables here. NULL: there is none.
 * The caller frees it. Rank 0 alone looks. */
static char *usual_traces(void)
{
    enum { NONE, USUAL, OF_PREFIX } choice;
    const char *prefix = getenv("DFTRACER_LOG_FILE"), *slash = prefix ? strrchr(prefix, '/') : NULL;
    char *path = slash && slash > prefix ? strndup(prefix, (size_t)(slash - prefix)) : NULL;

    choice = dft_comm_rank() ? NONE : is_directory(DFT_TRACES_USUAL) ? USUAL : is_directory(path) ? OF_PREFIX : NONE;
    dft_comm_broadcast(&choice, sizeof choice);
    if (choice == OF_PREFIX)
        return path;
    free(path);
    return choice == USUAL ? strdup(DFT_TRACES_USUAL) : NULL;
}

/* dftmerge alone: the summary of the traces that are here. */
static int run_alone(void)
{
    char *path = usual_traces();
    int code;

    if (!path) {
        help();
        fprintf(stderr,
                "dftmerge: there is no directory " DFT_TRACES_USUAL " here. Make one with dftrun -- ./app, or name "
                "traces: dftmerge PATH\n");
        return DFT_EXIT_USAGE;
    }
    fprintf(stderr, "dftmerge: summary of %s\n", path);
    code = dft_command_summary.run(2, (char *[]){(char *)(size_t)dft_command_summary.name, path, NULL});
    free(path);
    return code;
}

static int run(int argc, char **argv)
{
    const struct dft_command *command;
    int at, code;

    if (argc < 2)
        return run_alone();
    at = find_word(argc, argv);
    if (ask_itself(argv + 1, &code) || (at < argc && ask_itself(argv + at, &code)))
        return code;
    command = at < argc ? find(argv[at]) : NULL;
    if (command && at + 1 < argc && is_version(argv[at + 1])) {
        ask_itself(argv + at + 1, &code);
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
