/* SPDX-License-Identifier: MIT */
/* Decides whose settings count. */
#include "os/secure.h"

#include <linux/capability.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "os/sys.h"

#define PREFIX "DFTRACER_"

int dft_is_secure(void)
{
    return getauxval(AT_SECURE) != 0;
}

/* Real, effective and saved user, and one group alone. */
static int is_all(uint32_t owner)
{
    uint32_t users[3], groups[3];

    return !DFT_SYS(getresuid, &users[0], &users[1], &users[2], 0, 0, 0) &&
           !DFT_SYS(getresgid, &groups[0], &groups[1], &groups[2], 0, 0, 0) && users[0] == owner && users[1] == owner &&
           users[2] == owner && groups[1] == groups[0] && groups[2] == groups[0];
}

static int has_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

    return !DFT_SYS(capget, &header, data, 0, 0, 0, 0) && (data[0].permitted | data[1].permitted);
}

/* Only an exec gives rights to a process that has none. */
int dft_secure_exceeds(uint32_t owner)
{
    static int never; /* atomic */

    if (!owner || __atomic_load_n(&never, __ATOMIC_RELAXED))
        return 0;
    if (dft_is_secure() || !is_all(owner) || has_capabilities())
        return 1;
    __atomic_store_n(&never, 1, __ATOMIC_RELAXED);
    return 0;
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
