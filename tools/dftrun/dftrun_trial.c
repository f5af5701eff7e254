/* SPDX-License-Identifier: MIT */
/* Runs a small program under the library, to see whether the library gets into it and writes a
 * trace. The program is `cat`, which prints its own memory map. */
#include "dftrun/dftrun_trial.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dftrun/dftrun_environment.h"
#include "dftrun/dftrun_launch.h"

#define TEXT_MAX 262144
#define LIBC_MAX (8u << 20)

extern char **environ;

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st, (void)kind, (void)where;
    remove(path);
    return 0;
}

int dft_trial_begin(struct dft_trial *trial)
{
    const char *where = dft_run_variable("TMPDIR");
    char absolute[PATH_MAX];
    int n;

    if (!realpath(where ? where : "/tmp", absolute))
        return -errno;
    n = snprintf(trial->folder, sizeof trial->folder, "%s/dftrun-doctor-XXXXXX", absolute);
    if (n >= (int)sizeof trial->folder || !mkdtemp(trial->folder)) {
        *trial->folder = '\0';
        return n >= (int)sizeof trial->folder ? -ENAMETOOLONG : -errno;
    }
    snprintf(trial->prefix, sizeof trial->prefix, "%s/traces/run", trial->folder);
    return 0;
}

/* What the user set of ours goes, but for the variables of the program. Entries may be without '=', and
 * names of any length. */
static void forget_settings(void)
{
    char **to = environ;

    for (char **e = environ; *e; e++)
        if (strncmp(*e, "DFTRACER_", 9) != 0 && strncmp(*e, "LD_", 3) != 0)
            *to++ = *e;
    *to = NULL;
}

/* The settings are taken as they are, but tracing is on: dftrun switches it on, too. */
static int set_environment(const struct dft_trial *trial, const struct dft_run *run, int with_settings)
{
    struct dft_run own = *run;

    if (!with_settings)
        forget_settings();
    snprintf(own.prefix, sizeof own.prefix, "%s", trial->prefix);
    *own.program.sanitizers = '\0';
    setenv("DFTRACER_LOG_LEVEL", "INFO", !with_settings);
    setenv("DFTRACER_RANK", "0", 0); /* rank 0 speaks */
    return dft_run_environment(&own);
}

static int redirect(const struct dft_trial *trial, const char *name, int to)
{
    char path[1024 + 64];
    int fd;

    snprintf(path, sizeof path, "%s/%s", trial->folder, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return fd < 0 || dup2(fd, to) < 0 ? -errno : 0;
}

static void run_in_child(const struct dft_trial *trial, const struct dft_run *run, int with_settings)
{
    char path[1024 + 64], *words[] = {"cat", "/proc/self/maps", path, NULL};
    FILE *file;

    snprintf(path, sizeof path, "%s/text", trial->folder);
    file = fopen(path, "w");
    if (!file || fputs("text\n", file) < 0 || fclose(file) || redirect(trial, "out", STDOUT_FILENO) ||
        redirect(trial, "err", STDERR_FILENO) || set_environment(trial, run, with_settings))
        _exit(DFTRUN_OWN);
    execvp(words[0], words);
    _exit(127);
}

static char *read_text(const struct dft_trial *trial, const char *name)
{
    char path[1024 + 64], *text = calloc(1, TEXT_MAX);
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", trial->folder, name);
    file = fopen(path, "re");
    if (file && text && !fread(text, 1, TEXT_MAX - 1, file))
        *text = '\0';
    if (file)
        fclose(file);
    return text;
}

static int has_trace(const struct dft_trial *trial)
{
    char path[1024 + 64];
    struct dirent *entry;
    struct stat st;
    int found = 0;
    DIR *dir;

    snprintf(path, sizeof path, "%s/traces", trial->folder);
    dir = opendir(path);
    while (!found && dir && (entry = readdir(dir)))
        found = strstr(entry->d_name, ".dft") && !fstatat(dirfd(dir), entry->d_name, &st, 0) && st.st_size > 0;
    if (dir)
        closedir(dir);
    return found;
}

int dft_trial_run(struct dft_trial *trial, const struct dft_run *run, int with_settings)
{
    int status = 0;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0)
        run_in_child(trial, run, with_settings);
    if (pid < 0)
        return -errno;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    free(trial->output);
    free(trial->messages);
    trial->output = read_text(trial, "out");
    trial->messages = read_text(trial, "err");
    trial->traced = has_trace(trial);
    if (!trial->output || !trial->messages)
        return -ENOMEM;
    return WIFEXITED(status) && WEXITSTATUS(status) >= DFTRUN_OWN ? -ENOEXEC : 0;
}

/* The library says its version in a text that is printed when it is run. */
static void read_version(const char *path, char *version, size_t capacity)
{
    static const char before[] = "release version ";
    char *bytes = malloc(LIBC_MAX), *at;
    FILE *file = fopen(path, "re");
    size_t size = file && bytes ? fread(bytes, 1, LIBC_MAX - 1, file) : 0;

    if (size) {
        bytes[size] = '\0';
        at = memmem(bytes, size, before, strlen(before));
        if (at)
            snprintf(version, capacity, "%.*s", (int)strspn(at + strlen(before), "0123456789."), at + strlen(before));
    }
    if (*version && version[strlen(version) - 1] == '.')
        version[strlen(version) - 1] = '\0';
    if (file)
        fclose(file);
    free(bytes);
}

void dft_trial_libc(const struct dft_trial *trial, char *version, size_t capacity)
{
    const char *at = strstr(trial->output, "/libc.so.6\n"), *line;
    char path[PATH_MAX];

    *version = '\0';
    if (!at)
        at = strstr(trial->output, "/libc-2.");
    if (!at)
        return;
    for (line = at; line > trial->output && line[-1] != '\n'; line--)
        ;
    line = memchr(line, '/', (size_t)(at - line) + 1);
    snprintf(path, sizeof path, "%.*s", (int)strcspn(line, "\n"), line);
    read_version(path, version, capacity);
}

int dft_trial_is_without(const struct dft_trial *trial)
{
    return trial->output && strstr(trial->output, " r-xp ") && !strstr(trial->output, DFTRUN_LIBRARY);
}

void dft_trial_end(struct dft_trial *trial)
{
    if (*trial->folder)
        nftw(trial->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(trial->output);
    free(trial->messages);
    *trial = (struct dft_trial){0};
}
