/* SPDX-License-Identifier: MIT */
/* Prints its environment as it stands in memory, each variable with its NUL, and makes a call that
 * is traced. */
#include <stdio.h>
#include <sys/stat.h>

extern char **environ;

int main(void)
{
    struct stat st;

    for (char **e = environ; *e; e++)
        printf("%s%c", *e, 0);
    return stat("/etc/passwd", &st);
}
