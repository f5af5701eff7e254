/* SPDX-License-Identifier: MIT */
/* Decides whether others can replace what lies in a directory. */
#include "format/trust.h"

#include <stddef.h>
#include <string.h>

#define NOBODY          65534u      /* users outside a namespace of users, root as well */
#define FIRST_NAMESPACE 0xeffffffdu /* the kernel's number of the namespace of users that the system began with */

static int is_root(uid_t uid, dft_trust_look *look)
{
    struct stat st;

    return !uid || (uid == NOBODY && !look("/proc/self/ns/user", &st, 0) && st.st_ino != FIRST_NAMESPACE);
}

static const char *find_wrong(const struct stat *st, uid_t user, dft_trust_look *look)
{
    if (st->st_uid != user && !is_root(st->st_uid, look))
        return "another user owns it, or a directory above";
    if (!S_ISLNK(st->st_mode) && st->st_mode & (S_IWGRP | S_IWOTH) && !(st->st_mode & S_ISVTX))
        return "others may write to it, or to a directory above, and no sticky bit keeps them from your files";
    return NULL;
}

/* One directory: the link to it, if it is one, and the directory itself. */
static int walk_one(const char *path, uid_t user, dft_trust_look *look, const char **wrong)
{
    struct stat st;
    int result = look(path, &st, 1);

    *wrong = result ? NULL : find_wrong(&st, user, look);
    if (result || *wrong || !S_ISLNK(st.st_mode))
        return result;
    result = look(path, &st, 0);
    *wrong = result ? NULL : find_wrong(&st, user, look);
    return result;
}

int dft_trust_walk(char *path, uid_t user, dft_trust_look *look, const char **wrong)
{
    int result = walk_one("/", user, look, wrong);

    for (char *slash = strchr(path + 1, '/'); !result && !*wrong && slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        result = walk_one(path, user, look, wrong);
        *slash = '/';
    }
    return result;
}
