/* SPDX-License-Identifier: MIT */
/* A libFuzzer target over dftmerge: a trace and its live file, patched, through the commands, in
 * this process. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "patches.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/tmp/dft-fuzz-XXXXXX", trace[64], live[64], merged[64], damaged[96];

static void leave(void)
{
    unlink(trace);
    unlink(live);
    unlink(merged);
    unlink(damaged);
    rmdir(directory);
}

static void begin(void)
{
    if (!mkdtemp(directory) || !freopen("/dev/null", "w", stdout)) {
        perror(directory);
        exit(2);
    }
    snprintf(trace, sizeof trace, "%s/t1-0.dft", directory);
    snprintf(live, sizeof live, "%s/t1-0.dft.live", directory);
    snprintf(damaged, sizeof damaged, "%s.damaged", trace);
    snprintf(merged, sizeof merged, "%s/merged", directory);
    atexit(leave);
}

static void put(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file)) {
        perror(path);
        exit(2);
    }
}

/* One for each input, by its bytes: the fuzzer finds out which. */
static const struct invocation {
    const struct dft_command *command;
    const char *options[2];
} commands[] = {{&dft_command_summary, {NULL}},       {&dft_command_summary, {"--json", "--by=file,name"}},
                {&dft_command_dump, {"--json"}},      {&dft_command_check, {NULL}},
                {&dft_command_check, {"--recover"}},  {&dft_command_ps, {NULL}},
                {&dft_command_merge, {"-o", merged}}, {&dft_command_export, {"--to=perfetto", "-o-"}}};
#define COMMANDS (sizeof commands / sizeof *commands)

static void run(const struct invocation *invocation)
{
    const char *words[8] = {invocation->command->name, "-q", "--threads=1"};
    int n = 3, code;

    for (int i = 0; i < 2 && invocation->options[i]; i++)
        words[n++] = invocation->options[i];
    words[n++] = directory;
    optind = 0;
    code = invocation->command->run(n, (char **)(uintptr_t)words);
    if (code != DFT_EXIT_OK && code != DFT_EXIT_BAD)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct patched patched;
    size_t sum = 0;

    if (!trace[0])
        begin();
    patches_apply(data, size, &patched);
    unlink(damaged); /* of check --recover */
    put(trace, patched.trace, patched.trace_bytes);
    put(live, patched.live, patched.live_bytes);
    for (size_t i = 0; i < size; i++)
        sum += data[i];
    run(&commands[sum % COMMANDS]);
    return 0;
}
