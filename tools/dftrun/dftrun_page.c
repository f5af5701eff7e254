/* SPDX-License-Identifier: MIT */
/* The page that follows a run: dftmerge prints it, for people, as JSON and as HTML. */
#include "dftrun/dftrun_page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/whole_file.h"
#include "dftrun/dftrun_launch.h"
#include "dftrun/dftrun_reason.h"

#define ARGUMENTS 16

/* Did the run leave a file with something in it? Of a job, any trace may be. */
static int wrote_something(const struct dft_run *run, int is_job)
{
    const char *name = is_job ? "" : strrchr(run->prefix, '/') + 1;
    struct dirent *entry;
    struct stat st;
    int found = 0;
    DIR *dir = opendir(run->place);

    while (!found && dir && (entry = readdir(dir)))
        found = strncmp(entry->d_name, name, strlen(name)) == 0 && strstr(entry->d_name, ".dft") &&
                entry->d_name[0] != '.' && fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && st.st_size > 0;
    if (dir)
        closedir(dir);
    return found;
}

int dft_dftmerge_glob(const char *prefix, char *glob, size_t capacity)
{
    const char behind[] = "-*";
    size_t length = strlen(prefix);

    if (2 * length + sizeof behind > capacity)
        return -ENAMETOOLONG;
    strcpy(glob + dft_glob_escape(glob, prefix, length), behind);
    return 0;
}

/* --- dftmerge --------------------------------------------------------------------------------- */

int dft_dftmerge_run(const struct dft_run *run, const char *const *arguments, int out, int err)
{
    char path[PATH_MAX];
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        setenv("DFTRACER_ENABLE", "0", 1);
        if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
            _exit(DFTRUN_OWN);
        if (snprintf(path, sizeof path, "%s/dftmerge", run->home) < (int)sizeof path)
            execv(path, (char **)(uintptr_t)arguments);
        execvp("dftmerge", (char **)(uintptr_t)arguments);
        fprintf(stderr, "dftrun: dftmerge was not found; the traces are in %s\n", run->place);
        _exit(DFTRUN_OWN);
    }
    if (pid < 0)
        return -errno;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : DFTRUN_OWN;
}

/* Appends the user's options. */
static void add_shape(const struct dft_run *run, const char **arguments, int n)
{
    if (run->by) {
        arguments[n++] = "--by";
        arguments[n++] = run->by;
    }
    if (run->top) {
        arguments[n++] = "--top";
        arguments[n++] = run->top;
    }
    arguments[n] = NULL;
}

