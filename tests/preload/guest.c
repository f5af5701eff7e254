/* SPDX-License-Identifier: MIT */
/* Runs one case of the guest tests by its name. */
#include "guest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void guest_say(const char *what, long result)
{
    int error = errno;
    char line[256];
    int n = result == -1 ? snprintf(line, sizeof line, "%s: -1 (%s)\n", what, strerrorname_np(error))
                         : snprintf(line, sizeof line, "%s: %ld\n", what, result);

    syscall(SYS_write, 2, line, n);
    errno = error;
}

void guest_need(int condition, const char *what)
{
    if (condition)
        return;
    guest_say(what, -1);
    syscall(SYS_exit_group, 99);
}

int main(int argc, char **argv)
{
    const struct guest_case *const all[] = {guest_descriptors, guest_offsets, guest_limits,    guest_errors,
                                            guest_streams,     guest_threads, guest_processes, guest_endings,
                                            guest_sandbox,     guest_races,   guest_texts};

    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        for (const struct guest_case *at = all[i]; at->name; at++)
            if (!strcmp(at->name, argv[1]))
                return at->run();
    fprintf(stderr, "guest: no such case\n");
    return 98;
}
