/* SPDX-License-Identifier: MIT */
/* The stage of a run: where it lies, and what its processes have left in it. */
#include "dftrun/dftrun_stage.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dftrun/dftrun_folder.h"
#include "dftrun/dftrun_launch.h"
#include "dftrun/dftrun_own.h"
#include "dftrun/dftrun_page.h"

/* Relative to this directory, also for processes that begin elsewhere. */
int dft_stage_find(struct dft_run *run)
{
    const char *given = run->stage ? run->stage : dft_run_variable("DFTRACER_STAGE_DIR");

    return given && *given ? dft_folder_absolute(run->stage_place, given) : 0;
}

const char *dft_run_name(const struct dft_run *run)
{
    return strrchr(run->prefix, '/') + 1;
}

int dft_run_has(const struct dft_run *run, const char *name)
{
    size_t length = strlen(dft_run_name(run));

    return !strncmp(name, dft_run_name(run), length) && name[length] == '-';
}

static int has_any(const struct dft_run *run)
{
    DIR *dir = opendir(run->stage_place);
    struct dirent *entry;
    int found = 0;

    while (!found && dir && (entry = readdir(dir)))
        found = dft_run_has(run, entry->d_name);
    if (dir)
        closedir(dir);
    return found;
}

/* The library has said then that the stage has no effect. */
static int is_output(const struct dft_run *run)
{
    struct stat stage, output;

    return !stat(run->stage_place, &stage) && !stat(run->place, &output) && stage.st_dev == output.st_dev &&
           stage.st_ino == output.st_ino;
}

/* The library has also said why, where it does not trust the stage: others can put files there. */
void dft_stage_collect(const struct dft_run *run)
{
    char prefix[2 * PATH_MAX], glob[4 * PATH_MAX];
    const char *arguments[] = {"dftmerge", "collect", "--quiet", "-o", run->place, glob, NULL};

    if (!*run->stage_place || !dft_own_is_trusted(run->stage_place) || is_output(run) || !has_any(run))
        return;
    snprintf(prefix, sizeof prefix, "%s/%s", run->stage_place, dft_run_name(run));
    if (!dft_dftmerge_glob(prefix, glob, sizeof glob))
        dft_dftmerge_run(run, arguments, STDERR_FILENO, STDERR_FILENO);
}
