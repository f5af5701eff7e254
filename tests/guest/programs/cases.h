/* SPDX-License-Identifier: MIT */
/* What the small programs share: a table of cases, one of which is run by its name. Each prints
 * what it sees. */
#ifndef CASES_H
#define CASES_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct guest_case {
    const char *name;
    void (*run)(void);
};

/* "what: result (errno)", errno only after failures. */
static inline void say(const char *what, long result)
{
    if (result == -1)
        printf("%s: -1 (%s)\n", what, strerror(errno));
    else
        printf("%s: %ld\n", what, result);
    fflush(stdout);
}

static inline int run_case(const struct guest_case *cases, int argc, char **argv)
{
    for (const struct guest_case *at = cases; at->name; at++) {
        if (argc < 2)
            puts(at->name);
        else if (!strcmp(at->name, argv[1])) {
            at->run();
            return 0;
        }
    }
    return argc < 2 ? 0 : 98;
}

#endif
