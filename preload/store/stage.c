/* SPDX-License-Identifier: MIT */
/* Owns the stage: is its directory fit, and what is told of a trace that stays in it. */
#include "store/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/bulk.h"
#include "os/config.h"
#include "os/line.h"
#include "os/settings.h"
#include "os/sys.h"
#include "store/livefile.h"
#include "store/tracefile.h"
#include "store/tracename.h"

#define SETTING    "DFTRACER_STAGE_DIR="
#define STAGE_ROOM 3584u /* leaves room for a name in paths of 4,096 bytes */

static char stage[STAGE_ROOM] DFT_BULK; /* absolute, with a slash at its end */

/* Returns 0, or -ENAMETOOLONG. */
static int make_absolute(const char *directory)
{
    size_t used = 0, length = strlen(directory);
    long n;

    if (*directory != '/') {
        n = DFT_SYS(getcwd, stage, sizeof stage - 1, 0, 0, 0, 0);
        if (n <= 0 || *stage != '/')
            return n < 0 ? (int)n : -ENOENT;
        used = (size_t)n;
        stage[used - 1] = '/';
    }
    if (used + length + 2 > sizeof stage)
        return -ENAMETOOLONG;
    memcpy(stage + used, directory, length);
    used += length;
    if (stage[used - 1] != '/')
        stage[used++] = '/';
    stage[used] = 0;
    return 0;
}

static int may_write(void)
{
    return (int)DFT_SYS(faccessat, AT_FDCWD, stage, W_OK | X_OK, 0, 0, 0);
}

/* Is the directory there, and may we write to it? Makes it. Returns 0 or -errno. */
static int make_ready(void)
{
    int result = make_absolute(dft_config.stage_dir), made;
    struct stat st;

    if (!result)
        result = may_write();
    if (result == -ENOENT) {
        made = dft_tracename_make_directories(stage);
        result = may_write();
        if (result == -ENOENT && made)
            result = made;
    }
    if (!result)
        result = (int)DFT_SYS(newfstatat, AT_FDCWD, stage, &st, 0, 0, 0);
    return result || S_ISDIR(st.st_mode) ? result : -ENOTDIR;
}

/* Does the trace belong into this directory anyway? */
static int is_target(void)
{
    struct stat here, there;
    char *end, letter;
    long result;

    dft_tracename_make();
    end = dft_tracename_base + dft_tracename_directory;
    letter = *end;
    *end = 0;
    result = DFT_SYS(newfstatat, AT_FDCWD, dft_tracename_base, &there, 0, 0, 0);
    *end = letter;
    return !result && !DFT_SYS(newfstatat, AT_FDCWD, stage, &here, 0, 0, 0) && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

static void doubt(char *const *environment, const char *why)
{
    for (; *environment; environment++)
        if (!strncmp(*environment, SETTING, strlen(SETTING)))
            dft_settings_doubt(*environment, why, 0);
}

void dft_stage_init(char *const *environment)
{
    static char why[128], capacity[DFT_ERROR_ROOM];
    static const char tail[] = "; traces are written to their place at once";
    const char *reason;
    size_t length;
    int result;

    if (!*dft_config.stage_dir)
        return;
    result = make_ready();
    if (result) {
        reason = dft_line_error(-result, capacity);
        length = strnlen(reason, sizeof why - sizeof tail);
        memcpy(why, reason, length);
        memcpy(why + length, tail, sizeof tail);
        doubt(environment, why);
    } else if (is_target()) {
        doubt(environment, "traces belong there anyway; name a directory of the node, as /dev/shm/traces");
    } else {
        dft_tracefile_stage(stage);
    }
}

/* The path stands last, because a long path is cut. */
static void tell(const char *reason)
{
    static char directory[STAGE_ROOM] DFT_BULK;
    const char *target = dft_tracefile_target();
    size_t length = (size_t)(strrchr(target, '/') + 1 - target);

    if (length >= sizeof directory)
        length = sizeof directory - 1;
    memcpy(directory, target, length);
    directory[length] = 0;
    dft_message(DFT_LOG_ERROR, "the trace stays in its stage: ", reason, "; later: dftmerge collect -o ", directory,
                " ", dft_tracefile_path(), NULL);
}

void dft_stage_end(void)
{
    char capacity[DFT_ERROR_ROOM];
    int result;

    if (!dft_tracefile_is_staged())
        return;
    if (dft_livefile_path[0]) {
        tell("its live file holds a part of it");
        return;
    }
    result = dft_tracefile_unstage();
    if (result < 0)
        tell(dft_line_error(-result, capacity));
}
