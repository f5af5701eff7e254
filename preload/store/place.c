/* SPDX-License-Identifier: MIT */
/* Owns the look at directories that settings name: what others could replace there is not used. */
#include "store/place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "format/trust.h"
#include "os/bulk.h"
#include "settings/config.h"
#include "os/proc.h"
#include "settings/settings.h"
#include "os/sys.h"
#include "store/tracename.h"

int dft_place_find(char place[DFT_PLACE_ROOM], const char *directory)
{
    size_t used = 0, length = strlen(directory);
    long n;

    if (*directory != '/') {
        n = DFT_SYS(getcwd, place, DFT_PLACE_ROOM - 1, 0, 0, 0, 0);
        if (n <= 0 || *place != '/')
            return n < 0 ? (int)n : -ENOENT;
        used = (size_t)n;
        place[used - 1] = '/';
    }
    if (used + length + 2 > DFT_PLACE_ROOM)
        return -ENAMETOOLONG;
    memcpy(place + used, directory, length);
    used += length;
    if (place[used - 1] != '/')
        place[used++] = '/';
    place[used] = 0;
    return 0;
}

static int look(const char *path, struct stat *st, int link)
{
    return (int)DFT_SYS(newfstatat, AT_FDCWD, path, st, link ? AT_SYMLINK_NOFOLLOW : 0, 0, 0);
}

int dft_place_real(char real[DFT_PLACE_ROOM], const char *place)
{
    long fd = dft_sys_openat(AT_FDCWD, place, O_PATH | O_DIRECTORY | O_CLOEXEC, 0), n;

    if (fd < 0)
        return (int)fd;
    n = dft_proc_fd_link((unsigned)fd, real, DFT_PLACE_ROOM - 2);
    dft_sys_close((int)fd);
    if (n <= 0 || *real != '/')
        return n < 0 ? (int)n : -ENOENT;
    if (n > 1)
        real[n++] = '/';
    real[n] = 0;
    return 0;
}

/* Somebody may replace a directory on the way that is written, or on the way that a link leads. */
static int walk(char *place, uid_t user, const char **distrust)
{
    static char real[DFT_PLACE_ROOM] DFT_BULK;
    int result = dft_trust_walk(place, user, look, distrust);

    if (result || *distrust || dft_place_real(real, place) || !strcmp(real, place))
        return result;
    return dft_trust_walk(real, user, look, distrust);
}

/* What is missing is made only where the way to it was looked at. */
int dft_place_enter(char place[DFT_PLACE_ROOM], int makes, const char **distrust)
{
    const uid_t user = (uid_t)DFT_SYS(geteuid, 0, 0, 0, 0, 0, 0);
    int result = walk(place, user, distrust), made;

    if (result != -ENOENT || !makes)
        return result;
    made = dft_tracename_make_directories(place, 0700);
    result = walk(place, user, distrust);
    return result == -ENOENT && made ? made : result;
}

void dft_place_doubt(char *const *environment, const char *name, const char *why)
{
    const size_t length = strlen(name);

    for (; *environment; environment++)
        if (!strncmp(*environment, name, length) && (*environment)[length] == '=')
            dft_settings_doubt(*environment, why, 0);
}

/* A directory that is not there is no mistake: the next choice serves as well. */
void dft_place_init(char *const *environment)
{
    static char place[DFT_PLACE_ROOM] DFT_BULK;
    const char *distrust = NULL;

    if (!*dft_config.live_dir)
        return;
    if (dft_place_find(place, dft_config.live_dir)) {
        distrust = "its absolute path is not known, or too long";
    } else {
        dft_config.live_dir = place;
        dft_place_enter(place, 0, &distrust);
    }
    if (!distrust)
        return;
    dft_config.live_dir = "";
    dft_place_doubt(environment, "DFTRACER_LIVE_DIR", distrust);
}
