/* SPDX-License-Identifier: MIT */
/* The doctor looks at the library: is it there, does it get into a program here, and what else is
 * preloaded. */
#include "dftrun/dftrun_doctor_library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "dftrun/dftrun_launch.h"
#include "dftrun/dftrun_preload.h"
#include "dftrun/dftrun_reason.h"
#include "dftrun/dftrun_trial.h"

static const char topic[] = "library";

/* --- the library ------------------------------------------------------------------------------ */

static int check_file(struct dft_checks *checks, const struct dft_run *run, int error)
{
    struct statvfs fs;

    if (error == -ENOENT) {
        dft_checks_add(checks, DFT_CHECK_WRONG, topic,
                       "Build dftrace, or install it: bin and lib must lie beside each other.", "%s is not around %s",
                       DFTRUN_LIBRARY, run->home);
        return 0;
    }
    if (error) {
        dft_checks_add(checks, DFT_CHECK_WRONG, topic, "Move dftrace to a path without spaces and colons.",
                       "the loader cannot preload '%s': its path contains a space or a colon", run->library);
        return 0;
    }
    if (access(run->library, R_OK)) {
        dft_checks_add(checks, DFT_CHECK_WRONG, topic,
                       "Let everybody read it: chmod a+r, and a+x for the folders above.", "%s cannot be read: %s",
                       run->library, strerror(errno));
        return 0;
    }
    if (!statvfs(run->library, &fs) && fs.f_flag & ST_NOEXEC) {
        dft_checks_add(checks, DFT_CHECK_WRONG, topic, "Copy dftrace to a file system that is mounted without noexec.",
                       "%s lies where nothing may be executed (noexec)", run->library);
        return 0;
    }
    return 1;
}

/* The first line of the messages, where there is one. */
static int first_line(const char *messages)
{
    return (int)strcspn(messages, "\n");
}

static void judge_trial(struct dft_checks *checks, const struct dft_run *run, const struct dft_trial *trial)
{
    const char *ours = strstr(trial->messages, DFTRUN_LIBRARY);

    if (trial->traced) {
        dft_checks_add(checks, DFT_CHECK_OK, topic, NULL, "%s, loaded into `cat`, which left a trace", run->library);
    } else if (dft_trial_is_without(trial)) {
        dft_checks_add(checks, DFT_CHECK_WRONG, topic,
                       "Take the library that was built for this system, or build dftrace here.",
                       "%s does not get into `cat`%s%.*s", run->library, ours ? ": " : "",
                       ours ? first_line(trial->messages) : 0, trial->messages);
    } else {
        dft_checks_add(checks, DFT_CHECK_WRONG, topic, "Set DFTRACER_LOG_LEVEL=DEBUG for a run, and read its messages.",
                       "%s was loaded into `cat`, which left no trace%s%.*s", run->library,
                       *trial->messages ? ": " : "", first_line(trial->messages), trial->messages);
    }
}

static void check_system(struct dft_checks *checks, const char *libc)
{
    struct utsname names;

    if (uname(&names))
        return;
    dft_checks_add(checks, DFT_CHECK_OK, "system", NULL, "%s%s%sLinux %s, %s", *libc ? "glibc " : "", libc,
                   *libc ? ", " : "", names.release, names.machine);
}

/* *libc: the version of the C library. */
static void try_library(struct dft_checks *checks, const struct dft_run *run, char libc[16])
{
    struct dft_trial trial = {0};
    struct dft_program program;
    int error;

    dft_program_inspect(&program, "cat");
    if (program.untraceable || !*program.path) {
        dft_checks_add(checks, DFT_CHECK_NOTE, topic, "Try it with a program of yours: dftrun --doctor -- COMMAND",
                       "%s; `cat` cannot show whether it works: %s", run->library,
                       program.untraceable ? program.untraceable : "it is not there");
        return;
    }
    error = dft_trial_begin(&trial);
    if (!error)
        error = dft_trial_run(&trial, run, 0);
    if (error)
        dft_checks_add(checks, DFT_CHECK_NOTE, topic, "Set TMPDIR to a folder that can be written.",
                       "%s; it could not be tried: %s", run->library, strerror(-error));
    if (!error) {
        judge_trial(checks, run, &trial);
        dft_trial_libc(&trial, libc, 16);
    }
    dft_trial_end(&trial);
}

