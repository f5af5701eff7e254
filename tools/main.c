/* dftmerge: one binary, one table of subcommands. Without a command's name the first argument is a path, and the
 * command is summary. */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "comm.h"
#include "command.h"

static const struct dft_command *const commands[] = {
    &dft_command_summary, &dft_command_dump, &dft_command_ps,    &dft_command_check, &dft_command_merge,
    &dft_command_export,  &dft_command_stat, &dft_command_calls, &dft_command_ranks, &dft_command_compare,
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
            "nothing was found, 2 usage.\n\nExample:\n  dftmerge traces/\n");
}

static int run(int argc, char **argv)
{
    /* Windows of events come and go: their memory is kept for the next one, instead of being cleared by the kernel each
     * time. */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    signal(SIGXFSZ, SIG_IGN); /* a file that becomes too large is an error to be told, and what was begun is removed */
    if (argc < 2) {
        help(stderr);
        return DFT_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        help(stdout);
        return fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        puts("dftmerge " DFT_VERSION);
        return fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(argv[1], commands[i]->name))
            return commands[i]->run(argc - 1, argv + 1);
    argv[0] = (char *)(size_t) "summary";
    return dft_command_summary.run(argc, argv);
}

int main(int argc, char **argv)
{
    return dft_comm_main(argc, argv, run);
}
