/* SPDX-License-Identifier: MIT */
/* Owns the stage: is its directory fit, and what is reported of a trace that stays in it. */
#include "store/first.h"
#include "store/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/bulk.h"
#include "settings/config.h"
#include "settings/message.h"
#include "os/line.h"
#include "os/sys.h"
#include "store/livefile.h"
#include "store/place.h"
#include "store/tracefile.h"
#include "store/tracename.h"

static char stage[DFT_PLACE_ROOM] DFT_BULK; /* absolute, with a slash at its end */

static int may_write(void)
{
    return (int)DFT_SYS(faccessat, AT_FDCWD, stage, W_OK | X_OK, 0, 0, 0);
}

/* Is the directory there, and ours to write to? Makes it. Returns 0 or -errno. */
static int make_ready(const char **distrust)
{
    int result = dft_place_find(stage, dft_config.stage_dir);

    if (!result)
        result = dft_place_enter(stage, 1, distrust);
    return result || *distrust ? result : may_write();
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

static void doubt(char *const *environment, const char *reason)
{
    static char why[192];
    static const char tail[] = "; traces are written to their place at once";
    const size_t length = strnlen(reason, sizeof why - sizeof tail);

    memcpy(why, reason, length);
    memcpy(why + length, tail, sizeof tail);
    dft_place_doubt(environment, "DFTRACER_STAGE_DIR", why);
}

void dft_stage_init(char *const *environment)
{
    static char text[DFT_ERROR_ROOM];
    const char *distrust = NULL;
    int result;

    if (!*dft_config.stage_dir)
        return;
    result = make_ready(&distrust);
    if (result || distrust)
        doubt(environment, distrust ? distrust : dft_line_error(-result, text));
    else if (is_target())
        dft_place_doubt(environment, "DFTRACER_STAGE_DIR",
                        "traces belong there anyway; name a directory of the node, as /dev/shm/traces");
    else
        dft_tracefile_stage(stage);
}

/* The path stands last, because a long path is cut. */
static void tell(const char *reason)
{
    static char directory[DFT_PLACE_ROOM] DFT_BULK;
    const char *target = dft_tracefile_target();
    size_t length = (size_t)(strrchr(target, '/') + 1 - target);

    if (!dft_first_tells_place(1))
        return;
    if (length >= sizeof directory)
        length = sizeof directory - 1;
    memcpy(directory, target, length);
    directory[length] = 0;
    dft_message(DFT_LOG_ERROR, "the trace stays in its stage: ", reason, "; later: dftmerge collect -o ", directory,
                " ", dft_tracefile_path(), NULL);
}

void dft_stage_end(void)
{
    char text[DFT_ERROR_ROOM];
    int result;

    if (!dft_tracefile_is_staged())
        return;
    if (dft_livefile_path[0]) {
        tell("its live file holds a part of it");
        return;
    }
    result = dft_tracefile_unstage();
    if (result < 0)
        tell(dft_line_error(-result, text));
}
