/* SPDX-License-Identifier: MIT */
/* Owns the look at directories that settings name: what others could replace there is not used. */
#include "store/place.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "format/trust.h"
#include "os/bulk.h"
#include "os/config.h"
#include "os/settings.h"
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

/* What is missing is made only where the way to it was looked at. */
int dft_place_enter(char place[DFT_PLACE_ROOM], int makes, const char **distrust)
{
    const uid_t user = (uid_t)DFT_SYS(geteuid, 0, 0, 0, 0, 0, 0);
    int result = dft_trust_walk(place, user, look, distrust), made;

    if (result != -ENOENT || !makes)
        return result;
    made = dft_tracename_make_directories(place, 0700);
    result = dft_trust_walk(place, user, look, distrust);
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

    if (!*dft_config.live_dir || dft_place_find(place, dft_config.live_dir))
        return;
    dft_config.live_dir = place;
    if (dft_place_enter(place, 0, &distrust) || !distrust)
        return;
    dft_config.live_dir = "";
    dft_place_doubt(environment, "DFTRACER_LIVE_DIR", distrust);
}