int dft_doctor_library(struct dft_checks *checks, const struct dft_run *run, int error)
{
    size_t before = dft_checks_number(checks, DFT_CHECK_WRONG);
    char libc[16] = "";

    if (check_file(checks, run, error))
        try_library(checks, run, libc);
    check_system(checks, libc);
    if (access("/proc/self/exe", F_OK))
        dft_checks_add(
            checks, DFT_CHECK_NOTE, "system", "Mount it: mount -t proc proc /proc",
            "/proc is not mounted: traces have no command lines, and relative paths of descriptors may be missing");
    return dft_checks_number(checks, DFT_CHECK_WRONG) == before;
}

/* --- what else is preloaded ------------------------------------------------------------------- */

static const struct {
    const char *name, *found, *advice;
} others[] = {
    {"libdarshan", "Darshan counts the same calls", "To measure without Darshan, take it out of LD_PRELOAD."},
    {"libdftracer", "DFTracer traces the same calls",
     "Take libdftracer out of LD_PRELOAD: dftrace is what replaces it."},
    {"libfakeroot", "fakeroot answers some calls itself", "Paths and results are those that the program sees."},
    {"libeatmydata", "eatmydata takes fsync away",
     "fsync costs nothing in this trace: take libeatmydata out to see it."},
    {"libfaketime", "libfaketime changes clocks",
     "Times in the trace are not changed by it, those of the program are."},
};

/* A name without '/' is searched for by the loader, which says what it does not find. */
static void check_other(struct dft_checks *checks, const char *entry)
{
    const char *found = NULL, *advice = NULL;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(dft_reason_base(entry), others[i].name)) {
            found = others[i].found;
            advice = others[i].advice;
        }
    if (strchr(entry, '/') && access(entry, R_OK))
        dft_checks_add(checks, DFT_CHECK_WRONG, "LD_PRELOAD",
                       "Correct the path, or take it out of LD_PRELOAD. The loader leaves out what it does not find.",
                       "%.400s: %s", entry, strerror(errno));
    else
        dft_checks_add(checks, advice ? DFT_CHECK_NOTE : DFT_CHECK_OK, "LD_PRELOAD", advice, "%.400s%s%s", entry,
                       found ? ": " : "", found ? found : "");
}

static void check_second(struct dft_checks *checks, const struct dft_run *run, const char *entry)
{
    if (dft_preload_is_other_copy(run, entry) && !access(entry, R_OK))
        dft_checks_add(checks, DFT_CHECK_NOTE, "LD_PRELOAD", "Take it out of LD_PRELOAD: dftrun sets its own.",
                       "%s is another library than dftrun's %s, and is left out", entry, run->library);
}

static void check_loader(struct dft_checks *checks)
{
    static const struct {
        const char *name, *advice;
    } variables[] = {
        {"LD_AUDIT", "Auditing libraries see the library, too. Unset it when programs fail under dftrun alone."},
        {"LD_LIBRARY_PATH", NULL},
        {"LD_BIND_NOW", NULL},
        {"LD_DEBUG", NULL},
    };

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = dft_run_variable(variables[i].name);

        if (value)
            dft_checks_add(checks, variables[i].advice ? DFT_CHECK_NOTE : DFT_CHECK_OK, variables[i].name,
                           variables[i].advice, "%.500s", value);
    }
}

void dft_doctor_preloads(struct dft_checks *checks, const struct dft_run *run)
{
    const char *value = dft_run_variable("LD_PRELOAD");
    char *list = value ? strdup(value) : NULL, *next = NULL;

    for (char *entry = list ? strtok_r(list, " :", &next) : NULL; entry; entry = strtok_r(NULL, " :", &next)) {
        check_other(checks, entry);
        check_second(checks, run, entry);
    }
    free(list);
    check_loader(checks);
}
