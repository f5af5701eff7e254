/* SPDX-License-Identifier: MIT */
/* Runs the program PATH.aarch64 under qemu, where PATH is its own path. What is to be preloaded is
 * preloaded into that program alone: this one is linked statically. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char program[PATH_MAX + 16], preload[PATH_MAX + 16];
    const char *library = getenv("LD_PRELOAD");
    char **all = calloc((size_t)argc + 8, sizeof *all);
    ssize_t length = readlink("/proc/self/exe", program, PATH_MAX);
    int n = 0;

    if (!all || length < 0)
        return 127;
    strcpy(program + length, ".aarch64");
    all[n++] = QEMU;
    all[n++] = "-L";
    all[n++] = ROOT;
    if (library) {
        snprintf(preload, sizeof preload, "LD_PRELOAD=%s", library);
        unsetenv("LD_PRELOAD");
        all[n++] = "-E";
        all[n++] = preload;
    }
    all[n++] = "-0";
    all[n++] = argv[0];
    all[n++] = program;
    memcpy(all + n, argv + 1, (size_t)argc * sizeof *all);
    execv(QEMU, all);
    perror(QEMU);
    return 127;
}
