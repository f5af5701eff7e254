/* SPDX-License-Identifier: MIT */
/* Decides whose settings count. */
#include "os/secure.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "os/sys.h"

#define PREFIX "DFTRACER_"

int dft_is_secure(void)
{
    return getauxval(AT_SECURE) != 0;
}

/* Nobody but root can then put anything else in its place. */
static int is_of_root(const char *path, mode_t type)
{
    struct stat st;

    return DFT_SYS(newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW, 0, 0) == 0 && (st.st_mode & S_IFMT) == type &&
           !st.st_uid && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static void take_out(char **environment)
{
    char **to = environment;

    for (char **from = environment; *from; from++)
        if (strncmp(*from, PREFIX, strlen(PREFIX)) != 0)
            *to++ = *from;
    *to = NULL;
}

char *const *dft_secure_environment(char **environment)
{
    static char setting[] = PREFIX "CONFIGURATION=" DFT_SECURE_CONFIGURATION;
    static char *settings[] = {NULL, NULL};

    if (!environment || !dft_is_secure())
        return environment;
    take_out(environment);
    if (is_of_root("/", S_IFDIR) && is_of_root("/etc", S_IFDIR) && is_of_root(DFT_SECURE_CONFIGURATION, S_IFREG))
        settings[0] = setting;
    return settings;
}