int dft_page_check(const struct dft_run *run, int loud)
{
    const char *arguments[ARGUMENTS] = {"dftmerge", "summary", "/dev/null"};
    int null, code = 0;

    if (!run->by && !run->top)
        return 0;
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    add_shape(run, arguments, 3);
    if (null >= 0 && dft_dftmerge_run(run, arguments, null, null) == DFTRUN_USAGE)
        code = DFTRUN_USAGE;
    if (code && loud)
        dft_dftmerge_run(run, arguments, null, STDERR_FILENO);
    if (null >= 0)
        close(null);
    return code;
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* dftmerge fails also where it has printed everything of a trace that is damaged. */
static int is_complete(int fd)
{
    char end[2];
    off_t size = lseek(fd, 0, SEEK_END);

    return size > 2 && pread(fd, end, 2, size - 2) == 2 && end[0] == '}' && end[1] == '\n';
}

/* Can the file be made? Returns 0 or -errno. */
static int try_file(const char *path)
{
    struct dft_whole_file file;
    struct stat st;
    int error;

    if (!path || (!stat(path, &st) && !S_ISREG(st.st_mode)))
        return 0;
    error = dft_whole_file_open(&file, path, 1);
    if (!error)
        dft_whole_file_close(&file, -ECANCELED);
    return error;
}

int dft_page_try_files(const struct dft_run *run, const char **which)
{
    int error = try_file(run->json);

    *which = run->json;
    if (error)
        return error;
    *which = run->report;
    return try_file(run->report);
}

static void write_json(const struct dft_run *run, const char *const *what)
{
    const char *arguments[ARGUMENTS] = {"dftmerge", "summary", "--all", "--json", "--run", what[0], what[1]};
    struct dft_whole_file file;
    int code = 0, error = dft_whole_file_open(&file, run->json, 1);

    if (!error) {
        code = dft_dftmerge_run(run, arguments, file.fd, STDERR_FILENO);
        if (code == 1 && is_complete(file.fd))
            code = 0;
        error = dft_whole_file_close(&file, code == 0 ? 0 : code < 0 ? code : -EIO);
    }
    if (code > 0)
        fprintf(stderr, "dftrun: %s was not written: dftmerge failed, see above\n", run->json);
    else if (error)
        fprintf(stderr, "dftrun: %s was not written: %s; later: dftmerge summary --all --json %s\n", run->json,
                strerror(-error), run->place);
}

/* --- HTML ------------------------------------------------------------------------------------- */

/* Is there a file now that was not there before? dftmerge puts a whole one in the place of another. */
static int is_new(const char *path, const struct stat *before)
{
    struct stat st;

    return !stat(path, &st) && S_ISREG(st.st_mode) && (st.st_dev != before->st_dev || st.st_ino != before->st_ino);
}

/* With exit code 1 dftmerge has written a page of what it could read, or none. */
static int write_report(const struct dft_run *run, const char *const *what)
{
    const char *arguments[ARGUMENTS] = {"dftmerge", "report", "-o", run->report, "--run", what[0], what[1]};
    /* the path may be /dev/stdout */
    const int out = fcntl(STDOUT_FILENO, F_GETFD) < 0 ? STDERR_FILENO : STDOUT_FILENO;
    struct stat before = {0};
    int code;

    if (stat(run->report, &before))
        before.st_ino = 0;
    code = dft_dftmerge_run(run, arguments, out, STDERR_FILENO);
    if (code == 0 || (code == 1 && is_new(run->report, &before)))
        return 0;
    fprintf(stderr, "dftrun: %s was not written%s%s; later: dftmerge report -o FILE %s\n", run->report,
            code < 0 ? ": " : "", code < 0 ? strerror(-code) : "", run->place);
    return -EIO;
}

static void say_where(const struct dft_run *run, int is_job, int has_report)
{
    fprintf(stderr,
            is_job ? "Traces of all ranks: %s (slow ranks: dftmerge ranks)\n" : "Traces: %s (more: dftmerge --help)\n",
            run->place);
    if (has_report)
        fprintf(stderr, "Report: %s\n", run->report);
    else
        fprintf(stderr, "To look at: dftmerge report -o report.html %s\n", run->place);
}

/* --- the page --------------------------------------------------------------------------------- */

/* Prints the runs and the traces that the last two arguments name. */
static void print_all(const struct dft_run *run, const char *name, const char *traces, int is_job)
{
    const char *arguments[ARGUMENTS] = {"dftmerge", "summary", "--run", name, traces};
    int has_report = 0;

    if (run->json)
        write_json(run, arguments + 3);
    if (run->report)
        has_report = !write_report(run, arguments + 3);
    if (run->no_page)
        return;
    add_shape(run, arguments, 5);
    dft_dftmerge_run(run, arguments, STDERR_FILENO, STDERR_FILENO);
    dft_reason_note(run);
    say_where(run, is_job, has_report);
}

void dft_page_print(const struct dft_run *run, const struct dft_outcome *outcome)
{
    const int is_job = run->launch.rank >= 0 && *run->launch.id;
    const char *id = dft_run_variable("DFTRACER_RUN_ID");
    char glob[2 * PATH_MAX], *name;

    if (!wrote_something(run, is_job)) {
        dft_reason_print(run, outcome);
        return;
    }
    if (run->no_page)
        dft_reason_note(run);
    if (run->no_page && !run->json && !run->report)
        return;
    if (dft_dftmerge_glob(run->prefix, glob, sizeof glob) < 0)
        return;
    name = is_job ? dft_glob_of_name(id ? id : run->launch.id) : NULL;
    if (name)
        print_all(run, name, run->place, is_job);
    else if (!is_job)
        print_all(run, "all", glob, is_job);
    free(name);
}

void dft_page_point(const struct dft_run *run)
{
    if (run->no_page && !run->json && !run->report)
        return;
    fprintf(stderr,
            "job       rank 0 of this job has ended: %s\n"
            "page      none yet, because the rank that ends last is not known: %s\n"
            "json      %s\n"
            "traces    %s\n"
            "whole job dftmerge %s\n"
            "ranks     dftmerge ranks %s\n",
            run->command[0], run->ranks.why,
            run->json ? "none yet: dftmerge summary --all --json DIR" : "not asked for", run->place, run->place,
            run->place);
    if (run->report)
        fprintf(stderr, "report    none yet: dftmerge report -o %s %s\n", run->report, run->place);
}
